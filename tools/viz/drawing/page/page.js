// The page: panes, what is selected, history, what the parts do to each other.

/** The fragment of an instruction or computation. */
const fragmentOf = key => '#' + key.split('::').map(encodeURIComponent).join('::');

class Page {
  constructor(data, rightText, leftText) {
    this.data = data;
    this.right = new Pane(this, new Module(rightText), 'right');
    this.left = leftText === null ? null : new Pane(this, new Module(leftText), 'left');
    this.settings = {groupBy: data.groupBy, colorBy: data.colorBy, heatBy: data.heatBy, show: new Set(data.show)};
    this.radius = 2;
    this.states = [];
    this.stateAt = -1;
    this.ends = new Set(data.ends);
    this.notes = new Map();
    for (const [key, text] of data.notes ?? []) {
      const inst = this.right.module.find(key);
      if (inst) this.notes.set(inst, [...this.notes.get(inst) ?? [], text]);
    }
    for (const [side, {labels, runs}] of Object.entries(data.layers ?? {}))
      readNumbers(this[side].module, runs, (inst, number) => { if (number) inst.layer = labels[number - 1]; });
    this.readDiff(data.diff);
    this.merged = this.left && data.regions ? this.merge(data) : null;
    this.panes = [this.left, this.right, this.merged].filter(Boolean);
    this.view = this.merged ? 'merged' : 'sides';
    this.linked = true;
    this.active = this.merged ?? this.right;
    this.dark = matchMedia('(prefers-color-scheme: dark)').matches;
    this.colouring = new Map(this.panes.map(p => [p, new Colours({...data, heat: p === this.right ? data.heat : []}, this.settings, i => this.diffOf(i))]));
  }

  // --- comparison ---

  readDiff(entries) {
    this.diff = new Map();
    this.hasDiff = Boolean(entries);
    this.hasChanges = (entries ?? []).some(([kind]) => kind !== 'unchanged');
    this.diffOf = inst => this.diff.get(inst) ?? null;
    for (const [kind, leftKey, rightKey, changes, note] of entries ?? []) {
      const left = this.left?.module.find(leftKey) ?? null, right = this.right.module.find(rightKey);
      const entry = {kind, left, right, changes: changes ?? [], note: note ?? ''};
      if (left) this.diff.set(left, entry);
      if (right) this.diff.set(right, entry);
    }
  }

  /** A pane of both modules as one, of which the regions and repetitions are known. */
  merge({regions, repeats, pairs}) {
    [this.left, this.right].forEach((p, n) => readNumbers(p.module, regions[n], (inst, number) => { inst.region = number; }));
    for (const [side, key, count] of repeats) { const inst = this[side].module.find(key); if (inst) inst.repeats = count; }
    for (const inst of this.left.module.instructions) inst.region = this.counterpart(inst)?.region ?? inst.region;
    const module = new MergedModule(this.left.module, this.right.module, i => this.counterpart(i), pairs);
    for (const inst of module.instructions) { const entry = this.diff.get(inst.origin); if (entry) this.diff.set(inst, entry); }
    return new Pane(this, module, 'merged');
  }

  /** The panes in sight: both modules as one, or side by side. */
  get shown() { return this.view === 'merged' ? [this.merged] : this.left ? [this.left, this.right] : [this.right]; }
  viewOf(pane) { return pane === this.merged ? 'merged' : 'sides'; }

  /** The other way to show a comparison; what is selected stays selected. */
  setView(view) {
    if (!this.merged || view === this.view) return;
    const inst = this.active.selected?.instruction ?? null;
    this.view = view;
    this.applyView();
    const pane = this.shown[this.shown.length - 1];
    const target = !inst ? null : view === 'merged' ? this.merged.module.mergedOf.get(inst) : inst.origin;
    this.activate(target ? this.paneOf(target) : pane);
    if (target) this.open(this.paneOf(target), target, {quiet: true});
    else { this.follow(pane); this.showDetails(); this.remember(); }
    this.bar.update();
    this.announce(view === 'merged' ? 'both modules as one drawing' : 'both modules side by side');
  }
  applyView() {
    for (const p of this.panes) p.element.classList.toggle('gone', !this.shown.includes(p));
    for (const p of this.shown) { p.resize(); this.ensure(p); }
  }
  /** Draws a pane that was not needed so far. */
  ensure(pane) {
    if (pane.tree) return;
    const {computation} = this.data;
    pane.show(pane === this.merged ? pane.module.entry : pane.module.computationOf.get(computation) ?? pane.module.entry, null, this.settings);
    if (this.hasChanges) pane.lookAtChange();
    this.updateCrumbs(pane);
  }

