// Starts the page, and shows tests what it does (README.md).

function startPage() {
  const read = id => {
    const element = document.getElementById(id);
    return element ? JSON.parse(element.textContent) : null;
  };
  const begin = now();
  const fragment = location.hash;  // before history writes its own
  const page = new Page(read('page-data'), read('module-text'), read('left-text'));
  build(page);
  const {right} = page;
  const inst = key => right.module.find(key);
  page.applyView();
  const only = (page.data.only ?? []).map(inst).filter(Boolean);
  if (only.length) page.showOnly(right, only, 'selection', inst(page.data.selected));
  else page.remember();
  if (!page.openFragment(fragment) && inst(page.data.selected)) page.open(right, inst(page.data.selected), {quiet: true});
  page.showDetails();
  page.bar.update();
  addEventListener('popstate', e => { if (e.state && e.state.at !== page.stateAt) page.restore(e.state.at); });
  addEventListener('hashchange', () => {
    const inst0 = page.states[page.stateAt];
    if (fragmentOf(inst0?.inst?.key ?? inst0?.computation.name ?? '') !== location.hash) page.adopt(location.hash);
  });
  listenToKeys(page);
  for (const pane of page.shown) pane.paintNow();
  window.hloPage = testInterface(page, now() - begin);
  // The first search need not wait for what can be prepared.
  setTimeout(() => { for (const p of page.shown) p.module.instructions.forEach(lowerLine); }, 50);
}

/** Puts the parts together. */
function build(page) {
  page.live = make('div', {id: 'live', class: 'unseen', role: 'status', 'aria-live': 'polite'});
  page.tip = make('div', {class: 'tip', role: 'tooltip', hidden: true});
  page.message = make('div', {class: 'message', hidden: true});
  page.panel = make('aside', {class: 'panel', tabindex: '0', 'aria-label': 'Details'});
  page.help = makeHelp();
  page.bar = new Bar(page);
  page.lists = page.panes.map(p => new ListView(page, p));
  page.panes.forEach((p, n) => p.element.append(page.lists[n].element));
  const edge = panelEdge(page.panel);
  const stage = make('main', {}, ...page.panes.map(p => p.element), page.message, page.bar.legend);
  document.body.append(page.bar.element, make('div', {class: 'middle'}, stage, edge, page.panel), page.tip, page.live, page.help);
  page.setDark(page.dark);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', e => page.setDark(e.matches));
  for (const pane of page.panes) pane.resize();
}

/** What changes the width of the panel: dragged, or by arrows. */
function panelEdge(panel) {
  const edge = make('div', {class: 'edge', role: 'separator', tabindex: '0', 'aria-label': 'Width of the panel', 'aria-orientation': 'vertical',
                            'aria-valuemin': 180, 'aria-valuenow': 340});
  const resize = width => {
    panel.style.width = Math.max(180, width) + 'px';
    edge.setAttribute('aria-valuenow', Math.round(panel.offsetWidth));
  };
  edge.addEventListener('pointerdown', e => edge.setPointerCapture(e.pointerId));
  edge.addEventListener('pointermove', e => { if (e.buttons) resize(innerWidth - e.clientX); });
  edge.addEventListener('keydown', e => {
    const step = {ArrowLeft: 20, ArrowRight: -20}[e.key];
    if (!step || e.altKey) return;
    resize(panel.offsetWidth + step);
    e.preventDefault();
    e.stopPropagation();
  });
  return edge;
}

/** What tests may use; README.md describes it. */
function testInterface(page, openMs) {
  const paneOf = side => {
    const pane = page[side] ?? page.shown[page.shown.length - 1];
    page.ensure(pane);
    return pane;
  };
  const itemOf = (id, side) => {
    let found = null;
    paneOf(side).scene.walk(box => { if (box.item.key === id) found = box.item; });
    return found;
  };
  return {ready: true, openMs, page, ...testActions(page, paneOf, itemOf), ...testQuestions(page, paneOf, itemOf)};
}

const testActions = (page, paneOf, itemOf) => ({
  select(id, side) {
    const pane = paneOf(side);
    const inst = pane.module.find(id), item = itemOf(id, side);
    if (inst) page.open(pane, inst, {quiet: true});
    else if (item) page.select(pane, item);
    return Boolean(inst || item);
  },
  view: word => page.setView(word),
  link: on => page.setLinked(on),
  expand: (id, side) => toggleItem(page, paneOf(side), itemOf(id, side), true),
  collapse: (id, side) => toggleItem(page, paneOf(side), itemOf(id, side), false),
  search(text) {
    page.bar.search.input.value = text;
    const count = page.bar.search.run();
    return {count, ms: page.bar.search.ms, found: page.bar.search.found.map(f => f.inst.key)};
  },
  path(a, b) {
    const pane = page.shown[page.shown.length - 1];
    const from = pane.module.find(a), to = pane.module.find(b);
    return Boolean(from && to) && page.showPath(pane, from, to);
  },
  /** Paints `count` frames while moving; the times in ms. */
  measurePan(count = 60, side) {
    const pane = paneOf(side), times = [];
    for (let n = 0; n < count; ++n) { pane.camera.x += 10; const t = now(); pane.paintNow(); times.push(now() - t); }
    return times;
  },
});

function toggleItem(page, pane, item, open) {
  if (item) page.toggle(pane, item, open);
  return item !== null && item.expanded === open;
}

const testQuestions = (page, paneOf, itemOf) => ({
  nodes(side) {
    const list = [];
    paneOf(side).scene.walk((box, x, y) => list.push({id: box.item.key, x, y, w: box.w, h: box.h, label: box.label.title, kind: box.item.kind,
                                                      open: Boolean(box.level), parent: box.item.parent?.key ?? ''}));
    return list;
  },
  edges(side) {
    const list = [];
    const end = e => typeof e === 'string' ? e : e.key;
    const walk = level => {
      list.push(...level.edges.map(e => ({from: end(e.from), to: end(e.to), drawn: Boolean(e.route), control: e.control, side: e.side})));
      for (const box of level.boxes) if (box.level) walk(box.level);
    };
    walk(paneOf(side).scene.root);
    return list;
  },
  selected: side => paneOf(side).selected?.key ?? null,
  highlighted: side => [...paneOf(side).highlight?.keys() ?? []].map(i => i.key),
  copyText: side => page.copyText(paneOf(side)),
  svg: side => page.svg(paneOf(side)),
  screen(id, side) {
    const pane = paneOf(side), item = itemOf(id, side), box = item && pane.scene.boxOf(item);
    if (!box) return null;
    const r = pane.canvas.getBoundingClientRect(), {x, y, scale} = pane.camera;
    return {x: r.left + (box.x - x) * scale + pane.w / 2, y: r.top + (box.y - y) * scale + pane.h / 2, w: box.w * scale, h: box.h * scale};
  },
  camera: side => ({...paneOf(side).camera}),
  frames: side => paneOf(side).statistics(),
});

// Tests read the parts without a page.
if (typeof document !== 'undefined' && document.getElementById('module-text')) startPage();
