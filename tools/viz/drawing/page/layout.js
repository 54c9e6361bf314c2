// Layered layout, second half: the order in the rows, coordinates, routes of edges.

/**
 * Lays out a graph from top to bottom (Sugiyama's method).
 * nodes: {w, h, at?, mass?, side?: 'top'|'bottom'} (at: where in the program; mass: how much it holds; sides:
 * ports of the surrounding box); edges: {from, to, fromX?, toX?,
 * hidden?}: attachments are offsets from the centre; hidden edges only say what stands below what.
 * Returns {x, y, width, height, routes}: x are centres, y tops; a route is a list of points, in turn joined
 * by a straight line and by a curve, or null if the edge is not drawn.
 */
function layoutGraph(nodes, edges) {
  const links = withoutCycles(nodes, edges);
  const row = assignRows(nodes, links);
  const {rows, slots, paths} = makeRows(nodes, edges, links, row);
  orderRows(rows);
  placeRows(rows);
  const bands = stackRows(rows);
  const result = {x: slots.map(s => s.x), y: slots.map(s => bands[s.row].top), width: 0, height: 0, routes: []};
  let left = Infinity, right = -Infinity;
  for (const r of rows) for (const s of r) { left = Math.min(left, s.x - s.w / 2); right = Math.max(right, s.x + s.w / 2); }
  if (left > right) left = right = 0;
  for (const r of rows) for (const s of r) s.x -= left;
  result.x = slots.map(s => s.x);
  result.width = right - left;
  result.height = bands.length ? bands[bands.length - 1].bottom : 0;
  spreadEnds(paths);
  result.routes = paths.map(p => p && routeOf(p, bands));
  return result;
}

// --- order ---

/** Where an attachment stands in its row: the place of the slot and, within it, the offset. */
const placeOf = (slot, offset) => slot.place + offset / (slot.w + 1);

function numberRow(row) { row.forEach((s, n) => { s.place = n; }); }

/** Sorts a row by the mean place of its neighbours in the row before (`up`) or after (`down`). */
function sortRow(row, side) {
  for (const s of row) {
    const joints = s[side];
    if (!joints.length) { s.wish = s.place; continue; }
    let sum = 0, weight = 0;
    for (const j of joints) { const w = j.weight; sum += w * (placeOf(j.slot, j.theirs) - j.mine / (s.w + 1)); weight += w; }
    s.wish = sum / weight;
  }
  const fixed = row.filter(s => !s[side].length);
  const free = row.filter(s => s[side].length).sort((a, b) => a.wish - b.wish || a.place - b.place);
  // What has no neighbours on this side keeps its place.
  const sorted = [];
  for (const s of fixed) { while (free.length && sorted.length < s.place) sorted.push(free.shift()); sorted.push(s); }
  sorted.push(...free);
  row.splice(0, row.length, ...sorted);
  numberRow(row);
}

/** Crossings between a row and the next one. */
function crossings(row, next) {
  const ends = [];
  for (const s of row) for (const j of s.down) ends.push([placeOf(s, j.mine), placeOf(j.slot, j.theirs)]);
  ends.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const sorted = [...new Set(ends.map(e => e[1]))].sort((a, b) => a - b);
  const index = new Map(sorted.map((v, n) => [v, n + 1]));
  const tree = new Int32Array(sorted.length + 1);
  let count = 0, seen = 0;
  for (const [, to] of ends) {
    const at = index.get(to);
    let smaller = 0;
    for (let i = at; i > 0; i -= i & -i) smaller += tree[i];
    count += seen - smaller;
    ++seen;
    for (let i = at; i < tree.length; i += i & -i) ++tree[i];
  }
  return next ? count : 0;
}
const allCrossings = rows => rows.reduce((n, r, i) => n + crossings(r, rows[i + 1]), 0);

