// What stands inside a box (tools.md §5.2), and its size.

const kTitleFont = '600 13px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const kTextFont = '11px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
const kTitleHeight = 18, kLineHeight = 14, kPadding = 7;
const kMostAttributes = 5, kMostWritten = 6, kLongestLine = 40, kLongestShape = 64, kLongestTitle = 44, kMostChangeLines = 4, kLongestChange = 56;

/** Attributes that have an option of their own or say nothing in a drawing. */
const kQuietAttributes = new Set(['metadata', 'backend_config', 'frontend_attributes', 'sharding', 'origin', 'statistics',
                                  'control-predecessors', 'operand_precision', 'calls', 'kind', 'original_value']);

const cut = (text, limit) => text.length <= limit ? text : text.slice(0, limit - 1) + '…';

/** Shapes without layouts of arrays of rank below 2, or without any. */
function shapeLabel(shape, layout) {
  return cut(layout ? shape.replace(/(\[[^\],]*\])\{0\}/g, '$1') : shape.replace(/(\])\{[^}]*\}/g, '$1'), kLongestShape);
}

/** The value of a constant, if it is short. */
function literalLabel(constant) {
  const text = constant.argumentText.replace(/\s+/g, ' ');
  return text.length <= 64 && text !== '{...}' ? text : '%' + constant.name;
}

/** `f32[] 2`, `.3 of %while.1`: what is written into users instead of a node. */
function writtenValue(inst, layout) {
  if (inst.opcode === 'constant') return shapeLabel(inst.shape, layout) + ' ' + literalLabel(inst);
  let path = '', at = inst;
  while (at.opcode === 'get-tuple-element' && at.operands.length) {
    path = '.' + attributeValue(at, 'index') + path;
    at = at.operands[0];
  }
  return `%${at.name}${path}`;
}

function titleOf(inst) {
  const title = inst.name.startsWith(inst.opcode) ? inst.name : inst.opcode + ' ' + inst.name;
  return cut(inst.opcode === 'parameter' ? `${title} (${inst.argumentText})` : title, kLongestTitle);
}

function attributeLines(item, show) {
  const inst = item.instruction, lines = [];
  const attributes = attributesOf(inst);
  const drawn = item.expanded;
  for (const [name, value] of attributes) {
    if (name === 'sharding' && show.has('sharding') || name === 'backend_config' && show.has('backend-config'))
      lines.push(cut(name + '=' + value, kLongestLine));
    if (kQuietAttributes.has(name)) continue;
    const callee = value[0] === '%' ? inst.computation.module.computationOf.get(value.slice(1)) : null;
    const reducer = callee ? namedReducer(callee) : '';
    if (!callee || reducer || !drawn) lines.push(cut(`${name}=${reducer || value}`, kLongestLine));
  }
  if (show.has('metadata') && inst.opName) lines.push(cut('op_name=' + inst.opName, kLongestLine));
  if (lines.length > kMostAttributes) lines.splice(kMostAttributes - 1, Infinity, `… ${lines.length - kMostAttributes + 1} more attributes`);
  return lines;
}

/** What a merged drawing tells of a change inside of the box. */
function changeLines(entry) {
  if (!entry || entry.kind === 'unchanged') return [];
  const home = entry.left.computation, lines = [];
  if (entry.note) lines.push(cut(entry.note.startsWith('moved') || entry.kind === 'moved' ? `${entry.note}, was in %${home.name}` : entry.note, kLongestLine));
  for (const c of entry.changes.slice(0, kMostChangeLines)) lines.push(cut(`${c.path}: ${c.left || '–'} → ${c.right || '–'}`, kLongestChange));
  if (entry.changes.length > kMostChangeLines) lines.push(`… ${entry.changes.length - kMostChangeLines} more changes`);
  return lines;
}

function instructionLines(item, show) {
  const inst = item.instruction;
  const lines = [];
  const layout = show.has('layout');
  if (show.has('shape')) lines.push(shapeLabel(inst.shape, layout));
  if (inst.opcode === 'constant') lines.push(literalLabel(inst));
  if (inst.opcode === 'fusion' && inst.called.length && !item.expanded) lines.push(`${inst.called[0].instructions.length} instructions`);
  if (inst.repeats > 1) lines.push(`x${inst.repeats} the same change`);
  if (inst.left && inst.right) lines.push(...changeLines(item.tree.options.diffOf(inst)));
  if (show.has('schedule') && inst.computation.module.isScheduled) lines.push(`step ${inst.id - inst.computation.instructions[0].id}`);
  if (show.has('bytes')) lines.push(bytesLabel(bytesOf(inst.shape)));
  lines.push(...attributeLines(item, show));
  if (show.has('constants')) {
    const written = inst.operands.map((o, n) => [o, n]).filter(([o]) => isWrittenIntoUsers(o));
    for (const [operand, n] of written.slice(0, kMostWritten))
      lines.push(cut(`operand ${n} = ${writtenValue(operand, layout)}`, kLongestLine));
    if (written.length > kMostWritten) lines.push(`… ${written.length - kMostWritten} more operands`);
  }
  return lines;
}

