// Reading the HLO text that the page carries: our printer's, one instruction per line.

const kNone = Object.freeze([]);

/** An instruction. `operands`, `users`, `control` and `called` refer to objects of the same module. */
class Instruction {
  constructor(id, computation, name, shape, opcode, line) {
    this.id = id;                    // index in Module.instructions
    this.computation = computation;
    this.name = name;
    this.shape = shape;              // with layout, as printed
    this.opcode = opcode;
    this.line = line;                // the whole line, without indentation
    this.isRoot = false;
    this.argumentsAt = 0;            // positions of the text between the parentheses
    this.argumentsEnd = 0;
    this.operands = [];
    this.users = [];                 // each once, in the order of the text
    this.control = kNone;            // control predecessors
    this.called = kNone;
    this.layer = '';                 // `layer 3 of 32`, where names do not tell
    this.region = 0;                 // of a comparison: kDrawnAlone, or the region of the merged drawing
  }
  /** What stands between the parentheses: operands, a literal, a parameter's number. */
  get argumentText() { return this.line.slice(this.argumentsAt, this.argumentsEnd); }
  /** `, dimensions={1}, metadata={…}` */
  get attributeText() { return this.line.slice(this.argumentsEnd + 1); }
  get key() { return this.computation.name + '::' + this.name; }
  /** The value of a quoted field of the metadata, unescaped; '' if there is none. */
  metadata(field) {
    const at = this.line.indexOf(field + '="', this.argumentsEnd);
    if (at < 0) return '';
    const from = at + field.length + 2;
    return unescapeText(this.line.slice(from, endOfString(this.line, from)));
  }
  get opName() { return this.metadata('op_name'); }
  /** `file.py:12` */
  get source() {
    const file = this.metadata('source_file');
    if (file) return file + ':' + (numberAfter(this.line, 'source_line=') ?? '');
    const frame = this.computation.module.frames(this)[0];
    return frame ? frame.file + ':' + frame.line : '';
  }
}

class Computation {
  constructor(module, name, head) {
    this.module = module;
    this.name = name;
    this.head = head;                // the line that opens it
    this.isEntry = head.startsWith('ENTRY ');
    this.instructions = [];
    this.instructionOf = new Map();  // by name
    this.root = null;
    this.callers = [];
    this.text = '';
  }
  /** How those who call it write it. */
  get writtenNames() { return [this.name]; }
}

/** A parsed module. */
class Module {
  constructor(text) {
    this.header = [];                // lines before the first computation
    this.computations = [];
    this.computationOf = new Map();  // by name
    this.instructions = [];
    readLines(this, text);
    for (const c of this.computations) linkComputation(c);
    this.entry = this.computations.find(c => c.isEntry) ?? this.computations[0];
    this.name = /^HloModule ([^,\s]*)/.exec(this.header[0] ?? '')?.[1] ?? '';
    this.isScheduled = (this.header[0] ?? '').includes(', is_scheduled=true');
    this.tables = null;
  }
  /** By `computation::name`; null if there is none. */
  find(key) {
    for (let at = key?.indexOf('::') ?? -1; at >= 0; at = key.indexOf('::', at + 1)) {
      const found = this.computationOf.get(key.slice(0, at))?.instructionOf.get(key.slice(at + 2));
      if (found) return found;
    }
    return null;
  }
  /** Stack frames of an instruction, innermost first: {file, function, line}. */
  frames(instruction) {
    const id = numberAfter(instruction.line, 'stack_frame_id=', instruction.argumentsEnd);
    if (!id) return [];
    this.tables ??= readTables(this.header);
    const {FileNames, FunctionNames, FileLocations, StackFrames} = this.tables;
    const frames = [];
    for (let at = StackFrames[id]; at && frames.length < 32;) {
      const where = FileLocations[numberAfter(at, 'file_location_id=')] ?? '';
      frames.push({file: FileNames[numberAfter(where, 'file_name_id=')] ?? '',
                   function: FunctionNames[numberAfter(where, 'function_name_id=')] ?? '',
                   line: numberAfter(where, ' line=') ?? 0});
      // The text counts parents from one more than frames: a root frame names itself.
      const parent = (numberAfter(at, 'parent_frame_id=') ?? 0) - 1;
      if (parent <= 0 || StackFrames[parent] === at) break;
      at = StackFrames[parent];
    }
    return frames;
  }
}