/** Sweeps down and up as long as crossings get fewer; the best order is kept. */
function orderRows(rows) {
  rows.forEach(numberRow);
  const slots = rows.reduce((n, r) => n + r.length, 0);
  const sweeps = slots > 3000 ? 4 : slots > 800 ? 8 : 16;
  for (let r = 1; r < rows.length; ++r) sortRow(rows[r], 'up');
  let best = allCrossings(rows), order = rows.map(r => r.slice()), idle = 0;
  for (let n = 0; n < sweeps && best > 0 && idle < 4; ++n) {
    if (n % 2 === 0) for (let r = rows.length - 2; r >= 0; --r) sortRow(rows[r], 'down');
    else for (let r = 1; r < rows.length; ++r) sortRow(rows[r], 'up');
    if (slots < 1500) exchangeNeighbours(rows);
    const count = allCrossings(rows);
    ++idle;
    if (count < best) { best = count; order = rows.map(r => r.slice()); idle = 0; }
  }
  rows.forEach((r, n) => { r.splice(0, r.length, ...order[n]); numberRow(r); });
}

/** Crossings between the edges of two slots if `a` stands left of `b`. */
function pairCrossings(a, b) {
  let count = 0;
  for (const side of ['up', 'down'])
    for (const p of a[side]) for (const q of b[side])
      if (placeOf(p.slot, p.theirs) > placeOf(q.slot, q.theirs)) ++count;
  return count;
}

function exchangeNeighbours(rows) {
  for (const row of rows)
    for (let n = 0; n + 1 < row.length; ++n) {
      const a = row[n], b = row[n + 1];
      if (a.up.length + a.down.length > 24 || b.up.length + b.down.length > 24) continue;
      if (pairCrossings(a, b) <= pairCrossings(b, a)) continue;
      row[n] = b; row[n + 1] = a;
      b.place = n; a.place = n + 1;
    }
}

// --- coordinates ---

const gapBetween = (a, b) => (a.node < 0 && b.node < 0 ? kLaneGap : a.node < 0 || b.node < 0 ? (kNodeGap + kLaneGap) / 2 : kNodeGap);

/**
 * Places a row as close to its wishes as its order allows: least squares under minimal distances, which is
 * isotonic regression and solved by pooling neighbours that want past each other.
 */
function settleRow(row) {
  const blocks = [];
  let offset = 0;
  row.forEach((s, n) => {
    if (n) offset += (row[n - 1].w + s.w) / 2 + gapBetween(row[n - 1], s);
    s.offset = offset;
    let block = {sum: s.pull * (s.wish - offset), weight: s.pull, count: 1};
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight > block.sum / block.weight) {
      const before = blocks.pop();
      block = {sum: before.sum + block.sum, weight: before.weight + block.weight, count: before.count + block.count};
    }
    blocks.push(block);
  });
  let n = 0;
  for (const block of blocks) {
    const at = block.sum / block.weight;
    for (let k = 0; k < block.count; ++k, ++n) row[n].x = at + row[n].offset;
  }
}

/** Wishes of a row by the neighbours on some sides. */
function wishRow(row, sides) {
  for (const s of row) {
    let sum = 0, weight = 0;
    for (const side of sides)
      for (const j of s[side]) { sum += j.weight * (j.slot.x + j.theirs - j.mine); weight += j.weight; }
    s.wish = weight ? sum / weight : s.x * 0.7;
    s.pull = weight ? weight : 0.05;
  }
}

function placeRows(rows) {
  for (const row of rows) {
    let x = 0;
    row.forEach((s, n) => { if (n) x += (row[n - 1].w + s.w) / 2 + gapBetween(row[n - 1], s); s.x = x; });
    for (const s of row) s.x -= x / 2;
  }
  const passes = rows.reduce((n, r) => n + r.length, 0) > 3000 ? 4 : 10;
  for (let n = 0; n < passes; ++n) {
    for (let r = 1; r < rows.length; ++r) { wishRow(rows[r], ['up']); settleRow(rows[r]); }
    for (let r = rows.length - 2; r >= 0; --r) { wishRow(rows[r], ['down']); settleRow(rows[r]); }
  }
  for (let n = 0; n < passes; ++n) {
    for (let r = 0; r < rows.length; ++r) { wishRow(rows[r], ['up', 'down']); settleRow(rows[r]); }
    if (n >= 2) straighten(rows);
  }
}

/** Of several neighbours one leads a chain on if it holds so many times what any other does. */
const kChainMass = 3;

/** The joint to the only node on a side, or to one that holds far more than the others; lanes do not count. */
function leadingJoint(joints) {
  let first = null, second = 0;
  for (const j of joints) {
    if (j.slot.node < 0) continue;
    if (!first || j.slot.mass > first.slot.mass) { second = Math.max(second, first?.slot.mass ?? 0); first = j; }
    else second = Math.max(second, j.slot.mass);
  }
  return first && first.slot.mass >= second * kChainMass ? first : null;
}

