// Paints a scene on a canvas, or on anything with its methods (svg.js).

const kRound = 7, kHeadLength = 7;

/**
 * One painting. `look`: {theme, colours, scale, view: {left, top, right, bottom} or null, selected (item),
 * highlight: Map(instruction -> 'operand'|'user'|'path') or null, diffOf, notes: Map, only}
 */
class Painter {
  constructor(context, scene, look) {
    this.c = context;
    this.scene = scene;
    this.look = look;
    this.drawn = 0;
    this.taken = [];                 // where enlarged texts stand
  }

  paint() { this.paintLevel(this.scene.root, 0, 0, 0); }

  inView(left, top, right, bottom) {
    const v = this.look.view;
    return !v || (left <= v.right && right >= v.left && top <= v.bottom && bottom >= v.top);
  }

  paintLevel(level, x, y, depth) {
    const seen = level.boxes.filter(b => this.inView(x + b.x, y + b.y, x + b.x + b.w, y + b.y + b.h));
    for (const box of seen) if (box.level) this.paintOpen(box, x + box.x, y + box.y, depth);
    this.paintEdges(level, x, y);
    for (const box of seen) {
      ++this.drawn;
      if (!box.level) this.paintClosed(box, x + box.x, y + box.y);
      else if (box.w * this.look.scale > 24) {
        const [dx, dy] = innerCorner(box);
        this.paintLevel(box.level, x + box.x + dx, y + box.y + dy, depth + 1);
      }
    }
  }

  /** True if something is highlighted, and not this. */
  isDimmed(item) {
    const {highlight} = this.look;
    return highlight && !highlighted(item, highlight);
  }

  box(x, y, w, h, round, fill, border, width = 1, dash = null) {
    const {c} = this;
    c.beginPath();
    c.roundRect(x, y, w, h, round);
    c.fillStyle = fill;
    c.fill();
    c.lineWidth = width;
    c.strokeStyle = border;
    if (dash) c.setLineDash(dash);
    c.stroke();
    if (dash) c.setLineDash([]);
  }

  /** Text that gets larger than its place in the drawing if that would be unreadable, as far as it fits. */
  text(text, x, y, font, colour, width, height) {
    const {c, look: {scale, plain}} = this;
    if (plain) return;
    const normal = font === kTitleFont ? 13 : 11;
    let size = normal;
    // Letters grow on the screen as far as the whole text still fits, at least to what can be guessed.
    if (normal * scale < 10) size = Math.max(normal, Math.min(10.5 / scale, height * 0.8, normal * width / Math.max(1, measure(text, font))), Math.min(7 / scale, height * 0.8));
    if (size * scale < 5) return;
    let shown = text;
    const fits = width * normal / size;
    if (measure(text, font) > fits + 2) {
      const letters = Math.floor(text.length * fits / measure(text, font)) - 1;
      if (letters < 3) {
        size = normal * width / Math.max(1, measure(text, font));
        if (size * scale < 5) return;
      } else {
        shown = text.slice(0, letters) + '…';
      }
    }
    if (size > normal && !this.take(x, y, Math.min(width, measure(shown, font) * size / normal), size)) return;
    c.font = size === normal ? font : font.replace(/\d+px/, size.toFixed(2) + 'px');
    c.fillStyle = colour;
    c.textBaseline = 'middle';
    c.fillText(shown, x, y);
  }

  /** False if an enlarged text stands there already. */
  take(x, y, w, h) {
    const mine = {left: x, right: x + w, top: y - h * 0.45, bottom: y + h * 0.45};
    if (this.taken.some(t => mine.left < t.right && t.left < mine.right && mine.top < t.bottom && t.top < mine.bottom)) return false;
    this.taken.push(mine);
    return true;
  }

