// Layered layout, first half: in which row every node stands.

/** Space between neighbours in a row. */
const kNodeGap = 26, kLaneGap = 9, kLaneWidth = 3;
/** Points of edges between rows, in one drawing; longer edges beyond are not routed. */
const kMostLanes = 6000;

/** The number of the strongly connected part of every node (Tarjan's method, without recursion). */
function connectedParts(out) {
  const count = out.length;
  const part = new Int32Array(count).fill(-1), index = new Int32Array(count).fill(-1), low = new Int32Array(count);
  const open = [];
  let next = 0, parts = 0;
  for (let start = 0; start < count; ++start) {
    if (index[start] >= 0) continue;
    const stack = [[start, 0]];
    while (stack.length) {
      const top = stack[stack.length - 1], [node] = top;
      if (top[1] === 0) { index[node] = low[node] = next++; open.push(node); }
      const to = out[node][top[1]++];
      if (to === undefined) {
        stack.pop();
        if (stack.length) { const above = stack[stack.length - 1][0]; low[above] = Math.min(low[above], low[node]); }
        if (low[node] !== index[node]) continue;
        let member;
        do { member = open.pop(); part[member] = parts; } while (member !== node);
        ++parts;
      } else if (index[to] < 0) {
        stack.push([to, 0]);
      } else if (part[to] < 0) {
        low[node] = Math.min(low[node], index[to]);
      }
    }
  }
  return part;
}

/**
 * Turns edges so that there are no cycles. Returns {from, to, edge, turned}; loops are left out. Within a cycle
 * nodes stand in the order of `at`, then of their numbers, and edges against it are turned.
 */
function withoutCycles(nodes, edges) {
  const out = nodes.map(() => []);
  for (const e of edges) if (e.from !== e.to) out[e.from].push(e.to);
  const part = connectedParts(out);
  const place = n => nodes[n].at ?? 0;
  const links = [];
  edges.forEach((e, n) => {
    if (e.from === e.to) return;
    const turn = part[e.from] === part[e.to] && (place(e.from) - place(e.to) || e.from - e.to) > 0;
    links.push({from: turn ? e.to : e.from, to: turn ? e.from : e.to, edge: n, turned: turn});
  });
  return links;
}

/** Lists of links by their ends. */
function adjacency(count, links) {
  const above = Array.from({length: count}, () => []), below = Array.from({length: count}, () => []);
  for (const link of links) { above[link.to].push(link.from); below[link.from].push(link.to); }
  return {above, below};
}

function topologicalOrder(count, {above, below}) {
  const missing = above.map(a => a.length);
  const order = [];
  for (let n = 0; n < count; ++n) if (!missing[n]) order.push(n);
  for (let at = 0; at < order.length; ++at) for (const b of below[order[at]]) if (--missing[b] === 0) order.push(b);
  return order;
}

/**
 * The row of every node: below all that it uses. Nodes with more users than operands stand directly above
 * their first user. Ports of the upper side are in row 0, of the lower side in the last.
 */
function assignRows(nodes, links) {
  const graph = adjacency(nodes.length, links);
  const order = topologicalOrder(nodes.length, graph);
  const first = nodes.some(n => n.side === 'top') ? 1 : 0;
  const row = new Int32Array(nodes.length);
  for (const n of order)
    row[n] = nodes[n].side === 'top' ? 0 : graph.above[n].reduce((r, a) => Math.max(r, row[a] + 1), first);
  for (let at = order.length - 1; at >= 0; --at) {
    const n = order[at];
    if (nodes[n].side || !graph.below[n].length || graph.above[n].length >= graph.below[n].length && graph.above[n].length) continue;
    const users = graph.below[n].filter(b => nodes[b].side !== 'bottom');
    if (users.length) row[n] = Math.max(row[n], Math.min(...users.map(b => row[b])) - 1);
  }
  limitWidth(nodes, graph, row, first);
  // Rows that stay empty take no room.
  const used = [...new Set([...row].filter((_, n) => nodes[n].side !== 'bottom'))].sort((a, b) => a - b);
  const dense = new Map(used.map((r, n) => [r, n]));
  nodes.forEach((n, i) => { if (n.side !== 'bottom') row[i] = dense.get(row[i]); });
  const last = Math.max(0, ...nodes.map((n, i) => n.side === 'bottom' ? 0 : row[i])) + 1;
  nodes.forEach((n, i) => { if (n.side === 'bottom') row[i] = last; });
  return row;
}