  // --- cameras ---

  setLinked(on) {
    this.linked = on;
    if (on) this.follow(this.active);
    this.bar.update();
    this.announce(on ? 'the panes move together' : 'the panes move on their own');
  }
  otherPane(pane) { return pane === this.left ? this.right : pane === this.right ? this.left : null; }

  /** The other pane looks where a pane looks. */
  follow(pane) {
    const other = this.linked ? this.otherPane(pane) : null;
    const camera = other && other.tree && matchingCamera(pane.camera, this.places(pane, other), pane.selected);
    if (!camera) return;
    other.moving?.();
    other.camera = camera;
    other.repaint();
  }
  places(pane, other) {
    const mine = pane.scene.root, theirs = other.scene.root;
    if (pane.places?.mine !== mine || pane.places.theirs !== theirs) pane.places = {mine, theirs, list: matchingPlaces(this, pane, other)};
    return pane.places.list;
  }

  /** What an instruction corresponds to on the other side; pairs of one name that are unchanged go unsaid. */
  counterpart(inst) {
    if (!this.left || inst instanceof MergedInstruction) return null;
    const isRight = inst.computation.module === this.right.module;
    const entry = this.diff.get(inst);
    if (entry) return isRight ? entry.left : entry.right;
    return (isRight ? this.left : this.right).module.find(inst.key);
  }
  paneOf(inst) { return this.panes.find(p => p.module === inst.computation.module); }

  // --- looks ---

  get theme() { return this.dark ? kThemes.dark : kThemes.light; }
  colours(pane) { return this.colouring.get(pane); }

  repaint() { for (const p of this.shown) p.repaint(); }

  /** Changes a setting; those that move boxes begin the drawing anew. */
  set(name, value) {
    this.settings[name] = value;
    if (name === 'groupBy') this.regroup();
    for (const p of this.panes) p.mapStale = true;
    if (!this.active.selected) this.showDetails();
    this.bar.update();
    this.lists.forEach(l => l.render());
    this.repaint();
  }
  regroup() {
    for (const p of this.panes) if (!this.shown.includes(p)) p.tree = null;
    for (const p of this.shown) {
      const {selected} = p;
      this.redraw(p);
      if (selected?.instruction) this.open(p, selected.instruction, {quiet: true, silent: true});
    }
  }
  setShown(word, on) {
    if (on) this.settings.show.add(word); else this.settings.show.delete(word);
    for (const p of this.panes) { if (p.tree) forgetLayouts(p.tree.root); p.mapStale = true; }
    this.repaint();
  }
  setDark(dark) {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    this.repaint();
  }

  // --- selection ---

  activate(pane) {
    if (this.active === pane) return;
    this.active = pane;
    for (const p of this.panes) p.element.classList.toggle('active', p === pane && this.shown.length > 1);
    this.bar.update();
  }

  /** Selects an item of a pane; `silent` leaves history alone, `quiet` the other things that follow. */
  select(pane, item, {silent = false} = {}) {
    if (this.pathFrom && item?.instruction) { this.endPath(pane, item.instruction); return; }
    this.activate(pane);
    pane.selected = item;
    pane.extra.clear();
    pane.highlight = null;
    this.showDetails();
    pane.tellFocus(item ? describe(item) : '', item);
    if (item) this.announce(describe(item));
    if (!silent) this.remember();
    this.link(pane, item);
    this.repaint();
  }

  /** Adds an instruction to what copying takes. */
  selectAlso(pane, item) {
    if (pane.selected?.instruction) pane.extra.add(pane.selected.instruction);
    pane.extra.add(item.instruction);
    pane.highlight = new Map([...pane.extra].map(i => [i, 'path']));
    this.announce(`${pane.extra.size} instructions selected`);
    pane.repaint();
  }

