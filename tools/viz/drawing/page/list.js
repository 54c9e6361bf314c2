// The text of a module as a list, of which only the rows in sight exist.

const kRowHeight = 20;

class ListView {
  constructor(page, pane) {
    this.page = page;
    this.pane = pane;
    this.at = 0;
    this.space = make('div', {class: 'space'});
    this.element = make('div', {class: 'list', tabindex: '0', role: 'listbox', 'aria-label': `Instructions of ${pane.module.name}`, hidden: true}, this.space);
    this.element.addEventListener('scroll', () => this.render());
    this.element.addEventListener('keydown', e => this.key(e));
    this.element.addEventListener('click', e => {
      const row = e.target.closest('[data-n]');
      if (row) this.move(Number(row.dataset.n));
    });
    this.element.addEventListener('dblclick', () => this.leave());
    this.filter('');
  }

  /** Rows are computations (their first lines) and instructions; a text keeps the instructions that fit. */
  filter(text) {
    const test = text.trim() ? searchTest(text) : null;
    this.rows = [];
    const {module} = this.pane;
    for (const c of [...module.computations].sort((a, b) => Number(b.isEntry) - Number(a.isEntry))) {
      const inside = test ? c.instructions.filter(test) : c.instructions;
      if (inside.length) this.rows.push(c, ...inside);
    }
    this.at = Math.min(this.at, Math.max(0, this.rows.length - 1));
    // Browsers bound heights: beyond, rows get less than their height of the scroll bar.
    this.step = Math.min(kRowHeight, 8e6 / Math.max(1, this.rows.length));
    this.space.style.height = this.rows.length * this.step + 'px';
    this.render();
  }

  reveal(inst) {
    const n = this.rows.indexOf(inst);
    if (n >= 0) this.move(n, false);
  }

  render() {
    if (this.element.hidden) return;
    const {scrollTop, clientHeight} = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.step) - 5);
    const count = Math.ceil(clientHeight / kRowHeight) + 10;
    const rows = this.rows.slice(first, first + count).map((row, n) => this.row(row, first + n, first * this.step + n * kRowHeight));
    this.space.replaceChildren(...rows);
  }

  row(row, n, top) {
    const inst = row instanceof Instruction ? row : null;
    const entry = inst && this.page.hasDiff ? kDiffKinds[this.page.diffOf(inst)?.kind] : null;
    return make('div', {id: `row-${this.pane.side}-${n}`, role: 'option', 'data-n': n, class: inst ? 'row' : 'row head', 'aria-selected': String(n === this.at),
                        'aria-setsize': this.rows.length, 'aria-posinset': n + 1, style: `top:${top}px`},
      inst ? make('i', {class: 'swatch', style: `background:${this.page.colours(this.pane).of(inst)[0]}`}) : null,
      entry ? make('b', {class: 'mark', style: `background:${entry.colours[1]}`}, entry.mark) : null,
      inst ? cut((inst.isRoot ? 'ROOT ' : '') + inst.line, 600) : cut(row.head, 300));
  }

  /** Makes a row the current one and selects its instruction. */
  move(n, select = true) {
    this.at = Math.max(0, Math.min(this.rows.length - 1, n));
    const top = this.at * this.step, {scrollTop, clientHeight} = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + kRowHeight > scrollTop + clientHeight) this.element.scrollTop = top + kRowHeight - clientHeight;
    this.render();
    this.element.setAttribute('aria-activedescendant', `row-${this.pane.side}-${this.at}`);
    const row = this.rows[this.at];
    if (select && row instanceof Instruction) this.page.open(this.pane, row, {quiet: true});
  }

  key(event) {
    const page = Math.floor(this.element.clientHeight / kRowHeight) - 1;
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key in steps && !event.ctrlKey && !event.metaKey) this.move(steps[event.key] === Infinity ? this.rows.length : this.at + steps[event.key]);
    else if (event.key === 'Enter') this.leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Back to the graph, at the current instruction. */
  leave() {
    const row = this.rows[this.at];
    this.page.setListMode(false);
    if (row instanceof Computation) this.page.openComputation(this.pane, row);
    else if (row) this.page.open(this.pane, row);
  }
}
