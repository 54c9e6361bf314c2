// Ways to group the instructions of a computation: for each instruction the names of the groups it is in.

/** What all paths have in common at the front. */
function commonPrefix(paths) {
  if (!paths.length) return [];
  let {length} = paths[0];
  for (const path of paths) {
    if (path === paths[0]) continue;
    let n = 0;
    while (n < length && path[n] === paths[0][n]) ++n;
    length = n;
  }
  return paths[0].slice(0, length);
}

/**
 * Paths by `own(instruction)`; those for which it is null stand with their users, else with their operands.
 * What has no operands stands in the innermost group that holds all its users.
 */
function inheritedPaths(instructions, own) {
  const path = new Map();
  for (const inst of instructions) {
    const mine = inst.operands.length || inst.control.length ? own(inst) : null;
    if (mine) path.set(inst, mine);
  }
  for (let n = instructions.length - 1; n >= 0; --n) {
    const inst = instructions[n];
    if (path.has(inst)) continue;
    const users = [];
    for (const u of inst.users)
      for (const through of isWrittenIntoUsers(u) ? u.users : [u]) if (path.has(through)) users.push(path.get(through));
    if (users.length) path.set(inst, inst.operands.length ? users[0] : commonPrefix(users));
  }
  for (const inst of instructions)
    if (!path.has(inst)) path.set(inst, inst.operands.map(o => path.get(o)).find(Boolean) ?? []);
  return instructions.map(i => path.get(i));
}

/** What follows tells groups of one name apart and is not shown. */
const kApart = '\u200b';

/** Instructions in one region stay a group; in large ones they are grouped by op_name. */
const kLargeRegion = 60;

/** The regions of a merged drawing: what `hlo-diff` does not draw one by one. */
function regionPaths(instructions, diffOf) {
  const regions = new Map();
  for (const inst of instructions) {
    if (!(inst.region > kDrawnAlone)) continue;
    let kinds = regions.get(inst.region);
    if (!kinds) regions.set(inst.region, kinds = new Map());
    const kind = diffOf(inst)?.kind ?? 'unchanged';
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const names = new Map();
  let isLarge = false;
  for (const [region, kinds] of regions) {
    const total = [...kinds.values()].reduce((a, b) => a + b, 0);
    isLarge ||= total > kLargeRegion;
    names.set(region, {path: [[...kinds].map(([kind, n]) => `${n} ${kind}`).join(', ') + kApart + region], total});
  }
  const inside = isLarge ? inheritedPaths(instructions, kGroupings['op-name'].own) : null;
  return instructions.map((inst, n) => {
    const found = names.get(inst.region);
    return !found ? [] : found.total > kLargeRegion ? [...found.path, ...inside[n]] : found.path;
  });
}

/** Unchanged instructions that are far from every change, as groups; `marked` tells of changes. */
function unchangedPaths(instructions, {marked, diffOf}) {
  if (instructions.some(i => i.region)) return regionPaths(instructions, diffOf);
  const here = new Set(instructions);
  const changed = instructions.filter(i => marked(i));
  if (!changed.length) return inheritedPaths(instructions, kGroupings['op-name'].own);
  const near = new Set(changed);
  for (const inst of changed) for (const n of [...inst.operands, ...inst.users]) near.add(standIn(n));
  const above = reached(changed, i => i.operands), below = reached(changed, i => i.users);
  const side = i => (above.has(i) ? 1 : 0) + (below.has(i) ? 2 : 0);
  // Connected regions of what is on the same side of the changes.
  const region = new Map();
  const sizes = [];
  for (const start of instructions) {
    if (near.has(start) || region.has(start)) continue;
    const id = sizes.length;
    const next = i => [...i.operands, ...i.users].filter(n => here.has(n) ? !near.has(n) && side(n) === side(start) : isWrittenIntoUsers(n));
    const all = reached([start], next);
    for (const i of all) if (here.has(i)) region.set(i, id);
    sizes.push([...all].filter(i => here.has(i)).length);
  }
  return instructions.map(i => {
    const id = region.get(i);
    return id === undefined || sizes[id] < 3 ? [] : [`${sizes[id]} unchanged` + kApart + id];
  });
}

/** The value of an attribute, `otherwise` without it. */
function attributeValue(inst, name, otherwise = '') {
  if (!inst.line.includes(name + '=', inst.argumentsEnd)) return otherwise;
  return attributesOf(inst).find(([n]) => n === name)?.[1] ?? otherwise;
}

/** The parts of a name between `/` but the last; the same array for the same front. */
const frontParts = (() => {
  const known = new Map();
  return name => {
    const front = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    let parts = known.get(front);
    if (!parts) known.set(front, parts = front.split('/').filter(Boolean));
    return parts;
  };
})();

/** JAX's transformations, and what they make of a part of a program; nothing where that is the part itself. */
const kTransforms = {jit: '', pjit: '', jvp: '', transpose: 'backward', vmap: 'batched', remat: 'recomputed', checkpoint: 'recomputed'};

/** Parts of an op_name in words: `transpose(jvp(layer))` is `layer, backward`. The same as in op_names.cc. */
function opNameTitle(path) {
  const parts = [], words = new Set();
  for (let part of path.split('/')) {
    for (let found; (found = /^(\w+)\((.*)\)$/.exec(part)) && Object.hasOwn(kTransforms, found[1]); part = found[2])
      if (kTransforms[found[1]]) words.add(kTransforms[found[1]]);
    if (part) parts.push(part);
  }
  return [parts.join('/') || (words.size ? 'program' : ''), ...words].join(', ');
}

/** By the words of --group-by. `paths(instructions, options)` has one path for each instruction. */
const kGroupings = {
  'op-name': {
    title: 'op_name',
    byName: true,  // titles of groups are names that the program gave
    own: inst => {
      const name = inst.opName;
      return name ? frontParts(name) : inst.layer ? [inst.layer] : null;
    },
    paths: instructions => inheritedPaths(instructions, kGroupings['op-name'].own),
  },
  computation: {title: 'computation', paths: instructions => instructions.map(() => [])},
  source: {
    title: 'source',
    paths: instructions => inheritedPaths(instructions, inst => {
      const source = inst.source;
      const colon = source.lastIndexOf(':');
      return source ? [source.slice(0, colon).split('/').slice(-2).join('/'), 'line ' + source.slice(colon + 1)] : null;
    }),
  },
  schedule: {
    title: 'schedule',
    paths: instructions => instructions.map((_, n) =>
      instructions.length <= 40 ? [] : [`steps ${n - n % 25}–${n - n % 25 + 24}`]),
  },
  device: {
    title: 'device',
    paths: instructions => instructions.map(i => {
      const sharding = attributeValue(i, 'sharding');
      return sharding ? [sharding] : [];
    }),
  },
  none: {title: 'nothing', paths: instructions => instructions.map(() => [])},
  diff: {title: 'changes', byName: true, paths: unchangedPaths},
};