  paintOpen(box, x, y, depth) {
    const {c, look: {theme, scale}} = this;
    const {item} = box;
    const colours = item.kind === 'instruction' ? this.look.colours.of(item.instruction) : null;
    c.globalAlpha = this.isDimmed(item) ? 0.5 : 1;
    this.box(x, y, box.w, box.h, item.kind === 'instruction' ? 16 : 9, depth % 2 ? theme.groupDeep : theme.group,
             colours ? colours[1] : theme.groupBorder, Math.max(colours ? 2 : 1.2, 0.8 / scale));
    const kind = item.kind === 'instruction' ? '' : item.kind === 'body' ? '' : `   ${item.size}`;
    const height = Math.min(box.h * 0.25, Math.max(kHeadHeight, 14 / scale));
    // A title stays in sight while its box is.
    const shift = this.look.view ? Math.max(0, Math.min(this.look.view.left - x - 16, box.w - measure(box.label.title, kTitleFont) - 90)) : 0;
    this.text(box.label.title + kind, x + 30 + shift, y + Math.min(kHeadHeight / 2, height / 2) + 1, kTitleFont, theme.text, box.w - 44 - shift, height);
    if (scale > 0.3) this.paintToggle(x + 16, y + kHeadHeight / 2, '−');
    if (this.look.selected === item) this.outline(x, y, box.w, box.h, 12);
    c.globalAlpha = 1;
  }

  paintToggle(x, y, sign) {
    const {c, look: {theme}} = this;
    c.beginPath();
    c.arc(x, y, 7, 0, 2 * Math.PI);
    c.fillStyle = theme.badge;
    c.fill();
    c.strokeStyle = theme.closedBorder;
    c.lineWidth = 1;
    c.stroke();
    c.beginPath();
    c.moveTo(x - 3.5, y); c.lineTo(x + 3.5, y);
    if (sign === '+') { c.moveTo(x, y - 3.5); c.lineTo(x, y + 3.5); }
    c.strokeStyle = theme.text;
    c.lineWidth = 1.4;
    c.stroke();
  }

  outline(x, y, w, h, round) {
    const {c, look: {theme, scale}} = this;
    const width = Math.max(3, 2 / scale);
    c.beginPath();
    c.roundRect(x - width, y - width, w + 2 * width, h + 2 * width, round + width);
    c.strokeStyle = theme.accent;
    c.lineWidth = width;
    c.stroke();
  }

  paintClosed(box, x, y) {
    const {c, look} = this;
    const {item} = box;
    c.globalAlpha = this.isDimmed(item) ? 0.22 : 1;
    const isGroup = item.kind !== 'instruction';
    const colours = isGroup ? this.groupHeat(item) ?? [look.theme.closed, look.theme.closedBorder, look.theme.text]
      : look.colours.of(item.instruction);
    if (box.w * look.scale < 6) {
      c.fillStyle = isGroup && !look.colours.heat ? look.theme.closedBorder : colours[0];
      c.fillRect(x, y, box.w, box.h);
    } else {
      this.paintShape(box, x, y, colours, isGroup);
      this.paintLabel(box, x, y, colours);
    }
    if (look.selected === item) this.outline(x, y, box.w, box.h, isGroup ? 9 : kRound);
    if (box.w * look.scale >= 6) this.paintBadges(box, x, y);
    c.globalAlpha = 1;
  }

  paintShape(box, x, y, colours, isGroup) {
    const {item} = box;
    const inst = item.instruction;
    if (isGroup && this.look.scale > 0.15) {
      // A second edge below tells of what is inside.
      this.box(x + 4, y + 4, box.w, box.h, 9, colours[0], colours[1], 1);
    }
    const isCut = inst && isCutOff(inst, this.look.only);
    const round = isGroup ? 9 : inst.opcode === 'while' ? box.h / 2 : inst.opcode === 'fusion' ? 14 : kRound;
    this.box(x, y, box.w, box.h, round, colours[0], colours[1], isGroup ? 1.3 : 1.2, isCut ? [5, 3] : null);
    if (isGroup && !this.look.colours.heat) this.paintShares(box, x, y);
  }

  groupHeat(item) {
    const {colours} = this.look;
    if (!colours.heat) return null;
    if (item.heat?.stamp !== colours.stamp) item.heat = {stamp: colours.stamp, colours: colours.ofGroup(instructionsIn(item))};
    return item.heat.colours;
  }

