// The bar at the top: search, history, how to group and colour, and the legend.

const kColourTitles = {opcode: 'opcode', type: 'element type', sharding: 'sharding', memory: 'memory space', computation: 'computation', none: 'nothing'};
const kShowWords = ['shape', 'layout', 'constants', 'control', 'metadata', 'backend-config', 'sharding', 'schedule', 'bytes'];

/** A choice with a label. */
function choice(label, options, onchange) {
  const select = make('select', {onchange: e => onchange(e.target.value)}, options.map(([value, text]) => make('option', {value}, text)));
  return {element: make('label', {class: 'choice'}, make('span', {}, label), select), select};
}

class Bar {
  constructor(page) {
    this.page = page;
    const button = (text, title, action) => make('button', {title, 'aria-label': title, onclick: action}, text);
    this.back = button('‹', 'Back (Alt+←)', () => page.go(-1));
    this.forward = button('›', 'Forward (Alt+→)', () => page.go(1));
    this.search = new Search(page);
    const groups = Object.entries(kGroupings).filter(([word]) => word !== 'diff' || page.hasDiff).map(([word, g]) => [word, g.title]);
    this.group = choice('group', groups, v => page.set('groupBy', v));
    const colours = Object.entries(kColourTitles).map(([word, title]) => [word, title]);
    if (page.hasDiff) colours.unshift(['diff', 'changes']);
    this.colour = choice('colour', colours, v => page.set('colorBy', v));
    const heats = (page.data.heat ?? []).map(h => [h.name, h.name]);
    this.heat = heats.length ? choice('heat', [['', 'off'], ...heats], v => page.set('heatBy', v)) : null;
    this.listButton = button('☰ Text', 'Text list (l)', () => page.setListMode(!page.listMode));
    this.element = make('header', {'aria-label': 'Tools'},
      make('h1', {title: page.right.module.name}, cut(page.data.title || page.right.module.name || 'HLO', 40)),
      this.back, this.forward, this.search.element, this.viewButtons(), this.group.element, this.colour.element, this.heat?.element ?? '',
      this.showMenu(), button('Fit', 'Fit the drawing (f)', () => page.shown.forEach(p => p.fit(true))), this.listButton,
      button('SVG', 'Save the drawing as SVG', () => page.saveSvg()),
      button('◐', 'Light or dark (t)', () => page.setDark(!page.dark)), button('?', 'Keys (?)', () => page.help.showModal()));
    this.legend = make('details', {class: 'legend', open: innerWidth > 1200 && page.shown.length === 1}, make('summary', {}, 'Legend'), make('div', {}));
  }

  /** How a comparison is shown. */
  viewButtons() {
    const {page} = this;
    if (!page.merged) return '';
    const way = (text, title, view) => make('button', {title, 'aria-label': title, 'data-view': view, onclick: () => page.setView(view)}, text);
    this.views = [way('Merged', 'Both modules as one drawing (m)', 'merged'), way('Side by side', 'Both modules side by side (m)', 'sides')];
    this.link = make('button', {title: 'The panes move together (k)', onclick: () => page.setLinked(!page.linked)}, 'Linked');
    return make('span', {class: 'switch', role: 'group', 'aria-label': 'Comparison'}, this.views, this.link);
  }

  showMenu() {
    const {page} = this;
    const box = word => make('label', {}, make('input', {type: 'checkbox', checked: page.settings.show.has(word), onchange: e => page.setShown(word, e.target.checked)}), ' ' + word);
    const menu = make('details', {class: 'menu'}, make('summary', {role: 'button'}, 'Show'), make('div', {}, kShowWords.map(box)));
    document.addEventListener('pointerdown', e => { if (!menu.contains(e.target)) menu.open = false; });
    return menu;
  }

  update() {
    const {page} = this;
    this.back.disabled = page.stateAt <= 0;
    this.forward.disabled = page.stateAt >= page.states.length - 1;
    this.group.select.value = page.settings.groupBy;
    this.colour.select.value = page.settings.colorBy;
    if (this.heat) this.heat.select.value = page.settings.heatBy;
    this.listButton.setAttribute('aria-pressed', String(Boolean(page.listMode)));
    for (const button of this.views ?? []) button.setAttribute('aria-pressed', String(button.dataset.view === page.view));
    if (this.link) {
      this.link.hidden = page.view === 'merged';
      this.link.setAttribute('aria-pressed', String(page.linked));
    }
    const stamp = page.settings.colorBy + '|' + page.settings.heatBy + '|' + page.active.side;
    if (this.legendFor === stamp) return;
    this.legendFor = stamp;
    const rows = page.colours(page.active).legend(page.active.module);
    this.legend.lastChild.replaceChildren(...rows.map(({colours: [fill, border], text}) =>
      make('p', {}, make('i', {class: 'swatch', style: `background:${fill};border-color:${border}`}), text)),
      page.active === page.merged ? make('p', {class: 'quiet'}, 'lines: green only new, dashed red only old') : '',
      make('p', {class: 'quiet'}, 'dotted stubs: many edges, drawn when selected'));
  }
}

