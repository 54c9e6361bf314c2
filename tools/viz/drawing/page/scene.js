// The drawing as nested levels: every open box has a layout of its own, which is kept until it changes.

const kInset = 14, kHeadHeight = 28;
/** Ends with more edges on one level show them only when selected. */
const kHub = 24;

/** The instructions whose values an instruction uses, looking through what is written into users. */
function sourcesOf(inst) {
  return inst.sources ??= inst.operands.map(o => {
    while (isWrittenIntoUsers(o)) { if (o.opcode === 'constant') return null; o = o.operands[0]; }
    return o;
  });
}
/** [user, is control] of everything that uses an instruction's value. */
function targetsOf(inst) {
  return inst.targets ??= inst.users.flatMap(u => isWrittenIntoUsers(u) ? targetsOf(u) : [u]);
}

/** Which operand of the caller a parameter of a called computation is; -1: none. */
function operandOfParameter(caller, computation, parameter) {
  const number = Number(parameter.argumentText);
  if (caller.opcode === 'while') return 0;
  if (caller.opcode === 'conditional') {
    const branch = caller.called.indexOf(computation);
    return number === 0 ? branch + 1 : -1;
  }
  return ['fusion', 'call', 'async-start', 'custom-call', 'map'].includes(caller.opcode) ? number : -1;
}

/** The child of `parent` that holds an item; null if the item is elsewhere. */
function childHolding(parent, item) {
  let at = item;
  while (at && at.parent !== parent) at = at.parent;
  return at;
}

/** One open box: its children with places relative to its inner corner, edges, ports. */
class Level {
  constructor(item) {
    this.item = item;
    this.boxes = [];               // {item, x, y, w, h, label, level?}
    this.boxOf = new Map();
    this.edges = [];               // {from, to: item or port key, route, control, operands, hidden}
    this.inPorts = new Map();      // key -> x
    this.outPorts = new Map();
    this.w = this.h = 0;
  }
}

class Scene {
  constructor(tree, show) {
    this.tree = tree;
    this.show = show;
    this.layoutMs = 0;
  }

  get root() { return this.levelOf(this.tree.root); }

  levelOf(item) {
    if (!item.level) {
      const begin = now();
      item.level = this.makeLevel(item);
      this.layoutMs = now() - begin;
    }
    return item.level;
  }

  /** Forgets the layouts that depend on a box being open or closed. */
  changed(item) {
    for (let at = item; at; at = at.parent) at.level = null;
  }

  toggle(item, open) {
    const {expanded} = this.tree;
    if (open === expanded.has(item.key) || !item.expandable) return;
    if (open) expanded.add(item.key); else expanded.delete(item.key);
    // The bodies of a call open with it.
    if (open) for (const child of item.children) if (child.kind === 'body') expanded.add(child.key);
    this.changed(item);
  }

  makeLevel(item) {
    const level = new Level(item);
    for (const child of item.children) {
      const label = sizeLabel(labelOf(child, this.show), child);
      const box = {item: child, x: 0, y: 0, w: label.w, h: label.h, label};
      if (child.expanded) {
        box.level = this.levelOf(child);
        box.w = Math.max(box.level.w + 2 * kInset, measure(label.title, kTitleFont) + 70);
        box.h = box.level.h + kHeadHeight + kInset;
      }
      level.boxes.push(box);
      level.boxOf.set(child, box);
    }
    this.place(level, edgesOf(item, this.show.has('control')));
    return level;
  }