/** Calls `set(instruction, number)` for numbers of all instructions, written as [how many, number, …]. */
function readNumbers(module, runs, set) {
  let n = 0;
  for (let at = 0; at + 1 < runs.length; at += 2)
    for (const end = Math.min(n + runs[at], module.instructions.length); n < end; ++n) set(module.instructions[n], runs[at + 1]);
}

/** The number that follows a word, or null. */
function numberAfter(text, word, from = 0) {
  const at = text.indexOf(word, from);
  if (at < 0) return null;
  const number = parseInt(text.slice(at + word.length, at + word.length + 12), 10);
  return Number.isNaN(number) ? null : number;
}

/** The position of the quote that ends a string whose contents begin at `from`. */
function endOfString(text, from) {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\' && at - 1 - slashes >= from) ++slashes;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

const kEscapes = {n: '\n', t: '\t', r: '\r'};
/** Undoes C escapes; octal and hexadecimal ones are bytes of UTF-8. */
function unescapeText(text) {
  if (!text.includes('\\')) return text;
  const bytes = run => new TextDecoder().decode(Uint8Array.from(run.match(/\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2})/g),
    e => e[1] === 'x' ? parseInt(e.slice(2), 16) : parseInt(e.slice(1), 8)));
  return text.replace(/(?:\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2}))+|\\([^])/g, (run, e) => e === undefined ? bytes(run) : kEscapes[e] ?? e);
}

const kOpening = '([{', kClosing = ')]}';
/** The position of the bracket that closes the one at `from`; strings are skipped. */
function closingBracket(text, from) {
  let depth = 0;
  for (let i = from; i < text.length; ++i) {
    const c = text.charCodeAt(i);
    if (c === 34) i = endOfString(text, i + 1);
    else if (c === 40 || c === 91 || c === 123) ++depth;
    else if ((c === 41 || c === 93 || c === 125) && --depth === 0) return i;
  }
  return text.length;
}

/** The same for a parenthesis, fast where there is nothing inside. */
function closingParenthesis(text, from) {
  const end = text.indexOf(')', from);
  const inner = text.indexOf('(', from + 1), quote = text.indexOf('"', from);
  return (inner >= 0 && inner < end) || (quote >= 0 && quote < end) || end < 0 ? closingBracket(text, from) : end;
}

/** Splits at commas outside of brackets and strings. */
function splitList(text) {
  const parts = [];
  let from = 0;
  for (let i = 0; i < text.length; ++i) {
    if (text[i] === '"') i = endOfString(text, i + 1);
    else if (kOpening.includes(text[i])) i = closingBracket(text, i);
    else if (text[i] === ',') { parts.push(text.slice(from, i).trim()); from = i + 1; }
  }
  const last = text.slice(from).trim();
  if (last) parts.push(last);
  return parts;
}

/** The attributes of an instruction as [name, value] pairs, in the order of the text. */
function attributesOf(instruction) {
  return splitList(instruction.attributeText.replace(/^,\s*/, '')).map(part => {
    const equals = part.indexOf('=');
    return equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
  });
}