/** Breaks rows that are far wider than the drawing should be; what stands below moves down. */
function limitWidth(nodes, graph, row, first) {
  const inside = nodes.map((_, n) => n).filter(n => !nodes[n].side);
  const area = inside.reduce((a, n) => a + (nodes[n].w + kNodeGap) * (nodes[n].h + 40), 0);
  const limit = Math.max(1250, Math.sqrt(area) * 1.5);
  const width = new Map();
  for (const n of inside) width.set(row[n], (width.get(row[n]) ?? 0) + nodes[n].w + kNodeGap);
  if (![...width.values()].some(w => w > limit * 1.1)) return;
  const placed = new Map();
  let waiting = inside.slice().sort((a, b) => row[a] - row[b] || a - b);
  for (let r = first; waiting.length; ++r) {
    let used = 0;
    const later = [];
    for (const n of waiting) {
      const ready = row[n] <= r && graph.above[n].every(a => nodes[a].side || placed.get(a) < r);
      if (ready && (used === 0 || used + nodes[n].w + kNodeGap <= limit)) {
        placed.set(n, r);
        used += nodes[n].w + kNodeGap;
      } else {
        later.push(n);
      }
    }
    waiting = later;
  }
  for (const [n, r] of placed) row[n] = r;
}

/**
 * The rows with lanes for edges that pass rows. Slots are nodes, then lanes; edges of one source and
 * attachment share their lanes. Returns {rows, slots, joints, paths}: joints join slots of neighbouring
 * rows, paths[edge] are the slots from top to bottom, null for edges that are not routed.
 */
function makeRows(nodes, edges, links, row) {
  const slots = nodes.map((n, i) => ({w: n.w, h: n.h, mass: n.mass ?? 1, row: row[i], node: i, up: [], down: []}));
  const rows = [];
  const place = slot => { (rows[slot.row] ??= []).push(slot); };
  slots.forEach(place);
  const paths = edges.map(() => null);
  const lanes = new Map();
  let spent = 0;
  const routed = links.filter(l => !edges[l.edge].hidden)
    .sort((a, b) => (row[a.to] - row[a.from]) - (row[b.to] - row[b.from]) || a.edge - b.edge);
  for (const link of routed) {
    const edge = edges[link.edge];
    const fromX = (link.turned ? edge.toX : edge.fromX) ?? 0, toX = (link.turned ? edge.fromX : edge.toX) ?? 0;
    const key = link.from + ':' + fromX;
    const path = [slots[link.from]];
    for (let r = row[link.from] + 1; r < row[link.to]; ++r) {
      const laneKey = key + ':' + r;
      let lane = lanes.get(laneKey);
      if (!lane) {
        if (++spent > kMostLanes) break;
        lane = {w: kLaneWidth, h: 0, row: r, node: -1, up: [], down: []};
        lanes.set(laneKey, lane);
        place(lane);
        join(path[path.length - 1], lane, r === row[link.from] + 1 ? fromX : 0, 0);
      }
      path.push(lane);
    }
    if (path.length !== row[link.to] - row[link.from]) continue;
    join(path[path.length - 1], slots[link.to], path.length === 1 ? fromX : 0, toX);
    path.push(slots[link.to]);
    const hasPort = (link.turned ? edge.fromX : edge.toX) ?? null;
    paths[link.edge] = {slots: path, fromX, toX, turned: link.turned, hasPort: hasPort !== null};
  }
  for (let r = 0; r < rows.length; ++r) rows[r] ??= [];
  return {rows, slots, paths};
}

/** Straight lanes matter most, then edges into lanes, then those between nodes. */
function join(upper, lower, upperX, lowerX) {
  const weight = upper.node < 0 && lower.node < 0 ? 8 : upper.node < 0 || lower.node < 0 ? 2 : 1;
  upper.down.push({slot: lower, mine: upperX, theirs: lowerX, weight});
  lower.up.push({slot: upper, mine: lowerX, theirs: upperX, weight});
}
