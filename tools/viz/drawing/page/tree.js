// What can be seen, as a tree: groups of instructions, instructions, and bodies of what they call.

/** A level with more children is cut into runs of consecutive instructions. */
const kMostChildren = 100;

/** A box of the drawing: an instruction, a group of instructions, or the body of a called computation. */
class Item {
  constructor(tree, parent, kind, key, label) {
    this.tree = tree;
    this.parent = parent;
    this.kind = kind;            // 'instruction', 'group', 'body'
    this.key = key;              // `main::dot.12`, `main::fusion.3>fused::add.1`, `main/layer_3`
    this.label = label;
    this.instruction = null;     // of kind 'instruction'
    this.region = null;          // what its own instructions belong to
    this.kids = null;
  }
  /** The label without what only tells it from others. */
  get title() {
    if (this.isRun) return this.label;
    const text = this.label.replace(/\u200b\d*/, '');
    return this.kind === 'group' && kGroupings[this.tree.options.groupBy]?.byName ? opNameTitle(text) : text;
  }
  get expandable() {
    return this.kind !== 'instruction' || this.tree.canExpand(this.instruction);
  }
  get expanded() { return this.tree.expanded.has(this.key); }
  get children() { return this.kids ??= this.tree.makeChildren(this); }
  /** The instructions of a group, in the order of the drawing. */
  get members() {
    if (!this.found) {
      this.found = [];
      for (const kid of this.kids) {
        if (kid.kind === 'instruction') this.found.push(kid.instruction);
        else for (const inst of kid.members) this.found.push(inst);
      }
    }
    return this.found;
  }
  /** Where in the program it is: of groups the middle one of their instructions, which a stray one does not move. */
  get middle() {
    if (this.kind === 'instruction') return this.instruction.id;
    return this.median ??= Int32Array.from(instructionsIn(this), i => i.id).sort()[instructionsIn(this).length >> 1];
  }
  /** Instructions inside, those of called computations included. */
  get size() {
    return this.count ??= this.kind === 'instruction'
      ? bodySize(this.instruction.called)
      : this.kind === 'body' ? bodySize([this.computation]) : this.members.length;
  }
}

const bodySize = computations => computations.reduce((n, c) => n + c.instructions.length, 0);

/** One drawing of a computation's instructions; a computation that is called twice can have two. */
class Region {
  constructor(owner, computation, instructions) {
    this.owner = owner;
    this.computation = computation;
    this.instructions = instructions;
    this.leafOf = new Map();       // instruction -> Item
  }
}

/** `add` if a computation is one operation on its two scalar parameters, else ''. */
function namedReducer(computation) {
  const {root, instructions} = computation;
  const fits = root && instructions.length === 3 && root.operands.length === 2 && !root.called.length &&
    instructions.every(i => i === root || (i.opcode === 'parameter' && /^\w+\[\]/.test(i.shape) && root.operands.includes(i)));
  return fits ? root.opcode : '';
}

/**
 * The tree of one computation, or of some of its instructions (`only`).
 * options: {computation, only, groupBy, marked(instruction)}
 */
class Tree {
  constructor(options) {
    this.options = options;
    this.expanded = new Set(['']);
    this.root = new Item(this, null, 'body', '', '%' + options.computation.name);
    this.root.computation = options.computation;
    this.itemsOf = new Map();        // instruction -> items that show it, as far as they were made
  }

  canExpand(inst) {
    return inst.called.some(c => inst.opcode === 'fusion' || !namedReducer(c));
  }

  makeChildren(item) {
    if (item.kind === 'group') return [];    // filled where the region is made
    if (item.kind === 'body') return this.makeRegion(item, item.computation, item === this.root ? this.options.only : null);
    const bodies = item.instruction.called.filter(c => item.instruction.opcode === 'fusion' || !namedReducer(c));
    if (bodies.length === 1) return this.makeRegion(item, bodies[0], null);
    return bodies.map(c => {
      const body = new Item(this, item, 'body', item.key + '>' + c.name, roleOf(item.instruction, c) + ' %' + c.name);
      body.computation = c;
      this.expanded.add(body.key);
      return body;
    });
  }