  /** The other pane follows. */
  link(pane, item) {
    const other = this.otherPane(pane);
    if (!other || !item) return;
    const inst = item.instruction ? this.counterpart(item.instruction) : null;
    if (!inst) { other.selected = null; return; }
    const target = this.reveal(other, inst);
    other.selected = target;
    const camera = this.linked && target && matchingCamera(pane.camera, this.places(pane, other).filter(p => p[4] === item), item);
    if (camera) other.moveTo(camera);
    else if (target) other.centre(target);
  }

  /** Opens what hides an instruction; the pane changes to its computation if need be. */
  reveal(pane, inst) {
    let {tree} = pane;
    const before = new Set(tree.expanded);
    let item = tree.reveal(inst);
    if (!item) {
      // From the entry, else (what is never drawn in place, as reducers) alone.
      for (const start of [callChain(inst.computation)[0]?.computation, inst.computation]) {
        if (!start) continue;
        pane.show(start, null, this.settings);
        ({tree} = pane);
        item = tree.reveal(inst);
        if (item) break;
      }
      forgetLayouts(tree.root);
      this.updateCrumbs(pane);
    } else if (tree.expanded.size !== before.size) {
      for (let at = item; at; at = at.parent) at.level = null;
    }
    pane.mapStale = true;
    return item;
  }

  /** Shows and selects an instruction. */
  open(pane, inst, {quiet = false, silent = false} = {}) {
    const item = this.reveal(pane, inst);
    if (!item) return;
    this.select(pane, item, {silent});
    pane.centre(item, !quiet);
    if (!quiet && this.listMode) this.lists[this.panes.indexOf(pane)].reveal(inst);
  }

  toggle(pane, item, open = !item.expanded) {
    if (!item.expandable) return;
    pane.keeping(item, () => pane.scene.toggle(item, open));
    if (pane.selected && !pane.tree.isVisible(pane.selected)) pane.selected = item;
    if (pane.selected) pane.tellFocus(describe(pane.selected), pane.selected);
    this.announce(`${item.title} ${open ? `opened, ${item.children.length} boxes` : 'closed'}`);
    this.showDetails();
  }

  /** Opens a box and what is in it, as far as the drawing stays readable. */
  openInside(pane, item) {
    pane.keeping(item, () => {
      const boxes = [item];
      for (let n = 0; n < boxes.length && boxes.length < kMostOpened; ++n) {
        if (boxes[n] !== pane.tree.root) pane.scene.toggle(boxes[n], true);
        boxes.push(...boxes[n].children.filter(c => c.expandable));
      }
      pane.scene.changed(item);
    });
    this.announce(`${item.title} opened`);
    this.showDetails();
  }
  closeAll(pane) {
    pane.tree.expanded = new Set(['']);
    forgetLayouts(pane.tree.root);
    pane.selected = pane.selected && pane.tree.visibleOf(pane.selected);
    pane.mapStale = true;
    pane.fit();
    this.announce('closed');
    this.showDetails();
  }

  // --- what is drawn ---