/** The slot right below which a slot wants to stand: for lanes of one edge, and links of a chain. */
function chainAbove(slot) {
  if (slot.node < 0) return slot.up.length === 1 && slot.up[0].slot.node < 0 ? slot.up[0].slot : null;
  const joint = leadingJoint(slot.up);
  return joint && !joint.mine && !joint.theirs && leadingJoint(joint.slot.down)?.slot === slot ? joint.slot : null;
}

/** Runs of such slots get straight: all go to the middle of their run, lanes not further aside than their ends. */
function straighten(rows) {
  const runs = new Map();
  for (const row of rows)
    for (const s of row) {
      s.run = chainAbove(s)?.run ?? s;
      if (s.run === s) runs.set(s, {xs: [], left: Infinity, right: -Infinity});
      const run = runs.get(s.run);
      run.xs.push(s.x);
      if (s.node >= 0) continue;
      for (const j of [...s.up, ...s.down])
        if (j.slot.node >= 0) { run.left = Math.min(run.left, j.slot.x + j.theirs); run.right = Math.max(run.right, j.slot.x + j.theirs); }
    }
  for (const run of runs.values()) {
    run.xs.sort((a, b) => a - b);
    const middle = run.xs[run.xs.length >> 1];
    run.middle = run.left > run.right ? middle : Math.min(run.right, Math.max(run.left, middle));
    run.isAside = run.middle !== middle;
  }
  for (const row of rows) {
    wishRow(row, ['up', 'down']);
    for (const s of row) {
      const run = runs.get(s.run);
      if (run.xs.length < 2) continue;
      s.wish = run.middle;
      // Lanes that cannot stand between their ends do not push chains out of line.
      s.pull = s.node >= 0 ? 8 + 2 * Math.min(run.xs.length, 20) : run.isAside ? 0.5 : 30;
    }
    settleRow(row);
  }
}

/** Heights of rows and the gaps between them: far horizontal ways get more room. */
function stackRows(rows) {
  const bands = [];
  let y = 0;
  for (const row of rows) {
    const height = Math.max(0, ...row.map(s => s.h));
    bands.push({top: y, bottom: y + height});
    let far = 0;
    for (const s of row) for (const j of s.down) far = Math.max(far, Math.abs(s.x + j.mine - j.slot.x - j.theirs));
    y += height + Math.min(90, 30 + far * 0.07);
  }
  return bands;
}

// --- edges ---

/** Ends of edges at one node stand side by side, in the order of where they come from. */
function spreadEnds(paths) {
  const ends = new Map();
  for (const path of paths) {
    if (!path || path.hasPort) continue;
    const node = path.slots[path.slots.length - 1];
    if (ends.has(node)) ends.get(node).push(path); else ends.set(node, [path]);
  }
  for (const [node, list] of ends) {
    if (list.length < 2 || node.w < 30) continue;
    const from = p => p.slots[p.slots.length - 2].x + (p.slots.length === 2 ? p.fromX : 0);
    list.sort((a, b) => from(a) - from(b));
    const step = Math.min(18, (node.w - 24) / (list.length - 1));
    list.forEach((p, n) => { p.toX = (n - (list.length - 1) / 2) * step; });
  }
}

/** Points of an edge: a line, a curve, a line … from the bottom of the upper node to the top of the lower. */
function routeOf({slots, fromX, toX, turned}, bands) {
  const [upper, lower] = [slots[0], slots[slots.length - 1]];
  const points = [];
  const at = (x, y) => points.push(x, y);
  at(upper.x + fromX, bands[upper.row].top + upper.h);
  at(upper.x + fromX, bands[upper.row].bottom);
  for (const lane of slots.slice(1, -1)) {
    at(lane.x, bands[lane.row].top);
    at(lane.x, bands[lane.row].bottom);
  }
  at(lower.x + toX, bands[lower.row].top);
  at(lower.x + toX, bands[lower.row].top);
  if (!turned) return points;
  const back = [];
  for (let n = points.length - 2; n >= 0; n -= 2) back.push(points[n], points[n + 1]);
  return back;
}
