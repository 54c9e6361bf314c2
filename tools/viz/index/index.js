// Leads through compilations (modules), their steps, and what each step changed. What is shown is the pair of
// chosen module and step, which the fragment `#MODULE/STEP` names; everything else follows from it.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const MARKS = [['+', 'added', 4], ['-', 'removed', 3], ['~', 'changed', 2], ['>', 'moved', 1]];  // mark, word, place in counts
const DRAWN_AT_ONCE = 2000;  // rows; more modules are told by their number
let module = null, at = 0, shown = [], sorting = {column: null, down: false};
const hiddenMarks = new Set();

/** An element with attributes and children; texts never become markup. */
function make(tag, attributes = {}, ...children) {
  const svg = ['svg', 'path', 'line', 'rect', 'text', 'title'].includes(tag);
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  element.append(...children.filter(c => c !== null && c !== undefined));
  return element;
}

/** 1234567 as `1.23M`; whole numbers below 100 000 as they are. */
function amount(number) {
  if (number === undefined || number === null || number < 0) return '';
  if (number < 1e5 && Number.isInteger(number)) return String(number);
  const step = number < 1 ? 0 : Math.min(5, Math.floor(Math.log10(number) / 3));
  return Number((number / 1000 ** step).toPrecision(3)) + ['', 'k', 'M', 'G', 'T', 'P'][step];
}

const count = (step, place) => (step.counts ? step.counts[place] : 0);
const changes = step => MARKS.reduce((sum, [, , place]) => sum + count(step, place), 0) + (step.header || []).length;
const readable = m => m.steps.filter(s => s.instructions !== undefined);

/** What happened before this step's dump. */
function what(step) {
  if (step.stage === 'before') return 'before optimizations';
  if (step.stage === 'after') return 'after optimizations' + (step.target ? ' (' + step.target + ')' : '');
  return step.pass === 'pipeline-start' ? 'start of ' + step.pipeline : step.pass;
}

/** Fills in what follows from the steps before: totals of opcodes, the drawing that still holds. */
function complete(m) {
  const opcodes = {__proto__: null};
  let graph = null;
  m.steps.forEach((step, i) => {
    step.number = i;
    Object.assign(opcodes, step.opcodes);
    step.total = {__proto__: null, ...opcodes};
    if (step.graph) graph = step.graph;
    step.shows = step.instructions === undefined ? null : graph;
    // Computations that are the same count once in a comparison, so graphs can be equal and their sizes not.
    const before = m.steps[i - 1];
    step.resized = Boolean(before && step.instructions !== undefined && before.instructions !== undefined && step.instructions !== before.instructions);
    step.from = i === 0 ? null : m.steps[i - 1].shows;
  });
  const good = readable(m);
  m.first = good[0] || {};
  m.last = good[good.length - 1] || {};
}

const names = new Map();  // fragment: module
function nameAll() {
  for (const m of data) {
    complete(m);
    m.key = m.name + (m.occurrence ? '~' + m.occurrence : '');
    m.title = m.name + (m.occurrence ? ' (' + m.occurrence + ')' : '');
    names.set(m.key, m);
  }
}

// The table of modules.

const changedSteps = m => m.steps.filter(s => changes(s) > 0).length;
const COLUMNS = [  // heading, explanation, value to sort by, text
  ['module', 'name of the module', m => m.title, null],
  ['steps', 'dumps of the compilation, and how many of them show a change', m => m.steps.length, m => m.steps.length + (changedSteps(m) ? ' / ' + changedSteps(m) : '')],
  ['instrs', 'instructions, first and last dump', m => m.first.instructions ?? -1, m => span(m, 'instructions')],
  ['FLOPs', 'floating-point operations of the last dump', m => m.last.flops ?? -1, m => amount(m.last.flops)],
  ['bytes', 'bytes read and written by the instructions of the last dump', m => m.last.moved_bytes ?? -1, m => amount(m.last.moved_bytes)],
  ['text', 'bytes of the text of the last dump', m => m.last.bytes ?? -1, m => amount(m.last.bytes)],
];
function span(m, key) {
  const from = amount(m.first[key]), to = amount(m.last[key]);
  return from === to ? to : from + ' → ' + to;
}

function drawModuleHead() {
  const row = make('tr');
  COLUMNS.forEach(([heading, explanation], c) => row.append(make('th', {
    class: c ? null : 'text', scope: 'col',
    'aria-sort': sorting.column === c ? (sorting.down ? 'descending' : 'ascending') : null,
  }, make('button', {type: 'button', title: explanation, onclick: () => sortBy(c)}, heading + (sorting.column === c ? (sorting.down ? ' ▼' : ' ▲') : '')))));
  $('modules').tHead.replaceChildren(row);
}