  redraw(pane) { pane.show(pane.tree.root.computation, pane.only, this.settings); this.updateCrumbs(pane); }
  openComputation(pane, computation) {
    pane.title = '';
    pane.show(computation, null, this.settings);
    this.afterShow(pane, `%${computation.name}, ${computation.instructions.length} instructions`);
  }
  showOnly(pane, instructions, title, centre = null) {
    const all = new Set(instructions);
    for (const inst of instructions) for (const o of inst.operands) if (isWrittenIntoUsers(o)) all.add(o);
    pane.title = title;
    pane.show(instructions[0].computation, new Set([...all].filter(i => !isWrittenIntoUsers(i) || i === centre)), this.settings);
    if (centre) { pane.selected = pane.tree.reveal(centre); if (pane.selected) pane.centre(pane.selected, false); }
    this.afterShow(pane, `${title}: ${instructions.length} instructions`);
  }
  afterShow(pane, text) {
    this.updateCrumbs(pane);
    this.showDetails();
    this.announce(text);
    this.remember();
  }
  showNeighbourhood(pane, inst) {
    this.showOnly(pane, [...neighbourhood(inst, this.radius)], `neighbourhood of %${inst.name} (${this.radius})`, inst);
  }
  showReached(pane, inst, kind) {
    const found = kind === 'operand' ? transitiveOperands(inst) : transitiveUsers(inst);
    pane.highlight = new Map([...found].map(i => [i, kind]));
    pane.highlight.set(inst, 'path');
    this.announce(`${found.size - 1} instructions ${kind === 'operand' ? 'are needed by' : 'depend on'} %${inst.name}`);
    this.repaint();
  }
  startPath(pane, inst) {
    this.pathFrom = inst;
    this.say(`Path from %${inst.name}: select the other end, Escape to leave`);
  }
  endPath(pane, to) {
    const from = this.pathFrom;
    this.pathFrom = null;
    this.say('');
    return this.showPath(pane, from, to);
  }
  /** Highlights what lies between two instructions; false if nothing does. */
  showPath(pane, from, to) {
    const between = from.computation === to.computation ? onPaths(from, to) : new Set();
    if (!between.size) { this.say(`No path between %${from.name} and %${to.name}`, 4000); return false; }
    const item = this.reveal(pane, to);
    pane.selected = item;
    pane.highlight = new Map([...between].map(i => [i, 'path']));
    const shortest = shortestPath(from, to);
    this.say(`${between.size} instructions on paths, the shortest has ${shortest.length}`, 8000,
             make('button', {onclick: () => { this.showOnly(pane, [...between], `paths %${from.name} – %${to.name}`, to); this.say(''); }}, 'Show alone'));
    if (item) pane.centre(item);
    this.showDetails();
    this.repaint();
    return true;
  }

  updateCrumbs(pane) {
    const {root} = pane.tree;
    const entry = pane.module.entry;
    const button = (text, computation) => make('button', {class: 'link', onclick: () => this.openComputation(pane, computation)}, text);
    const parts = this.left ? [make('b', {}, kSideTitles[pane.side])] : [];
    if (root.computation !== entry) parts.push(button('%' + entry.name, entry), '›');
    parts.push(pane.only ? button('%' + root.computation.name, root.computation) : make('span', {}, '%' + root.computation.name));
    if (pane.only) parts.push('›', make('span', {}, pane.title ?? 'selection'));
    pane.crumbs.replaceChildren(...parts);
  }

  // --- history ---

  get state() {
    const pane = this.active;
    return {pane, computation: pane.tree.root.computation, only: pane.only, title: pane.title,
            item: pane.selected, inst: pane.selected?.instruction ?? null, camera: pane.camera};
  }
  remember() {
    const {state} = this;
    const last = this.states[this.stateAt];
    if (last && ['pane', 'computation', 'only', 'inst', 'item'].every(k => last[k] === state[k])) return;
    this.states.splice(++this.stateAt, Infinity, state);
    const fragment = state.inst ? fragmentOf(state.inst.key) : fragmentOf(state.computation.name);
    // The browser's own buttons work too, where it lets local files have a history: it holds one entry per state.
    try {
      history[this.stateAt && !this.adopting ? 'pushState' : 'replaceState']({at: this.stateAt}, '', fragment);
    } catch {
      this.ownHistory = true;
    }
    this.bar.update();
  }
  go(step) {
    const at = this.stateAt + step;
    if (at < 0 || at >= this.states.length) return;
    if (this.ownHistory) this.restore(at); else history.go(step);
  }
  /** Opens a fragment that came with a history entry of its own. */
  adopt(hash) {
    this.adopting = true;
    this.openFragment(hash);
    this.adopting = false;
  }
  restore(at) {
    const state = this.states[at];
    if (!state) return;
    this.stateAt = at;
    const {pane} = state;
    if (!this.shown.includes(pane)) { this.view = this.viewOf(pane); this.applyView(); }
    if (pane.tree.root.computation !== state.computation || pane.only !== state.only) {
      pane.title = state.title;
      pane.show(state.computation, state.only, this.settings);
      this.updateCrumbs(pane);
    }
    this.activate(pane);
    const {item} = state;
    if (state.inst) this.open(pane, state.inst, {silent: true});
    else if (item && item.tree === pane.tree && pane.tree.isVisible(item)) { this.select(pane, item, {silent: true}); pane.centre(item); }
    else { pane.selected = null; pane.moveTo(state.camera); this.showDetails(); }
    this.bar.update();
    this.repaint();
  }