/** The search field with its list of results. */
class Search {
  constructor(page) {
    this.page = page;
    this.input = make('input', {type: 'search', placeholder: 'Search  op:dot shape:bf16 /regex/', role: 'combobox', 'aria-expanded': 'false', spellcheck: 'false',
      'aria-controls': 'results', 'aria-label': 'Search by name, opcode, shape, op_name, source', autocomplete: 'off'});
    this.list = make('ul', {id: 'results', role: 'listbox', 'aria-label': 'Results', hidden: true});
    this.element = make('div', {class: 'search'}, this.input, this.list);
    this.found = [];
    this.at = -1;
    this.input.addEventListener('input', () => this.run());
    this.input.addEventListener('focus', () => { if (this.input.value) this.run(); });
    this.input.addEventListener('keydown', e => this.key(e));
    this.element.addEventListener('focusout', e => { if (!this.element.contains(e.relatedTarget)) this.close(); });
  }

  run() {
    const text = this.input.value;
    const {page} = this;
    const begin = now();
    this.found = [];
    let count = 0;
    for (const pane of page.shown) {
      const result = searchModule(pane.module, text);
      count += result.count;
      this.found.push(...result.found.map(inst => ({pane, inst})));
    }
    this.ms = now() - begin;
    this.count = count;
    this.at = this.found.length ? 0 : -1;
    if (page.listMode) page.lists.forEach(l => l.filter(text));
    this.render(text);
    return count;
  }

  render(text) {
    const {page} = this;
    this.list.hidden = !text.trim();
    this.input.setAttribute('aria-expanded', String(!this.list.hidden));
    const rows = this.found.slice(0, 100).map(({pane, inst}, n) => make('li', {
      id: 'result-' + n, role: 'option', 'aria-selected': String(n === this.at), onmousedown: e => { e.preventDefault(); this.choose(n); }},
      make('i', {class: 'swatch', style: `background:${page.colours(pane).of(inst)[0]}`}),
      page.shown.length > 1 ? make('b', {}, kSideTitles[pane.side] + ' ') : '', make('b', {}, '%' + inst.name),
      make('span', {class: 'quiet'}, ` ${inst.opcode} ${shapeLabel(inst.shape, false)}` + (inst.computation.isEntry ? '' : ` in %${inst.computation.name}`)),
      make('small', {class: 'quiet'}, cut(inst.opName || inst.source, 90))));
    const total = make('li', {class: 'total', role: 'presentation'}, this.count === 0 ? 'nothing found' : `${this.count} found` + (this.count > rows.length ? `, the first ${rows.length} shown` : ''));
    this.list.replaceChildren(total, ...rows);
    this.mark();
    if (text.trim()) page.announce(this.count === 0 ? 'nothing found' : `${this.count} found`);
  }

  mark() {
    this.list.querySelectorAll('[role=option]').forEach((row, n) => {
      row.setAttribute('aria-selected', String(n === this.at));
      if (n === this.at) row.scrollIntoView({block: 'nearest'});
    });
    if (this.at >= 0) this.input.setAttribute('aria-activedescendant', 'result-' + this.at);
    else this.input.removeAttribute('aria-activedescendant');
  }

  choose(n) {
    const hit = this.found[n];
    if (!hit) return;
    this.close();
    this.page.open(hit.pane, hit.inst);
    if (!this.page.listMode) hit.pane.canvas.focus();
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
  }

  key(event) {
    const last = Math.min(100, this.found.length) - 1;
    if (event.key === 'ArrowDown') this.at = Math.min(last, this.at + 1);
    else if (event.key === 'ArrowUp') this.at = Math.max(0, this.at - 1);
    else if (event.key === 'Enter') this.choose(Math.max(0, this.at));
    else if (event.key === 'Escape') { this.close(); this.page.active.canvas.focus(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.mark();
  }
}