  /** Makes the items of a computation under their owner. */
  makeRegion(owner, computation, only) {
    const instructions = computation.instructions.filter(i => only ? only.has(i) : !isWrittenIntoUsers(i));
    const region = new Region(owner, computation, instructions);
    owner.inner = region;
    const groupBy = owner !== this.root && instructions.length <= 40 ? 'none' : this.options.groupBy;
    const paths = (kGroupings[groupBy] ?? kGroupings.none).paths(instructions, this.options);
    const prefix = owner.key ? owner.key + '>' : '';
    const top = {children: new Map(), instructions: []};
    instructions.forEach((inst, n) => {
      let at = top;
      for (const step of paths[n]) {
        let next = at.children.get(step);
        if (!next) at.children.set(step, next = {children: new Map(), instructions: []});
        at = next;
      }
      at.instructions.push(inst);
    });
    let start = top;
    while (start.instructions.length === 0 && start.children.size === 1) [start] = start.children.values();
    gatherParameters(start);
    return this.fill(owner, region, start, prefix + computation.name);
  }

  /** The children of `parent` for a node of the grouping. */
  fill(parent, region, node, key) {
    const items = [];
    for (const inst of node.instructions) items.push(this.leaf(parent, region, inst));
    for (const [step, child] of node.children) this.addGroup(items, parent, region, step, child, key);
    items.sort((a, b) => firstId(a) - firstId(b));
    return items.length > kMostChildren ? this.chunk(parent, region, items, key) : items;
  }

  addGroup(items, parent, region, step, child, key) {
    let label = step;
    while (child.instructions.length === 0 && child.children.size === 1) {
      const [[name, only]] = child.children;
      label += '/' + name;
      child = only;
    }
    if (child.children.size === 0 && child.instructions.length === 1) {
      items.push(this.leaf(parent, region, child.instructions[0]));
      return;
    }
    const group = new Item(this, parent, 'group', key + '/' + label, label);
    group.region = region;
    group.isParameters = child.isParameters ?? false;
    group.isRegion = step.includes(kApart);
    group.kids = this.fill(group, region, child, group.key);
    items.push(group);
  }

  leaf(parent, region, inst) {
    const prefix = region.owner.key ? region.owner.key + '>' : '';
    const item = new Item(this, parent, 'instruction', prefix + inst.key, inst.name);
    item.instruction = inst;
    item.region = region;
    region.leafOf.set(inst, item);
    const made = this.itemsOf.get(inst);
    if (made) made.push(item); else this.itemsOf.set(inst, [item]);
    return item;
  }

  /** Runs of consecutive items as groups, until a level is small. */
  chunk(parent, region, items, key) {
    const size = Math.max(12, Math.ceil(items.length / 32));
    const groups = items.filter(i => i.isParameters);
    items = items.filter(i => !i.isParameters);
    for (let from = 0; from < items.length; from += size) {
      const run = items.slice(from, from + size);
      const group = new Item(this, parent, 'group', `${key}/${from}+${run.length}`,
                             run.length > 1 ? `${run[0].label} … ${run[run.length - 1].label}` : run[0].label);
      group.region = region;
      group.isRun = true;
      group.kids = run.length > kMostChildren ? this.chunk(group, region, run, group.key) : run;
      for (const kid of group.kids) kid.parent = group;
      groups.push(group);
    }
    return groups;
  }

  /** Opens everything above an instruction and returns its item; the first of several callers is followed. */
  reveal(inst) {
    const made = (this.itemsOf.get(inst) ?? []).find(i => this.isVisible(i));
    if (made) return made;
    const root = this.root.computation;
    const chain = inst.computation === root ? [] : callChain(inst.computation);
    const from = chain.findIndex(c => c.computation === root);
    if (inst.computation !== root && from < 0) return null;
    let at = this.root;
    for (const caller of chain.slice(Math.max(from, 0))) {
      const item = this.open(at, caller);
      if (!item) return null;
      this.expanded.add(item.key);
      at = item.children.find(c => c.kind === 'body' && this.leads(c.computation, caller, inst)) ?? item;
      this.expanded.add(at.key);
    }
    return this.open(at, inst);
  }
  /** True if a body of `caller` holds the instruction or calls what does. */
  leads(body, caller, inst) {
    return body === inst.computation || callChain(inst.computation).some(c => c.computation === body);
  }