/** Bytes of an array of each element type; what is not here has one. */
function bytesOf(shape) {
  let bytes = 0;
  for (const [, type, dims] of shape.matchAll(/([a-z]\w*)\[([\d,<= ]*)\]/g)) {
    const bits = type === 'pred' ? 8 : type === 'c64' ? 64 : type === 'c128' ? 128 : Number(/^\D+(\d+)/.exec(type)?.[1] ?? 8);
    bytes += elementsOf(`x[${dims}]`) * bits / 8;
  }
  return Math.ceil(bytes);
}
function bytesLabel(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let n = 0;
  while (bytes >= 1024 && n < units.length - 1) { bytes /= 1024; ++n; }
  return `${n ? bytes.toFixed(1) : bytes} ${units[n]}`;
}

/** The commonest opcodes: `12 dot, 8 add, 5 reduce`. */
function opcodeSummary(instructions) {
  const counts = new Map();
  for (const i of instructions) if (i.opcode !== 'parameter') counts.set(i.opcode, (counts.get(i.opcode) ?? 0) + 1);
  if (!counts.size) return `${instructions.length} parameter${instructions.length === 1 ? '' : 's'}`;
  const common = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 3);
  return common.map(([op, n]) => `${n} ${op}`).join(', ');
}

/** All instructions that a group or body stands for; of bodies those of the called computation. */
function instructionsIn(item) {
  return item.kind === 'body' ? item.computation.instructions : item.kind === 'group' ? item.members : [item.instruction];
}

/** {title, lines}: the texts of a box. */
function labelOf(item, show) {
  if (item.kind === 'instruction') return {title: titleOf(item.instruction), lines: instructionLines(item, show)};
  const inside = instructionsIn(item);
  const {title} = item;
  return {title: title.length <= kLongestTitle ? title : '…' + title.slice(title.length - kLongestTitle + 1),
          lines: [`${item.size} instructions`, cut(opcodeSummary(inside), kLongestLine)]};
}

/** Widths of texts; without a canvas (in tests) by the number of characters. */
const measure = (() => {
  const context = typeof document === 'undefined' ? null : document.createElement('canvas').getContext('2d');
  const known = new Map();
  return (text, font) => {
    if (!context) return text.length * (font === kTitleFont ? 7.4 : 6.7);
    const key = font[0] + text;
    let width = known.get(key);
    if (width === undefined) {
      context.font = font;
      known.set(key, width = context.measureText(text).width);
    }
    return width;
  };
})();

/** Adds {w, h} to a label: the size of a box that is not expanded. */
function sizeLabel(label, item) {
  let width = measure(label.title, kTitleFont) + (item.expandable ? 28 : 0);
  for (const line of label.lines) width = Math.max(width, measure(line, kTextFont));
  label.w = Math.max(64, Math.ceil(width) + 2 * kPadding + (item.instruction?.opcode === 'while' ? 12 : 0));
  label.h = kTitleHeight + label.lines.length * kLineHeight + 2 * kPadding - 4 + (item.kind === 'instruction' ? 0 : 7);
  return label;
}

/** What a screen reader says of an item. */
function describe(item) {
  const inst = item.instruction;
  const many = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
  if (inst)
    return `%${inst.name}, ${inst.opcode}, ${shapeLabel(inst.shape, false)}, ${many(inst.operands.length, 'operand')}, ${many(inst.users.length, 'user')}` +
      (item.expandable ? (item.expanded ? ', open' : ', can be opened') : '');
  return `${item.kind === 'group' ? 'group' : 'computation'} ${item.title}, ${many(item.size, 'instruction')}, ${item.expanded ? 'open' : 'closed'}`;
}

function tipText(page, item) {
  const inst = item.instruction;
  if (!inst) return `${item.title}\n${item.size} instructions: ${opcodeSummary(instructionsIn(item))}`;
  const lines = [`%${inst.name} = ${shapeLabel(inst.shape, true)} ${inst.opcode}`];
  if (inst.opName) lines.push(inst.opName);
  if (inst.source) lines.push(inst.source);
  for (const f of inst.computation.module.frames(inst).slice(0, 4)) lines.push(`  at ${f.file}:${f.line} ${f.function}`);
  for (const note of page.notes.get(inst) ?? []) lines.push('! ' + note);
  for (const c of page.hasDiff ? page.diffOf(inst)?.changes ?? [] : []) lines.push(`${c.path}: ${c.left || '–'} → ${c.right || '–'}`);
  return lines.map(l => cut(l, 160)).join('\n');
}