/** By a column, the other way round, not at all; of numbers the largest come first. */
function sortBy(column) {
  const first = column > 0;
  if (sorting.column !== column) sorting = {column, down: first};
  else sorting = sorting.down === first ? {column, down: !first} : {column: null, down: false};
  drawModules();
  $('modules').tHead.rows[0].cells[column].firstChild.focus();
}

function drawModules() {
  drawModuleHead();
  const wanted = $('filter').value.toLowerCase();
  shown = data.filter(m => m.title.toLowerCase().includes(wanted));
  if (sorting.column !== null) {
    const value = COLUMNS[sorting.column][2], sign = sorting.down ? -1 : 1;
    shown = shown.slice().sort((a, b) => (value(a) < value(b) ? -sign : value(a) > value(b) ? sign : 0));
  }
  const rows = shown.slice(0, DRAWN_AT_ONCE).map(m => {
    m.row = make('tr', {class: m.steps.some(s => s.error) ? 'bad' : null, onclick: () => go(m, startOf(m))});
    COLUMNS.forEach(([, , , text], c) => m.row.append(c
      ? make('td', {}, text(m))
      : make('td', {class: 'text'}, make('a', {href: fragment(m, startOf(m))}, m.title))));
    return m.row;
  });
  if (shown.length > DRAWN_AT_ONCE) rows.push(make('tr', {}, make('td', {class: 'text', colspan: COLUMNS.length}, (shown.length - DRAWN_AT_ONCE) + ' more: filter them')));
  $('modules').tBodies[0].replaceChildren(...rows);
  $('total').textContent = (wanted ? shown.length + ' of ' : '') + data.length + (data.length === 1 ? ' module, ' : ' modules, ') +
    data.reduce((n, m) => n + m.steps.length, 0) + ' dumps';
  markModule();
}

const setCurrent = (row, on) => (on ? row.setAttribute('aria-current', 'true') : row.removeAttribute('aria-current'));
function markModule() {
  for (const m of shown) if (m.row) setCurrent(m.row, m === module);
  if (module && module.row) module.row.scrollIntoView({block: 'nearest'});
}

// Choosing.

const fragment = (m, step) => '#' + encodeURIComponent(m.key) + '/' + step;
/** The first step worth looking at: the first with changes. */
const startOf = m => Math.max(0, m.steps.findIndex(s => changes(s) > 0));

function go(m, step) {
  step = Math.max(0, Math.min(m.steps.length - 1, step));
  if (m === module && step === at) return;
  const replace = m === module;  // going through steps is not worth an entry of the history each
  history[replace ? 'replaceState' : 'pushState'](null, '', fragment(m, step));
  show(m, step);
}

function readFragment() {
  const [, key, step] = /^#([^/]*)(?:\/(\d+))?/.exec(location.hash) || [];
  let m;
  try { m = names.get(decodeURIComponent(key || '')); } catch { /* not ours */ }
  m = m || largest();
  if (m) show(m, step === undefined ? startOf(m) : Math.min(m.steps.length - 1, Number(step)));
}

/** Which of many modules someone wants to see: what a program does lies in its largest, not in those that convert scalars. */
function largest() {
  const size = m => Math.max(0, ...m.steps.map(s => s.instructions || 0));
  return data.reduce((best, m) => !best || size(m) > size(best) ? m : best, null);
}

function show(m, step) {
  const other = m !== module;
  module = m;
  at = step;
  if (other) {
    $('name').textContent = m.title;
    $('slider').max = m.steps.length - 1;
    drawQuantities();
    drawSteps();
    markModule();
  }
  $('slider').value = at;
  $('slider').setAttribute('aria-valuetext', 'step ' + at + ': ' + what(m.steps[at]));
  drawChart();
  markStep();
  drawStep();
}

/** Moves to the next step in a direction, over those that the table leaves out. */
function move(by) {
  if (!module) return;
  let to = at + by;
  while (to > 0 && to < module.steps.length - 1 && !listed(module.steps[to])) to += by;
  go(module, to);
}

// The chart: one quantity over the steps.

const QUANTITIES = [['instructions', s => s.instructions], ['computations', s => s.computations], ['FLOPs', s => s.flops], ['bytes moved', s => s.moved_bytes], ['bytes of text', s => s.bytes]];
function drawQuantities() {
  const before = $('quantity').value, opcodes = new Set();
  for (const step of module.steps) for (const name of Object.keys(step.opcodes || {})) opcodes.add(name);
  const group = make('optgroup', {label: 'instructions of one opcode'}, ...[...opcodes].sort().map(o => make('option', {value: '=' + o}, o)));
  $('quantity').replaceChildren(...QUANTITIES.map(([name]) => make('option', {value: name}, name)), group);
  $('quantity').value = before;
  if ($('quantity').selectedIndex < 0) $('quantity').selectedIndex = 0;
}

