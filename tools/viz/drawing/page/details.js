// The panel that tells everything about what is selected.

const kMostLinks = 60;

/** A button that leads to an instruction. */
function instructionLink(page, pane, inst, note = '') {
  return make('li', {}, make('button', {class: 'link', onclick: () => page.open(pane, inst)},
    make('i', {class: 'swatch', style: `background:${page.colours(pane).of(inst)[0]}`}), '%' + inst.name),
    make('span', {class: 'quiet'}, ` ${inst.opcode} ${shapeLabel(inst.shape, false)}${note}`));
}

function linkList(page, pane, title, instructions, note = () => '') {
  if (!instructions.length) return null;
  const list = make('ul', {}, instructions.slice(0, kMostLinks).map((i, n) => instructionLink(page, pane, i, note(i, n))));
  if (instructions.length > kMostLinks)
    list.append(make('li', {}, make('button', {class: 'link', onclick: e => {
      e.target.parentNode.replaceWith(...instructions.slice(kMostLinks, 2000).map((i, n) => instructionLink(page, pane, i, note(i, n + kMostLinks))));
    }}, `${instructions.length - kMostLinks} more`)));
  return make('section', {}, make('h3', {}, `${title} (${instructions.length})`), list);
}

function table(rows) {
  return make('table', {}, rows.map(([name, value]) => make('tr', {}, make('th', {scope: 'row'}, name), make('td', {}, value))));
}
const section = (title, ...content) => make('section', {}, make('h3', {}, title), ...content);

/** What an item offers to do. */
function actionButtons(page, pane, item) {
  const button = (text, key, action) => make('button', {title: key ? `${text} (${key})` : text, onclick: action}, text);
  const inst = item.instruction;
  const buttons = [];
  if (item.expandable) buttons.push(button(item.expanded ? 'Close' : 'Open', 'Enter', () => page.toggle(pane, item)));
  if (item.kind === 'group') buttons.push(button('Open all inside', 'x', () => page.openInside(pane, item)));
  if (inst) {
    const radius = make('input', {type: 'number', min: '1', max: '9', value: page.radius, 'aria-label': 'radius',
                                  onchange: e => { page.radius = Math.min(9, Math.max(1, Number(e.target.value) || 2)); }});
    buttons.push(make('span', {class: 'pair'}, button('Neighbourhood', 'n', () => page.showNeighbourhood(pane, inst)), radius),
      button('All operands', 'o', () => page.showReached(pane, inst, 'operand')),
      button('All users', 'u', () => page.showReached(pane, inst, 'user')),
      button('Path to …', 'p', () => page.startPath(pane, inst)));
  } else {
    buttons.push(button('Show alone', '', () => page.showOnly(pane, instructionsIn(item), item.title)));
  }
  buttons.push(button('Copy as HLO', 'c', () => page.copy(pane)));
  return make('div', {class: 'actions', role: 'group', 'aria-label': 'Actions'}, buttons);
}

function changesSection(page, inst) {
  const entry = page.hasDiff && page.diffOf(inst);
  if (!entry || entry.kind === 'unchanged') return null;
  const kind = kDiffKinds[entry.kind];
  const rows = (entry.changes ?? []).map(c => make('tr', {}, make('th', {scope: 'row'}, c.path),
    make('td', {}, make('del', {}, c.left || '–'), ' → ', make('ins', {}, c.right || '–'), c.note ? ` (${c.note})` : '')));
  const other = page.counterpart(inst);
  return section('Comparison',
    make('p', {}, make('b', {class: 'mark', style: `background:${kind.colours[1]}`}, kind.mark), ` ${entry.kind}${entry.note ? `, ${entry.note}` : ''}`,
         other ? make('span', {}, ' – other side: ', make('button', {class: 'link', onclick: () => page.open(page.paneOf(other), other)}, '%' + other.name)) : ''),
    rows.length ? make('table', {class: 'changes'}, rows) : '');
}

function measuresSection(page, inst) {
  const rows = (page.data.heat ?? []).filter(h => h.values[inst.key] !== undefined && inst.computation.module === page.right.module)
    .map(h => [h.name, formatMeasure(h.values[inst.key], h.unit)]);
  const notes = page.notes.get(inst);
  return rows.length || notes ? section('Measured', notes ? make('p', {class: 'warning'}, notes.join('\n')) : '', table(rows)) : null;
}

/** `operand 2`; in merged drawings also whether only one module has it. */
function operandNote(inst, n) {
  const side = inst.left && inst.right ? inst.sides[n] : 'both';
  return side === 'old' ? ' · before' : ` · operand ${n}` + (side === 'new' ? ', new' : '');
}