  /** The item of an instruction of a body, its groups opened. */
  open(owner, inst) {
    void owner.children;
    const item = owner.inner?.leafOf.get(inst) ?? owner.inner?.leafOf.get(standIn(inst));
    for (let at = item?.parent; at; at = at.parent) this.expanded.add(at.key);
    return item ?? null;
  }

  isVisible(item) {
    for (let at = item.parent; at; at = at.parent) if (!at.expanded) return false;
    return true;
  }

  /** The innermost visible item that shows or holds an item. */
  visibleOf(item) {
    let shown = item;
    for (let at = item.parent; at; at = at.parent) if (!at.expanded) shown = at;
    return shown;
  }

  /** Opens groups, the largest first, while at most `budget` boxes are seen; those that are alike together. */
  openWithin(budget) {
    let shown = this.root.children.length;
    // What runs and parameters hold is not worth the room.
    const worthwhile = i => i.expandable && !i.isParameters && !(i.isRun && i.kids[0].isRun);
    const closed = groupsOfAlike(this.root.children.filter(worthwhile));
    while (closed.length) {
      // Groups first, then runs from the start, then bodies where little else is to be seen, fusions last.
      const cost = ([i]) => i.isRun ? 0 : (i.kind === 'group' ? -1e7 : i.instruction?.opcode === 'fusion' ? 3e7 : 2e7) - i.size;
      closed.sort((a, b) => cost(a) - cost(b) || firstId(a[0]) - firstId(b[0]));
      const items = closed.shift();
      const more = items.reduce((n, i) => n + leavesShown(i) - 1, 0);
      if (shown + more > (items[0].instruction && shown > 12 ? budget / 2 : budget)) continue;
      shown += more;
      for (const item of items) this.expanded.add(item.key);
      const inside = items.flatMap(i => i.children).flatMap(kid => kid.kind === 'body' ? kid.children : [kid]);
      closed.push(...groupsOfAlike(inside.filter(worthwhile)));
    }
  }
}

/** Groups whose names differ in numbers alone, as `layer_1` and `layer_2`, together; everything else by itself. */
function groupsOfAlike(items) {
  const alike = new Map();
  for (const item of items) {
    const key = item.kind === 'group' && !item.isRun ? item.label.replace(/\d+/g, '0') : item.key;
    if (alike.has(key)) alike.get(key).push(item); else alike.set(key, [item]);
  }
  return [...alike.values()];
}

const leavesShown = item => item.children.reduce((n, c) => n + (c.kind === 'body' ? c.children.length : 1), 0);
const firstId = item => item.kind === 'instruction' ? item.instruction.id : firstId(item.kids[0]);

/** The instruction in whose node a constant or tuple element is written. */
function standIn(inst) {
  while (isWrittenIntoUsers(inst)) inst = inst.opcode === 'constant' ? inst.users[0] : inst.operands[0];
  return inst;
}

/** Many parameters on one level become a group. */
function gatherParameters(node) {
  const parameters = node.instructions.filter(i => i.opcode === 'parameter');
  if (parameters.length <= 8 || parameters.length === node.instructions.length && !node.children.size) return;
  node.instructions = node.instructions.filter(i => i.opcode !== 'parameter');
  node.children.set('parameters', {children: new Map(), instructions: parameters, isParameters: true});
}

/** `body`, `condition`, `branch 2`: what a computation is to its caller. */
function roleOf(caller, computation) {
  for (const [name, value] of attributesOf(caller)) {
    const at = namesIn(value, 0, value.length).findIndex(n => computation.writtenNames.includes(n));
    if (at >= 0) return name === 'branch_computations' ? 'branch ' + at : name;
  }
  return 'calls';
}