  /** A strip that tells what a group holds. */
  paintShares(box, x, y) {
    const {c} = this;
    const shares = box.shares?.of === this.look.colours.stamp ? box.shares.list : this.look.colours.shares(instructionsIn(box.item));
    box.shares = {of: this.look.colours.stamp, list: shares};
    const left = x + 8, width = box.w - 16;
    let at = 0;
    for (const [fill, share] of shares) {
      c.fillStyle = fill;
      c.fillRect(left + at * width, y + box.h - 10, share * width, 5);
      at += share;
    }
    c.strokeStyle = this.look.theme.closedBorder;
    c.lineWidth = 0.6;
    c.beginPath();
    c.roundRect(left, y + box.h - 10, width, 5, 1);
    c.stroke();
  }

  paintLabel(box, x, y, colours) {
    const {label, item} = box;
    const {scale} = this.look;
    const inst = item.instruction;
    const inset = kPadding + (inst?.opcode === 'while' ? 6 : 0);
    const colour = inst && isCutOff(inst, this.look.only) && colours[2] === 'black' ? '#5f5f5f' : colours[2];
    if (13 * scale < 7) {
      this.text(label.title, x + inset, y + box.h / 2, kTitleFont, colour, box.w - 2 * inset, box.h);
      return;
    }
    this.text(label.title, x + inset, y + kPadding + kTitleHeight / 2 - 2, kTitleFont, colour, box.w - inset - (item.expandable ? 22 : 6), kTitleHeight);
    label.lines.forEach((line, n) => this.text(line, x + inset, y + kPadding + kTitleHeight + (n + 0.5) * kLineHeight - 2, kTextFont, colour,
                                               box.w - inset - 4, kLineHeight));
    if (item.expandable) this.paintToggle(x + box.w - 14, y + 14, '+');
  }

  paintBadges(box, x, y) {
    const {item} = box;
    const {look, c} = this;
    if (look.scale < 0.25) return;
    const badge = (text, cx, cy, fill, colour, border = fill) => {
      const width = Math.max(16, measure(text, kTextFont) + 8);
      this.box(cx - width / 2, cy - 8, width, 16, 8, fill, border, 1);
      c.font = kTextFont;
      c.fillStyle = colour;
      c.textBaseline = 'middle';
      c.fillText(text, cx - measure(text, kTextFont) / 2, cy + 0.5);
    };
    if (item.instruction?.isRoot) badge('ROOT', x + box.w - 22, y + box.h + 3, '#bcaaa4', 'black', '#8c7b75');
    const marks = look.diffOf ? diffMarks(item, look.diffOf) : [];
    let left = x - 6;
    for (const {mark, count, colours} of marks) {
      const text = count > 1 ? mark + count : mark;
      const width = Math.max(16, measure(text, kTextFont) + 8);
      badge(text, left + width / 2, y - 1, colours[1], 'white');
      left += width + 3;
    }
    if (look.notes.size && instructionsIn(item).some(i => look.notes.has(i))) badge('!', x + box.w - 4, y, '#b00020', 'white');
  }

  // --- edges ---

  paintEdges(level, x, y) {
    const {c, look: {theme, scale, highlight, selected}} = this;
    const plain = [], control = [], marked = [], one = {old: [], new: []};
    for (const edge of level.edges) {
      const state = edgeState(edge, highlight, selected);
      if (!edge.route) { if (state && scale > 0.05) marked.push([edge, state]); continue; }
      const b = edge.bounds;
      if (!this.inView(x + b.left, y + b.top, x + b.right, y + b.bottom)) continue;
      if (state) marked.push([edge, state]);
      else (edge.control ? control : one[edge.side] ?? plain).push(edge);
    }
    c.globalAlpha = highlight ? 0.25 : 1;
    this.strokeEdges(plain, x, y, theme.edge, scale < 0.3 ? 0.7 / Math.max(scale, 0.12) * 0.6 : 1.2);
    this.strokeEdges(one.new, x, y, theme.new, Math.max(1.5, 1 / scale));
    c.setLineDash([7, 4]);
    this.strokeEdges(one.old, x, y, theme.old, Math.max(1.5, 1 / scale));
    for (const edge of [...one.new, ...one.old]) this.paintSide(edge, x, y);
    c.setLineDash([2, 4]);
    this.strokeEdges(control, x, y, theme.control, 1.2);
    c.setLineDash([]);
    if (scale > 0.22) this.paintStubs(level, x, y);
    c.globalAlpha = 1;
    for (const [edge, state] of marked) this.strokeEdges([edge], x, y, theme[state], Math.max(2.2, 1.4 / scale), level);
  }