  place(level, edges) {
    const nodes = level.boxes.map(b => ({w: b.w, h: b.h, at: b.item.middle, mass: b.item.kind === 'group' ? b.item.size : 1}));
    const index = new Map(level.boxes.map((b, n) => [b.item, n]));
    const portNode = (key, side) => {
      const id = side + key;
      if (!index.has(id)) { index.set(id, nodes.length); nodes.push({w: 6, h: 0, side, key}); }
      return index.get(id);
    };
    markHubs(edges, level.boxes.length);
    const lines = edges.map(e => {
      const from = typeof e.from === 'string' ? portNode(e.from, 'top') : index.get(e.from);
      const to = typeof e.to === 'string' ? portNode(e.to, 'bottom') : index.get(e.to);
      return {from, to, hidden: e.hidden, fromX: attachment(level, e.from, e.to, 'outPorts'),
              toX: attachment(level, e.to, e.from, 'inPorts')};
    });
    const layout = layoutGraph(nodes, lines);
    level.boxes.forEach((b, n) => { b.x = layout.x[n] - b.w / 2; b.y = layout.y[n]; });
    nodes.forEach((n, i) => { if (n.side) (n.side === 'top' ? level.inPorts : level.outPorts).set(n.key, layout.x[i]); });
    edges.forEach((e, n) => {
      e.route = layout.routes[n];
      e.goesOn = lines[n].toX !== null;
      if (!e.route) return;
      // Edges from the sides begin at the border: above lies the title, below the inset.
      if (typeof e.from === 'string') e.route[1] -= kHeadHeight;
      if (typeof e.to === 'string') e.route[e.route.length - 1] += kInset;
      e.bounds = boundsOf(e.route);
    });
    level.edges = edges;
    level.w = layout.width;
    level.h = layout.height;
  }

  /** Where a visible item is, in coordinates of the drawing: {x, y, w, h}. */
  boxOf(item) {
    let x = 0, y = 0;
    const box = item.parent && this.levelOf(item.parent).boxOf.get(item);
    if (!box) return item === this.tree.root ? {x: 0, y: 0, w: this.root.w, h: this.root.h} : null;
    for (let at = item; at.parent; at = at.parent) {
      const b = this.levelOf(at.parent).boxOf.get(at);
      x += b.x; y += b.y;
      if (at !== item) { const [dx, dy] = innerCorner(b); x += dx; y += dy; }
    }
    return {x, y, w: box.w, h: box.h, label: box.label, item};
  }

  /** Calls `visit(box, x, y, level)` for the visible boxes, outer ones first. */
  walk(visit, level = this.root, x = 0, y = 0) {
    for (const box of level.boxes) {
      const inside = visit(box, x + box.x, y + box.y, level);
      if (!box.level || inside === false) continue;
      const [dx, dy] = innerCorner(box);
      this.walk(visit, box.level, x + box.x + dx, y + box.y + dy);
    }
  }

  /** The innermost box at a point; null between boxes. */
  at(x, y) {
    let found = null;
    this.walk((box, bx, by) => {
      if (x < bx || x > bx + box.w || y < by || y > by + box.h) return false;
      found = box.item;
      return true;
    });
    return found;
  }
}

const now = () => performance.now();
/** Where the coordinates of an open box's children begin. */
const innerCorner = box => [(box.w - box.level.w) / 2, kHeadHeight];

/** How far from the centre of a box an edge ends: at a port if the box is open and has one, else null. */
function attachment(level, end, other, ports) {
  const box = typeof end === 'string' ? null : level.boxOf.get(end);
  if (!box?.level) return null;
  const key = typeof other === 'string' ? other : other.key;
  const x = box.level[ports].get(key) ?? box.level[ports].get('*');
  return x === undefined ? null : x - box.level.w / 2;
}

function boundsOf(route) {
  const b = {left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity};
  for (let n = 0; n < route.length; n += 2) {
    b.left = Math.min(b.left, route[n]); b.right = Math.max(b.right, route[n]);
    b.top = Math.min(b.top, route[n + 1]); b.bottom = Math.max(b.bottom, route[n + 1]);
  }
  return b;
}

