// Questions about the graph of a module: search, neighbourhoods, paths, what depends on what.

/** Words that precede a term and say where to look: `op:dot`, `shape:bf16`. */
const kSearchFields = {
  name: i => i.name,
  op: i => i.opcode,
  opcode: i => i.opcode,
  shape: i => i.shape,
  op_name: i => i.opName,
  source: i => i.source,
};

/** A test of instructions for a text: words must all occur; `/expression/` is a regular expression. */
function searchTest(text) {
  const regular = /^\/(.+?)\/?$/.exec(text.trim());
  if (regular) {
    try {
      const expression = new RegExp(regular[1], 'i');
      return i => expression.test(i.line);
    } catch {
      return null;
    }
  }
  const tests = text.trim().split(/\s+/).filter(Boolean).map(word => {
    const colon = word.indexOf(':');
    const field = colon > 0 && kSearchFields[word.slice(0, colon).toLowerCase()];
    const wanted = (field ? word.slice(colon + 1) : word.replace(/^%/, '')).toLowerCase();
    return field ? i => field(i).toLowerCase().includes(wanted)
      : i => lowerLine(i).includes(wanted) || i.computation.module.frames(i).length > 0 && i.source.toLowerCase().includes(wanted);
  });
  return i => tests.every(test => test(i));
}

/** The line in lower case, kept: search runs with every key. */
function lowerLine(instruction) {
  return instruction.lower ??= instruction.line.toLowerCase();
}

/** How well an instruction fits: the name counts most, then the opcode. Small is good. */
function searchRank(instruction, text) {
  const wanted = text.trim().toLowerCase().replace(/^%/, '');
  const name = instruction.name.toLowerCase();
  if (name === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  if (instruction.opcode === wanted) return 2;
  if (name.includes(wanted)) return 3;
  return 4;
}

/** {count, found}: all that fit are counted, the best `limit` are returned. */
function searchModule(module, text, limit = 200) {
  const test = text.trim() ? searchTest(text) : null;
  if (!test) return {count: 0, found: []};
  const buckets = [[], [], [], [], []];
  let count = 0;
  for (const inst of module.instructions) {
    if (!test(inst)) continue;
    ++count;
    const bucket = buckets[searchRank(inst, text)];
    if (bucket.length < limit) bucket.push(inst);
  }
  return {count, found: buckets.flat().slice(0, limit)};
}

/** Written into their users instead of having nodes of their own. */
function isWrittenIntoUsers(inst) {
  return (inst.opcode === 'constant' || inst.opcode === 'get-tuple-element') && !inst.isRoot &&
    inst.users.length > 0 && inst.control.length === 0;
}

/** Everything reached over `next`, the start included. */
function reached(start, next) {
  const found = new Set(start);
  const stack = [...start];
  while (stack.length) for (const n of next(stack.pop())) if (!found.has(n)) { found.add(n); stack.push(n); }
  return found;
}
const transitiveOperands = inst => reached([inst], i => i.operands);
const transitiveUsers = inst => reached([inst], i => i.users);

/** From this many users on a node is not expanded towards them. */
const kMostUsers = 16;

/**
 * The instructions within `radius` steps (tools.md §5.2): bitcasts do not count, operands of a tuple are
 * followed only from the centre, nodes of many users not towards them.
 */
function neighbourhood(centre, radius) {
  const distance = new Map([[centre, 0]]);
  let level = [centre];
  for (let d = 0; level.length; ) {
    const next = [];
    for (const inst of level) {
      const operands = inst !== centre && inst.opcode === 'tuple' ? [] : inst.operands;
      const users = inst !== centre && inst.users.length > kMostUsers ? [] : inst.users;
      for (const n of [...operands, ...users]) {
        const free = n.opcode === 'bitcast' || isWrittenIntoUsers(n);
        const at = distance.get(inst) + (free ? 0 : 1);
        if (at > radius || distance.has(n)) continue;
        distance.set(n, at);
        (free ? level : next).push(n);
      }
    }
    level = next;
    ++d;
  }
  return new Set(distance.keys());
}

/** The instructions on paths between two of one computation, in either direction; empty if there are none. */
function onPaths(a, b) {
  for (const [from, to] of [[a, b], [b, a]]) {
    const below = transitiveUsers(from);
    if (!below.has(to)) continue;
    const above = transitiveOperands(to);
    return new Set([...below].filter(i => above.has(i)));
  }
  return new Set();
}

/** A shortest path, as instructions from producer to user; null if there is none. */
function shortestPath(a, b) {
  for (const [from, to] of [[a, b], [b, a]]) {
    const before = new Map([[from, null]]);
    for (let level = [from]; level.length && !before.has(to);) {
      const next = [];
      for (const inst of level)
        for (const user of inst.users) if (!before.has(user)) { before.set(user, inst); next.push(user); }
      level = next;
    }
    if (!before.has(to)) continue;
    const path = [];
    for (let at = to; at; at = before.get(at)) path.unshift(at);
    return path;
  }
  return null;
}

/** Elements of all arrays in the text of a shape. */
function elementsOf(shape) {
  let total = 0;
  for (const [, dims] of shape.matchAll(/[a-z]\w*\[([\d,<= ]*)\]/g))
    total += dims.split(',').reduce((n, d) => d ? n * Number(d.replace(/\D/g, '')) : n, 1);
  return total;
}

/** The chain of calls that leads from the entry to a computation, as calling instructions. */
function callChain(computation) {
  const chain = [];
  const seen = new Set();
  for (let at = computation; at.callers.length && !seen.has(at); at = chain[0].computation) {
    seen.add(at);
    chain.unshift(at.callers[0]);
  }
  return chain;
}