  strokeEdges(edges, x, y, colour, width, level = null) {
    const {c, look: {scale}} = this;
    if (!edges.length) return;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.beginPath();
    const drawn = new Set();
    for (const edge of edges) tracePath(c, edge.route ?? straightRoute(edge, level), x, y, drawn);
    c.stroke();
    if (scale < 0.28) return;
    for (const edge of edges) {
      const route = edge.route ?? straightRoute(edge, level);
      if (typeof edge.to !== 'string' && !edge.goesOn) this.paintHead(route, x, y, colour, edge, edge.elements >= this.look.colours.tables.largeElements);
    }
  }

  /** The letter of an edge that only one module has, where neither end tells. */
  paintSide(edge, x, y) {
    const {c, look: {scale, diffOf, theme}} = this;
    const kind = edge.side === 'old' ? 'removed' : 'added';
    const tells = end => typeof end !== 'string' && end.instruction && diffOf?.(end.instruction)?.kind === kind;
    if (scale < 0.4 || tells(edge.from) || tells(edge.to)) return;
    const n = edge.route.length;
    c.font = kTitleFont;
    c.fillStyle = theme[edge.side];
    c.textBaseline = 'middle';
    c.fillText(kDiffKinds[kind].mark, edge.route[n - 2] + x - 14, edge.route[n - 1] + y - 12);
  }

  /** Hollow below 4096 elements, filled from there; operand numbers beside it. */
  paintHead(route, x, y, colour, edge, filled) {
    const {c, look: {theme, scale}} = this;
    const n = route.length;
    const ex = route[n - 2] + x, ey = route[n - 1] + y;
    const up = route[n - 1] < route[1] ? -1 : 1;      // turned edges arrive from below
    c.beginPath();
    c.moveTo(ex, ey);
    c.lineTo(ex - 3.6, ey - up * kHeadLength);
    c.lineTo(ex + 3.6, ey - up * kHeadLength);
    c.closePath();
    c.fillStyle = filled || edge.control ? colour : theme.background;
    c.fill();
    c.lineWidth = 1.1;
    c.strokeStyle = colour;
    c.stroke();
    const several = edge.to.instruction && edge.to.instruction.operands.length > 1;
    if (several && edge.operands.length && scale > 0.6) {
      c.font = '9' + kTextFont.slice(2);
      c.fillStyle = theme.quiet;
      c.textBaseline = 'middle';
      c.fillText(edge.operands.join(','), ex + 5, ey - up * 7);
    }
  }

  /** Short ends of edges that are only drawn when selected. */
  paintStubs(level, x, y) {
    const {c, look: {theme}} = this;
    c.beginPath();
    const done = new Set();
    for (const edge of level.edges) {
      if (edge.route) continue;
      const to = level.boxOf.get(edge.to), from = level.boxOf.get(edge.from);
      if (to && !done.has(to)) { done.add(to); c.moveTo(x + to.x + to.w / 2, y + to.y - 11); c.lineTo(x + to.x + to.w / 2, y + to.y); }
      if (from && !done.has(edge.from)) {
        done.add(edge.from);
        c.moveTo(x + from.x + from.w / 2, y + from.y + from.h);
        c.lineTo(x + from.x + from.w / 2, y + from.y + from.h + 11);
      }
    }
    c.strokeStyle = theme.hub;
    c.lineWidth = 2;
    c.setLineDash([2, 2]);
    c.stroke();
    c.setLineDash([]);
  }
}