/** Edges at ends that have very many are not drawn by default: they would hide all others. */
function markHubs(edges, boxes) {
  if (boxes < kHub) return;
  const out = new Map(), into = new Map();
  for (const e of edges) { out.set(e.from, (out.get(e.from) ?? 0) + 1); into.set(e.to, (into.get(e.to) ?? 0) + 1); }
  for (const e of edges) e.hidden = out.get(e.from) > kHub || into.get(e.to) > kHub;
}

// --- edges of a level ---

/** How the surroundings of `item` see an instruction outside of it: a sibling's key, or a port further out. */
function outsideKey(item, inst) {
  const parent = item.parent;
  if (!parent || !item.region) return null;
  const leaf = item.region.leafOf.get(inst);
  const sibling = leaf && childHolding(parent, leaf);
  if (sibling) return sibling.key;
  return parent.kind === 'group' ? outsideKey(parent, inst) : null;
}

/** Collects edges between the children of one box; equal ends make one edge. */
class EdgeList {
  constructor() { this.byEnds = new Map(); }
  /** `side`: of merged modules, which of them has the edge. */
  add(from, to, control, operand, side = 'both') {
    if (!from || !to || from === to) return;
    const id = (from.key ?? from) + '\u0000' + (to.key ?? to);
    let edge = this.byEnds.get(id);
    if (!edge) this.byEnds.set(id, edge = {from, to, control: true, operands: [], count: 0, hidden: false, elements: 0, side});
    if (edge.side !== side) edge.side = 'both';
    edge.control &&= control;
    ++edge.count;
    if (operand >= 0 && edge.operands.length < 4) edge.operands.push(operand);
    return edge;
  }
}

function edgesOf(item, control) {
  const list = new EdgeList();
  const region = item.inner ?? (item.kind === 'group' ? item.region : null);
  if (region) regionEdges(item, region, list, control);
  if (item.kind === 'instruction' || item.kind === 'body') bodyPorts(item, list);
  return [...list.byEnds.values()];
}

function regionEdges(item, region, list, control) {
  const members = item.inner ? region.instructions : item.members;
  const held = inst => { const leaf = region.leafOf.get(inst); return leaf ? childHolding(item, leaf) : null; };
  for (const inst of members) {
    const mine = held(inst);
    const use = (source, isControl, operand, side) => {
      if (!source) return;
      const edge = list.add(held(source) ?? outsideKey(item, source), mine, isControl, operand, side);
      if (edge && !isControl) edge.elements = Math.max(edge.elements, source.elements ??= elementsOf(source.shape));
    };
    sourcesOf(inst).forEach((source, n) => {
      const side = inst.sides?.[n];
      use(source, false, side === 'old' && inst.right ? -1 : n, side);
    });
    if (control) for (const source of inst.control) use(standIn(source), true, -1);
    if (item.kind !== 'group') continue;
    for (const target of targetsOf(inst))
      if (!held(target)) list.add(mine, outsideKey(item, target), false, -1);
  }
}

/** Edges between the sides of a called body and its parameters and root. */
function bodyPorts(item, list) {
  const caller = item.kind === 'instruction' ? item : item.parent;
  if (!caller?.instruction) return;
  const operandKey = (computation, parameter) => {
    const operand = operandOfParameter(caller.instruction, computation, parameter);
    const source = operand < 0 ? null : sourcesOf(caller.instruction)[operand];
    return source ? outsideKey(caller, source) : null;
  };
  if (!item.inner) {
    for (const body of item.children) {
      for (const p of body.computation.instructions)
        if (p.opcode === 'parameter') list.add(operandKey(body.computation, p), body, false, -1);
      if (roleOf(caller.instruction, body.computation) !== 'condition') list.add(body, '*', false, -1);
    }
    return;
  }
  const {computation, leafOf} = item.inner;
  const child = inst => { const leaf = leafOf.get(inst); return leaf ? childHolding(item, leaf) : null; };
  for (const p of computation.instructions)
    if (p.opcode === 'parameter') list.add(operandKey(computation, p), child(p), false, -1);
  list.add(child(computation.root), '*', false, -1);
}