  /** Opens what a fragment names: `main::dot.12`, `%dot.12`, a computation. False if there is none. */
  openFragment(hash) {
    let text = hash.replace(/^#/, '');
    try { text = decodeURIComponent(text); } catch { /* not encoded: as it stands */ }
    if (!text) return false;
    const plain = text.replace(/^%/, '').replace('::%', '::');
    for (const pane of [...this.shown].reverse()) {
      const {module} = pane;
      const inst = module.find(plain) ?? module.find(plain + kOldKey) ?? module.instructions.find(i => i.name === plain);
      if (inst) { this.open(pane, inst, {quiet: true}); return true; }
      const computation = module.computationOf.get(plain);
      if (computation) { this.openComputation(pane, computation); return true; }
    }
    return false;
  }

  // --- messages ---

  announce(text) { this.live.textContent = text; }
  /** A line above the drawing; 0: until it is replaced. */
  say(text, ms = 0, ...more) {
    clearTimeout(this.saying);
    this.message.replaceChildren(text, ...more);
    this.message.hidden = !text;
    if (text) this.announce(text);
    if (ms) this.saying = setTimeout(() => this.say(''), ms);
  }

  showDetails() {
    const pane = this.active, item = pane.selected;
    const content = !item ? moduleDetails(this, pane) : item.kind === 'instruction' ? instructionDetails(this, pane, item) : groupDetails(this, pane, item);
    this.panel.replaceChildren(...content.filter(Boolean));
    this.panel.scrollTop = 0;
  }

  showTip(pane, item, event) {
    clearTimeout(this.tipTimer);
    if (!item || item !== this.tipItem) this.tip.hidden = true;
    this.tipItem = item;
    if (!item) return;
    this.tipTimer = setTimeout(() => {
      this.tip.textContent = tipText(this, item);
      this.tip.hidden = false;
      const {offsetWidth: w, offsetHeight: h} = this.tip;
      this.tip.style.left = Math.max(4, Math.min(innerWidth - w - 8, event.clientX + 14)) + 'px';
      this.tip.style.top = Math.max(4, event.clientY + 18 + h > innerHeight ? event.clientY - h - 10 : event.clientY + 18) + 'px';
    }, 320);
  }
  hideTip() { clearTimeout(this.tipTimer); this.tip.hidden = true; this.tipItem = null; }

  // --- list, copies, files ---

  setListMode(on) {
    this.listMode = on;
    this.panes.forEach((p, n) => { p.canvas.hidden = on; p.map.classList.toggle('gone', on); this.lists[n].element.hidden = !on; });
    this.bar.legend.hidden = on;
    const n = this.panes.indexOf(this.active);
    if (on) {
      this.lists.forEach(l => l.render());
      if (this.active.selected?.instruction) this.lists[n].reveal(this.active.selected.instruction);
      this.lists[n].element.focus();
    } else {
      this.active.canvas.focus();
      this.repaint();
    }
    this.bar.update();
  }

  /** HLO text of what is selected; null without a selection. */
  copyText(pane = this.active) {
    let chosen = pane.extra.size ? [...pane.extra] : pane.selected ? instructionsIn(pane.selected) : pane.only ? [...pane.only] : [];
    if (pane === this.merged) {
      // A module that runs holds only what is new, or only what was.
      const side = chosen.some(i => i.right) ? 'right' : 'left';
      chosen = chosen.map(i => i[side]).filter(Boolean);
    }
    return chosen.length ? extractText(chosen, this.ends) : null;
  }
  async copy(pane = this.active) {
    const text = this.copyText(pane);
    if (!text) { this.say('Nothing is selected', 3000); return; }
    const done = await writeClipboard(text);
    this.say(done ? `Copied: a module of ${text.split('\n').length} lines` : 'The browser did not allow copying', 4000);
  }
  svg(pane = this.active) { return sceneSvg(pane.scene, {...pane.look, selected: null}); }
  saveSvg() { saveFile(`${this.active.module.name || 'module'}.svg`, this.svg(), 'image/svg+xml'); }
}

/** Boxes that `openInside` opens at most. */
const kMostOpened = 120;

/** Layouts are made anew; what is open stays open. */
function forgetLayouts(item) {
  item.level = null;
  for (const kid of item.kids ?? []) forgetLayouts(kid);
}