function quantity(step) {
  const name = $('quantity').value;
  if (step.instructions === undefined) return undefined;
  return name.startsWith('=') ? step.total[name.slice(1)] || 0 : QUANTITIES.find(q => q[0] === name)[1](step);
}

function drawChart() {
  const steps = module.steps, width = Math.max(1, steps.length - 1), most = Math.max(1, ...steps.map(s => quantity(s) || 0));
  const x = i => (steps.length === 1 ? 500 : 1000 * i / width), y = v => 108 - 100 * v / most;
  const busiest = Math.max(1, ...steps.map(changes));
  const svg = make('svg', {viewBox: '0 0 1000 110', preserveAspectRatio: 'none', role: 'img', 'aria-label': $('quantity').value.replace('=', '') + ' over the steps, at most ' + amount(most)});
  const bar = Math.max(1.5, Math.min(12, 700 / steps.length));
  steps.forEach((step, i) => {
    // What changed, as a stack of bars from the bottom, at most a third of the height.
    let bottom = 110;
    for (const [mark, , place] of MARKS) {
      const height = 36 * count(step, place) / busiest;
      if (height) svg.append(make('rect', {x: x(i) - bar / 2, y: bottom -= height, width: bar, height, fill: `var(--${{'+': 'added', '-': 'removed', '~': 'changed', '>': 'moved'}[mark]})`, opacity: .55}));
    }
  });
  let path = '', last;
  steps.forEach((step, i) => {
    const value = quantity(step);
    if (value === undefined) return;
    path += last === undefined ? `M${x(i)} ${y(value)}` : `L${x(i)} ${y(last)}L${x(i)} ${y(value)}`;
    last = value;
  });
  svg.append(make('path', {class: 'line', d: path}), make('line', {class: 'now', x1: x(at), x2: x(at), y1: 0, y2: 110}));
  svg.addEventListener('click', e => {
    const box = svg.getBoundingClientRect();
    go(module, Math.round((e.clientX - box.left) / box.width * width));
  });
  $('chart').replaceChildren(svg);
}

// The steps.

/** Whether the table has a row for a step. */
const listed = step => $('all').checked || changes(step) > 0 || step.resized || step.error || step.number === 0 || step.number === module.steps.length - 1;

function drawSteps() {
  const heads = [['', 'number of the dump'], ['pipeline', ''], ['after pass', ''], ...MARKS.map(([m, word]) => [m, word]), ['instrs', 'instructions']];
  $('steps').tHead.replaceChildren(make('tr', {}, ...heads.map(([h, t], i) => make('th', {scope: 'col', class: i < 3 ? 'text' : 'm' + h, title: t || null}, h))));
  const rows = module.steps.filter(listed).map(step => {
    step.row = make('tr', {class: step.error ? 'bad' : changes(step) || step.resized ? null : 'same', onclick: () => go(module, step.number)},
      make('td', {class: 'number'}, step.order || ''),
      make('td', {class: 'text'}, step.pipeline || ''),
      make('td', {class: 'text'}, make('a', {href: fragment(module, step.number)}, what(step))),
      ...MARKS.map(([mark, , place]) => make('td', {class: 'm' + mark}, step.counts ? count(step, place) || '' : '')),
      make('td', {}, step.error ? 'not read' : amount(step.instructions)));
    return step.row;
  });
  const left = module.steps.length - rows.length;
  if (left) rows.push(make('tr', {class: 'same', onclick: () => { $('all').checked = true; drawSteps(); markStep(); }}, make('td', {class: 'text', colspan: heads.length}, left + (left === 1 ? ' step' : ' steps') + ' without changes not shown')));
  for (const step of module.steps) if (!listed(step)) step.row = null;
  $('steps').tBodies[0].replaceChildren(...rows);
}

function markStep() {
  for (const step of module.steps) if (step.row) setCurrent(step.row, step.number === at);
  const row = module.steps[at].row;
  if (row) row.scrollIntoView({block: 'nearest'});
}

// One step.