/** Points of a route as a path: lines and curves in turn. What edges share is drawn once. */
function tracePath(c, route, x, y, drawn) {
  let away = true;
  for (let n = 2; n < route.length; n += 2) {
    const px = route[n] + x, py = route[n + 1] + y;
    const piece = `${route[n - 2]},${route[n - 1]},${route[n]},${route[n + 1]}`;
    if (drawn.has(piece)) { away = true; continue; }
    drawn.add(piece);
    if (away) c.moveTo(route[n - 2] + x, route[n - 1] + y);
    away = false;
    if (n % 4 === 2) { if (route[n] !== route[n - 2] || route[n + 1] !== route[n - 1]) c.lineTo(px, py); continue; }
    const middle = (route[n - 1] + route[n + 1]) / 2 + y;
    c.bezierCurveTo(route[n - 2] + x, middle, px, middle, px, py);
  }
}

/** The way of an edge that has none of its own: from the bottom of one box to the top of the other. */
function straightRoute(edge, level) {
  const from = level.boxOf.get(edge.from), to = level.boxOf.get(edge.to);
  const fx = from ? from.x + from.w / 2 : level.inPorts.get(edge.from) ?? level.w / 2, fy = from ? from.y + from.h : 0;
  const tx = to ? to.x + to.w / 2 : level.outPorts.get(edge.to) ?? level.w / 2, ty = to ? to.y : level.h;
  return [fx, fy, fx, fy, tx, ty, tx, ty];
}

/** What a highlighting says of a box: of itself or of anything inside. Kept: every frame asks for all boxes. */
function highlighted(item, highlight) {
  if (item.highlight?.of !== highlight || item.highlight.open !== item.expanded)
    item.highlight = {of: highlight, open: item.expanded, state: findHighlight(item, highlight)};
  return item.highlight.state;
}
function findHighlight(item, highlight) {
  if (item.kind === 'instruction' && !item.expanded) return highlight.get(item.instruction);
  for (const inst of instructionsIn(item)) { const state = highlight.get(inst); if (state) return state; }
  if (item.kind === 'instruction')
    for (const c of item.instruction.called) for (const inst of c.instructions) if (highlight.has(inst)) return highlight.get(inst);
  return undefined;
}

/** 'operand', 'user', 'accent' for edges that are to be seen above others; null for others. */
function edgeState(edge, highlight, selected) {
  if (selected && edge.to === selected) return 'operand';
  if (selected && edge.from === selected) return 'user';
  if (!highlight || typeof edge.from === 'string' || typeof edge.to === 'string') return null;
  const a = highlighted(edge.from, highlight), b = highlighted(edge.to, highlight);
  if (!a || !b) return null;
  if (a === 'path' && b === 'path') return 'accent';
  return a === 'user' || b === 'user' ? (a === 'operand' || b === 'operand' ? null : 'user') : 'operand';
}

/** True if operands or users of an instruction are left out of the drawing. */
function isCutOff(inst, only) {
  return Boolean(only) && only.has(inst) && (inst.operands.some(o => !only.has(o) && o.opcode !== 'constant') || inst.users.some(u => !only.has(u)));
}

/** Marks of an item: {mark, count, colours} by kind. */
function diffMarks(item, diffOf) {
  if (item.marks?.by === diffOf) return item.marks.list;
  const counts = new Map();
  const add = inst => { const kind = diffOf(inst)?.kind; if (kDiffKinds[kind]) counts.set(kind, (counts.get(kind) ?? 0) + 1); };
  const inside = instructionsIn(item);
  inside.forEach(add);
  for (const c of calleesOf(inside)) c.instructions.forEach(add);
  const list = Object.keys(kDiffKinds).filter(k => counts.has(k)).map(k => ({...kDiffKinds[k], count: counts.get(k)}));
  item.marks = {by: diffOf, list};
  return list;
}