function readLines(module, text) {
  let computation = null, begin = 0;
  for (let from = 0; from < text.length;) {
    let to = text.indexOf('\n', from);
    if (to < 0) to = text.length;
    const line = text.slice(from, to);
    if (!computation) {
      const head = line.endsWith('{') && /^(?:ENTRY )?%?(\S+) (?:\(.*-> .*)?\{$/.exec(line);
      if (head && !line.startsWith('HloModule ')) {
        computation = new Computation(module, head[1], line);
        module.computations.push(computation);
        module.computationOf.set(head[1], computation);
        begin = from;
      } else if (module.computations.length === 0) {
        module.header.push(line);
      }
    } else if (line[0] === '}') {
      computation.text = text.slice(begin, to);
      computation = null;
    } else {
      readInstruction(computation, line);
    }
    from = to + 1;
  }
}

/** Adds the instruction of a line; a line that is none continues the one before. */
function readInstruction(computation, line) {
  const isRoot = line.startsWith('  ROOT ');
  const begin = isRoot ? 7 : 2;
  const equals = line.indexOf(' = ', begin);
  const last = computation.instructions[computation.instructions.length - 1];
  if (line[0] !== ' ' || line[1] !== ' ' || equals < 0 || line[begin] === ' ') {
    if (last) last.line += '\n' + line;
    return;
  }
  const text = line.slice(begin);
  const nameEnd = equals - begin;
  const shapeAt = nameEnd + 3;
  let space = text[shapeAt] === '(' ? closingBracket(text, shapeAt) + 1 : text.indexOf(' ', shapeAt);
  if (space < 0) space = text.length;
  const open = text.indexOf('(', space);
  const module = computation.module;
  const name = text[0] === '%' ? text.slice(1, nameEnd) : text.slice(0, nameEnd);
  const instruction = new Instruction(module.instructions.length, computation, name,
                                      text.slice(shapeAt, space), text.slice(space + 1, open), text);
  instruction.isRoot = isRoot;
  instruction.argumentsAt = open + 1;
  instruction.argumentsEnd = closingParenthesis(text, open);
  if (isRoot) computation.root = instruction;
  computation.instructions.push(instruction);
  module.instructions.push(instruction);
  computation.instructionOf.set(name, instruction);
}

/** Resolves the names in the instructions of a computation. */
function linkComputation(computation) {
  const here = computation.instructionOf;
  for (const inst of computation.instructions) {
    if (inst.opcode !== 'constant' && inst.opcode !== 'parameter')
      for (const name of namesIn(inst.line, inst.argumentsAt, inst.argumentsEnd)) {
        const operand = here.get(name);
        if (!operand) continue;
        inst.operands.push(operand);
        if (operand.users[operand.users.length - 1] !== inst) operand.users.push(inst);
      }
    if (inst.line.indexOf('%', inst.argumentsEnd) >= 0) linkAttributes(inst, here);
  }
  computation.root ??= computation.instructions[computation.instructions.length - 1] ?? null;
}

/** Names after `%` between two positions, outside of strings. */
function namesIn(text, from, to) {
  const names = [];
  let quote = text.indexOf('"', from);
  for (let at = text.indexOf('%', from); at >= 0 && at < to; at = text.indexOf('%', at)) {
    while (quote >= 0 && quote < at) {
      const end = endOfString(text, quote + 1);
      if (end > at) at = end;
      quote = text.indexOf('"', end + 1);
    }
    if (text.charCodeAt(at) !== 37) continue;
    let end = at + 1;
    for (let c = text.charCodeAt(end); end < to && c !== 32 && c !== 44 && c !== 41 && c !== 93 && c !== 125;) c = text.charCodeAt(++end);
    names.push(text.slice(at + 1, end));
    at = end;
  }
  return names;
}

/** Names in attributes: control predecessors, and every computation named is one that is called. */
function linkAttributes(inst, here) {
  const {line, argumentsEnd} = inst;
  const control = line.indexOf('control-predecessors={', argumentsEnd);
  const controlEnd = control < 0 ? -1 : line.indexOf('}', control);
  if (control >= 0)
    for (const name of namesIn(line, control, controlEnd)) if (here.has(name)) inst.control = [...inst.control, here.get(name)];
  const names = control < 0 ? namesIn(line, argumentsEnd, line.length)
    : [...namesIn(line, argumentsEnd, control), ...namesIn(line, controlEnd, line.length)];
  for (const name of names) {
    const callee = inst.computation.module.computationOf.get(name);
    if (!callee || inst.called.includes(callee)) continue;
    inst.called = [...inst.called, callee];
    callee.callers.push(inst);
  }
}

/** The four tables of the header; rows are counted from 1. */
function readTables(header) {
  const tables = {FileNames: [], FunctionNames: [], FileLocations: [], StackFrames: []};
  let at = null;
  for (const line of header) {
    if (tables[line]) { at = tables[line]; continue; }
    const row = /^(\d+) (.*)$/.exec(line);
    if (at && row)
      at[Number(row[1])] = row[2][0] === '"' ? unescapeText(row[2].slice(1, -1)) : row[2];
  }
  return tables;
}