function drawStep() {
  const step = module.steps[at];
  $('title').textContent = (step.order ? step.order + ' ' : '') + (step.pipeline ? step.pipeline + ': after ' : '') + what(step) + (step.next ? ', before ' + step.next : '');
  const before = at > 0 ? module.steps[at - 1] : {};
  const facts = QUANTITIES.map(([name, value]) => {
    const now = value(step), was = value(before);
    if (now === undefined) return null;
    return amount(now) + ' ' + name + (was !== undefined && was !== now ? ' (was ' + amount(was) + ')' : '');
  }).filter(Boolean);
  $('facts').textContent = step.error ? 'not read: ' + step.error : facts.join(', ');
  const link = (href, text, title) => make('a', {href: href.split('/').map(encodeURIComponent).join('/'), title}, text);
  const links = [];
  if (step.shows) links.push(link(step.shows, 'drawing', 'the module at this step'));
  if (step.from && step.from !== step.shows) links.push(link(step.from, 'drawing before', 'the module at the step before'));
  $('links').replaceChildren(...links.flatMap(l => [l, '   ']), make('span', {}, step.file));
  $('marks').replaceChildren(...MARKS.map(([mark, word, place]) => make('button', {
    type: 'button', class: 'm' + mark, 'aria-pressed': String(!hiddenMarks.has(mark)), title: word, 'aria-label': word + ': ' + count(step, place),
    onclick: () => { hiddenMarks[hiddenMarks.has(mark) ? 'delete' : 'add'](mark); drawStep(); $('marks').children[MARKS.findIndex(m => m[0] === mark)].focus(); },
  }, mark + ' ' + count(step, place))));
  drawEntries(step);
}

const changeText = ([path, left, right, note]) => path + '   ' + (left || 'none') + ' → ' + (right || 'none') + (note ? '   (' + note + ')' : '');
function drawEntries(step) {
  const wanted = $('find').value.toLowerCase(), parts = [];
  const has = e => !wanted || [e.text, e.was, e.note, e.in, ...(e.changes || []).flat()].some(t => t && t.toLowerCase().includes(wanted));
  const entries = (step.entries || []).filter(e => !hiddenMarks.has(e.mark) && has(e));
  if (step.header) parts.push(make('h4', {}, 'HloModule'), ...step.header.map(c => make('div', {class: 'change'}, changeText(c))));
  let where = null;
  for (const e of entries) {
    if (e.in !== where) parts.push(make('h4', {}, '%' + (where = e.in)));
    const name = /^(?:ROOT )?%?([^ ]*)/.exec(e.text)[1];
    parts.push(make('div', {class: 'entry m' + e.mark}, make('b', {}, e.mark), ' ' + e.text + (e.was && e.was !== name ? '   was %' + e.was : '') + (e.note ? '   (' + e.note + ')' : '')));
    for (const c of e.changes || []) parts.push(make('div', {class: 'change'}, changeText(c)));
  }
  const total = changes(step) - (step.header || []).length;
  if (step.more) parts.push(make('p', {}, step.more + ' more changes are counted and not listed here'));
  if (!parts.length) parts.push(make('p', {}, step.error ? '' : at === 0 ? 'The first dump: nothing to compare with.' : total ? 'No change of this step is selected.' : step.resized ? 'The same graph: only copies of identical computations came or went.' : 'No changes.'));
  $('entries').replaceChildren(...parts);
  $('found').textContent = entries.length === total ? '' : entries.length + ' of ' + total;
}

// Keys, where no field takes them.

function toggleKeys() {
  $('keys').hidden = !$('keys').hidden;
  $('help').setAttribute('aria-expanded', String(!$('keys').hidden));
}
function moveModule(by) {
  const to = shown[shown.indexOf(module) + by];
  if (to) go(to, startOf(to));
}
const KEYS = {
  ArrowLeft: () => move(-1), ArrowRight: () => move(1), '[': () => move(-1), ']': () => move(1),
  ArrowUp: () => moveModule(-1), ArrowDown: () => moveModule(1), k: () => moveModule(-1), j: () => moveModule(1),
  Home: () => module && go(module, 0), End: () => module && go(module, module.steps.length - 1),
  g: () => $('links').querySelector('a')?.click(),
  '/': () => $('filter').focus(), e: () => $('find').focus(),
  a: () => $('all').click(), '?': toggleKeys,
};
document.addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape' && e.target.matches('input[type=search]')) {
    e.target.value = '';
    e.target.dispatchEvent(new Event('input'));
    return e.target.blur();
  }
  if (e.target.matches('input[type=search], select, input[type=range]')) return;
  const enter = e.key === 'Enter' && e.target === document.body;
  const action = enter ? KEYS.g : Object.hasOwn(KEYS, e.key) && KEYS[e.key];
  if (!action) return;
  e.preventDefault();
  action();
});
$('filter').addEventListener('input', drawModules);
$('find').addEventListener('input', () => module && drawEntries(module.steps[at]));
$('quantity').addEventListener('change', drawChart);
$('all').addEventListener('change', () => { drawSteps(); markStep(); });
$('slider').addEventListener('input', () => go(module, Number($('slider').value)));
$('back').addEventListener('click', () => move(-1));
$('on').addEventListener('click', () => move(1));
$('help').addEventListener('click', toggleKeys);
addEventListener('popstate', readFragment);
addEventListener('hashchange', readFragment);
nameAll();
drawModules();
readFragment();