/** The contents of the panel for an instruction. */
function instructionDetails(page, pane, item) {
  const inst = item.instruction;
  const frames = inst.computation.module.frames(inst);
  const attributes = attributesOf(inst).filter(([name]) => name !== 'metadata');
  const metadata = [['op_name', inst.opName], ['op_type', inst.metadata('op_type')], ['source', inst.source]].filter(([, v]) => v);
  const text = inst.argumentText;
  return [
    make('h2', {}, '%' + inst.name, make('span', {class: 'chip'}, inst.opcode)),
    actionButtons(page, pane, item),
    changesSection(page, inst),
    measuresSection(page, inst),
    table([['shape', inst.shape], ['size', `${elementsOf(inst.shape).toLocaleString('en')} elements, ${bytesLabel(bytesOf(inst.shape))}`],
           ['computation', make('button', {class: 'link', onclick: () => page.openComputation(pane, inst.computation)}, '%' + inst.computation.name)],
           ...inst.called.map(c => [roleOf(inst, c), make('button', {class: 'link', onclick: () => page.openComputation(pane, c)},
                                                          `%${c.name} (${c.instructions.length} instructions)`)])]),
    inst.opcode === 'constant' ? section('Literal', make('pre', {}, cut(text, 4000)), literalSummary(inst)) : null,
    linkList(page, pane, 'Operands', inst.operands, (o, n) => operandNote(inst, n) + (isWrittenIntoUsers(o) && o.opcode === 'constant' ? ` = ${literalLabel(o)}` : '')),
    linkList(page, pane, 'Users', inst.users),
    linkList(page, pane, 'Control predecessors', inst.control),
    linkList(page, pane, 'Called from', inst.opcode === 'parameter' || inst.isRoot ? inst.computation.callers : []),
    metadata.length ? section('Metadata', table(metadata)) : null,
    frames.length ? section('Stack', make('ol', {class: 'stack'}, frames.map(f => make('li', {}, `${f.file}:${f.line} `, make('b', {}, f.function))))) : null,
    attributes.length ? section('Attributes', table(attributes.map(([n, v]) => [n, cut(v, 2000)]))) : null,
    section('Text', textBlock(inst)),
    inst.right && inst.left && inst.left.line !== inst.line ? section('Text before', textBlock(inst.left)) : null,
  ];
}

const textBlock = inst => make('pre', {class: 'text', tabindex: '0'}, cut((inst.isRoot ? 'ROOT ' : '') + inst.line, 20000));

/** Least, greatest and mean of the numbers that stand in a literal. */
function literalSummary(inst) {
  const numbers = inst.argumentText.match(/-?(?:\d+\.?\d*(?:e[-+]?\d+)?)/g)?.map(Number) ?? [];
  if (inst.argumentText.includes('...')) return make('p', {class: 'quiet'}, `${elementsOf(inst.shape)} elements, left out of the page`);
  if (numbers.length < 2 || inst.argumentText.includes('(')) return null;
  const mean = numbers.reduce((a, b) => a + b, 0) / numbers.length;
  return table([['least', Math.min(...numbers)], ['greatest', Math.max(...numbers)], ['mean', Number(mean.toPrecision(6))]]);
}

function groupDetails(page, pane, item) {
  const inside = instructionsIn(item);
  const counts = new Map();
  for (const i of inside) counts.set(i.opcode, (counts.get(i.opcode) ?? 0) + 1);
  const rows = [...counts].sort((a, b) => b[1] - a[1]).map(([op, n]) => [op, String(n)]);
  const marks = page.hasDiff ? diffMarks(item, page.diffOf) : [];
  return [
    make('h2', {}, item.title, make('span', {class: 'chip'}, item.kind === 'group' ? 'group' : 'computation')),
    actionButtons(page, pane, item),
    marks.length ? section('Comparison', make('p', {}, marks.map(m => `${m.mark}${m.count} `).join(' '))) : null,
    section(`Opcodes (${inside.length} instructions)`, table(rows)),
    linkList(page, pane, 'Instructions', inside),
  ];
}

/** The instructions that cost most by the heat in use. */
function hottest(page, pane) {
  const heat = page.colours(pane).heat;
  if (!heat) return null;
  const found = Object.entries(heat.values).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]).slice(0, 50)
    .map(([key, value]) => [pane.module.find(key), value]).filter(([inst]) => inst);
  return linkList(page, pane, `Most ${heat.name}`, found.map(([inst]) => inst), (_, n) => ` · ${formatMeasure(found[n][1], heat.unit)}`);
}

/** Everything that differs on the side of a pane. */
function changes(page, pane) {
  const found = page.hasChanges ? pane.module.instructions.filter(i => kDiffKinds[page.diffOf(i)?.kind]) : [];
  return linkList(page, pane, 'Changes', found, i => ` · ${kDiffKinds[page.diffOf(i).kind].mark} ${page.diffOf(i).kind}`);
}

/** What the panel shows while nothing is selected. */
function moduleDetails(page, pane) {
  const {module} = pane;
  const header = module.header[0] ?? '';
  return [
    make('h2', {}, module.name || 'module', make('span', {class: 'chip'}, page.left ? kSideTitles[pane.side] : 'module')),
    table([['instructions', String(module.instructions.length)], ['computations', String(module.computations.length)],
           ['entry', '%' + (module.entry?.name ?? '')]]),
    hottest(page, pane),
    changes(page, pane),
    section('Computations', make('ul', {}, [...module.computations].sort((a, b) => b.instructions.length - a.instructions.length).slice(0, 100)
      .map(c => make('li', {}, make('button', {class: 'link', onclick: () => page.openComputation(pane, c)}, (c.isEntry ? 'ENTRY ' : '') + '%' + c.name),
                     make('span', {class: 'quiet'}, ` ${c.instructions.length} instructions`))))),
    section('Header', make('pre', {class: 'text'}, cut(header, 4000))),
  ];
}
