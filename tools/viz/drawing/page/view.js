// A pane: a canvas with a camera, its drawing, the mouse and fingers on it.

const kNearest = 4, kFarthest = 0.002;
const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** `page` is told of what happens: onSelect(pane, item), onToggle(pane, item), onOver(pane, item, event). */
class Pane {
  constructor(page, module, side) {
    this.page = page;
    this.module = module;
    this.side = side;                        // 'left', 'right', 'merged'
    this.element = make('section', {class: 'pane', 'aria-label': `Graph of ${module.name}`});
    this.canvas = make('canvas', {tabindex: '0', role: 'application', 'aria-roledescription': 'graph',
      'aria-label': `Graph of ${module.name}: arrow keys follow operands and users, Enter opens and closes, ? shows all keys`,
      'aria-activedescendant': `focus-${side}`}, make('div', {id: `focus-${side}`, role: 'button'}));
    this.map = make('canvas', {class: 'map', 'aria-hidden': 'true'});
    this.crumbs = make('nav', {class: 'crumbs', 'aria-label': 'What is drawn'});
    this.element.append(this.canvas, this.map, this.crumbs);
    this.camera = {x: 0, y: 0, scale: 1};    // the drawing's point in the middle of the pane
    this.selected = null;                    // an item
    this.extra = new Set();                  // instructions selected besides
    this.highlight = null;
    this.frames = [];                        // times of painting, ms
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  /** What screen readers find inside the canvas: the selected box. */
  tellFocus(text, item) {
    const focus = this.canvas.firstChild;
    focus.setAttribute('aria-label', text);
    if (item?.expandable) focus.setAttribute('aria-expanded', String(item.expanded)); else focus.removeAttribute('aria-expanded');
  }

  /** Shows a computation, or some of its instructions. */
  show(computation, only, settings) {
    this.settings = settings;
    // A small selection needs no groups.
    this.tree = new Tree({computation, only, groupBy: only && only.size <= 80 ? 'none' : settings.groupBy, 
      diffOf: this.page.diffOf, marked: i => this.page.diffOf(i) && this.page.diffOf(i).kind !== 'unchanged'});
    // What is unchanged stays closed, unless there is nothing else.
    if (this.page.hasChanges) this.openChanges(90);
    else if (!only || only.size > 80) this.tree.openWithin(110);
    this.scene = new Scene(this.tree, settings.show);
    this.selected = null;
    this.highlight = null;
    this.only = only;
    void this.scene.root;
    this.fit();
  }

  /** Opens groups and bodies that hold changes, while few boxes are seen. */
  openChanges(budget) {
    const closed = [...this.tree.root.children];
    let shown = closed.length;
    for (let n = 0; n < closed.length; ++n) {
      const item = closed[n];
      if (!item.expandable || item.isRegion || !diffMarks(item, this.page.diffOf).length || isWhole(item, this.page.diffOf)) continue;
      const more = leavesShown(item);
      if (shown + more > budget) continue;
      shown += more;
      this.tree.expanded.add(item.key);
      for (const kid of item.children) closed.push(...(kid.kind === 'body' ? kid.children : [kid]));
    }
  }

  /** Moves to the first change if none is in sight. */
  lookAtChange() {
    if (!this.w) return;
    const [left, top] = this.toScene(0, 0), [right, bottom] = this.toScene(this.w, this.h);
    let first = null, seen = false;
    this.scene.walk((box, x, y) => {
      if (box.level || seen || box.item.isRegion || !diffMarks(box.item, this.page.diffOf).length) return;
      if (!first || y < first.y) first = {y, item: box.item};
      seen = x > left && x + box.w < right && y > top && y + box.h < bottom;
    });
    if (first && !seen) this.centre(first.item, false);
  }

  // --- camera ---

  resize() {
    const {clientWidth: w, clientHeight: h} = this.element;
    const ratio = devicePixelRatio || 1;
    if (this.w === w && this.h === h && this.ratio === ratio) return;
    const first = !this.w;
    Object.assign(this, {w, h, ratio});
    this.canvas.width = Math.max(1, w * ratio);
    this.canvas.height = Math.max(1, h * ratio);
    if (first && this.scene && !this.placed) this.fit();
    this.paintNow();
  }

  toScene(px, py) {
    const {x, y, scale} = this.camera;
    return [(px - this.w / 2) / scale + x, (py - this.h / 2) / scale + y];
  }

  /** The whole drawing, or its upper part if letters would be too small. */
  fit(whole = false) {
    const {w, h} = this.scene.root;
    if (!this.w) return;
    const full = Math.min((this.w - 60) / w, (this.h - 90) / h, 1.25);
    const scale = whole ? full : Math.max(full, 0.75);
    this.camera = {x: w / 2, y: h / 2, scale};
    if (scale > full) {
      if (h * scale > this.h - 90) this.camera.y = (this.h / 2 - 60) / scale;
      if (w * scale > this.w - 60) this.camera.x = this.middleOfTop(this.w / scale, this.h / scale);
    }
    this.placed = true;
    this.repaint();
  }

  /** The middle of the part, as wide as the pane, that shows most boxes of the upper end; the higher, the more. */
  middleOfTop(width, height) {
    const found = [];
    this.scene.walk((box, x, y) => { if (!box.level && y < height) found.push([x, x + box.w, (1 - y / height) ** 2]); });
    found.sort((a, b) => a[0] - b[0]);
    let best = 0, middle = this.scene.root.w / 2;
    for (const [left] of found) {
      const inside = found.filter(([l, r]) => l >= left && r <= left + width - 40);
      const sum = inside.reduce((all, [, , weight]) => all + weight, 0);
      if (sum <= best) continue;
      best = sum;
      middle = (left + Math.max(...inside.map(([, r]) => r))) / 2;
    }
    return middle;
  }

  zoom(factor, px = this.w / 2, py = this.h / 2) {
    this.moving?.();
    const [x, y] = this.toScene(px, py);
    const scale = Math.min(kNearest, Math.max(kFarthest, this.camera.scale * factor));
    this.camera = {scale, x: x - (px - this.w / 2) / scale, y: y - (py - this.h / 2) / scale};
    this.repaint();
    this.page.follow(this);
  }

  pan(dx, dy) {
    this.moving?.();
    this.camera = {...this.camera, x: this.camera.x - dx / this.camera.scale, y: this.camera.y - dy / this.camera.scale};
    this.repaint();
    this.page.follow(this);
  }

  /** Moves smoothly so that a box is in the middle and readable. */
  centre(item, gently = true) {
    const box = this.scene.boxOf(item);
    if (!box || !this.w) return;
    const fits = Math.min((this.w - 80) / box.w, (this.h - 120) / box.h);
    const scale = Math.min(Math.max(this.camera.scale, 0.75), Math.max(fits, 0.1), 1.5);
    const tall = box.h * scale > this.h - 120;
    this.moveTo({x: box.x + box.w / 2, y: tall ? box.y + (this.h / 2 - 60) / scale : box.y + box.h / 2, scale}, gently, true);
  }

  /** `leads`: a pane that is linked follows. */
  moveTo(target, gently = true, leads = false) {
    this.moving?.();
    const from = this.camera, begin = now();
    const move = camera => { this.camera = camera; this.repaint(); if (leads) this.page.follow(this); };
    if (!gently || reducedMotion()) { move(target); return; }
    let stopped = false;
    this.moving = () => { stopped = true; };
    const step = () => {
      if (stopped) return;
      const t = Math.min(1, (now() - begin) / 220), s = t * t * (3 - 2 * t);
      const mix = k => from[k] + (target[k] - from[k]) * s;
      move({x: mix('x'), y: mix('y'), scale: mix('scale')});
      if (t < 1) requestAnimationFrame(step);
    };
    step();
  }

  /** Keeps a box where it is on the screen while `change` changes the drawing. */
  keeping(item, change) {
    const before = this.scene.boxOf(item);
    change();
    const after = this.scene.boxOf(item);
    if (before && after) {
      this.camera = {...this.camera, x: this.camera.x + after.x + after.w / 2 - before.x - before.w / 2,
                     y: this.camera.y + after.y - before.y};
    }
    this.mapStale = true;
    this.repaint();
  }

  // --- painting ---

  repaint() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paintNow(); });
  }

  get look() {
    const {page} = this;
    return {theme: page.theme, colours: page.colours(this), scale: this.camera.scale, selected: this.selected, highlight: this.highlight,
            diffOf: page.hasDiff ? page.diffOf : null, notes: page.notes, only: this.only};
  }

  paintNow() {
    if (!this.scene || !this.w) return;
    const begin = now();
    const c = this.canvas.getContext('2d');
    const {x, y, scale} = this.camera;
    const [left, top] = this.toScene(0, 0), [right, bottom] = this.toScene(this.w, this.h);
    const look = {...this.look, view: {left, top, right, bottom}};
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = look.theme.background;
    c.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const k = scale * this.ratio;
    c.setTransform(k, 0, 0, k, (this.w / 2 - x * scale) * this.ratio, (this.h / 2 - y * scale) * this.ratio);
    const painter = new Painter(c, this.scene, look);
    painter.paint();
    this.drawn = painter.drawn;
    this.paintMap(look);
    this.frames.push(now() - begin);
    if (this.frames.length > 240) this.frames.shift();
  }

  /** The minimap: the whole drawing, kept as a picture, and a frame around what is seen. */
  paintMap(look) {
    const {w, h} = this.scene.root;
    const hidden = w * this.camera.scale <= this.w && h * this.camera.scale <= this.h || this.w < 420;
    this.map.hidden = hidden;
    if (hidden) return;
    const scale = Math.min(180 / w, 140 / h);
    const mw = Math.max(8, Math.round(w * scale)), mh = Math.max(8, Math.round(h * scale));
    const c = this.map.getContext('2d');
    if (this.mapStale || this.mapFor !== this.scene.root || this.mapTheme !== look.theme) {
      this.mapImage = document.createElement('canvas');
      this.mapImage.width = mw * 2; this.mapImage.height = mh * 2;
      const mc = this.mapImage.getContext('2d');
      mc.setTransform(scale * 2, 0, 0, scale * 2, 0, 0);
      new Painter(mc, this.scene, {...look, scale, plain: true, view: null, selected: null, highlight: null}).paint();
      this.mapStale = false;
      this.mapFor = this.scene.root;
      this.mapTheme = look.theme;
      this.map.width = mw * 2; this.map.height = mh * 2;
      this.map.style.width = mw + 'px'; this.map.style.height = mh + 'px';
    }
    this.mapScale = scale;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, mw * 2, mh * 2);
    c.drawImage(this.mapImage, 0, 0);
    const {left, top, right, bottom} = look.view;
    c.strokeStyle = look.theme.accent;
    c.lineWidth = 2.5;
    c.strokeRect(left * scale * 2, top * scale * 2, (right - left) * scale * 2, (bottom - top) * scale * 2);
  }

  // --- mouse, fingers, wheel ---

  listen() {
    const {canvas} = this;
    const fingers = new Map();
    let moved = 0, last = 0;
    const point = e => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    canvas.addEventListener('pointerdown', e => {
      canvas.setPointerCapture(e.pointerId);
      fingers.set(e.pointerId, point(e));
      if (fingers.size === 1) moved = 0;
      this.page.activate(this);
      this.moving?.();
    });
    canvas.addEventListener('pointermove', e => {
      const at = point(e);
      const before = fingers.get(e.pointerId);
      if (!before) { this.hover(at, e); return; }
      const [ax, ay] = before;
      if (fingers.size === 1) {
        moved += Math.hypot(at[0] - ax, at[1] - ay);
        if (moved > 4) { this.pan(at[0] - ax, at[1] - ay); canvas.classList.add('dragging'); }
        if (moved > 4 || e.pointerType !== 'mouse') fingers.set(e.pointerId, at);
      } else if (fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== e.pointerId)[1];
        const was = Math.hypot(ax - other[0], ay - other[1]), is = Math.hypot(at[0] - other[0], at[1] - other[1]);
        this.pan((at[0] - ax) / 2, (at[1] - ay) / 2);
        if (was > 0) this.zoom(is / was, (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
        fingers.set(e.pointerId, at);
        moved = 99;
      }
    });
    const up = e => {
      const was = fingers.delete(e.pointerId);
      canvas.classList.remove('dragging');
      if (was && e.type === 'pointerup' && moved <= 4 && e.button === 0) {
        const again = now() - last < 350;
        last = now();
        this.click(point(e), e, again);
      }
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', () => this.page.hideTip());
    canvas.addEventListener('wheel', e => {
      e.preventDefault();
      this.moving?.();
      if (e.shiftKey) this.pan(-(e.deltaY || e.deltaX), 0);
      else this.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : e.ctrlKey ? 0.01 : 0.0016)), ...point(e));
    }, {passive: false});
    canvas.addEventListener('focus', () => this.page.activate(this));
    const jump = e => {
      if (!e.buttons) return;
      const r = this.map.getBoundingClientRect();
      this.moveTo({...this.camera, x: (e.clientX - r.left) / this.mapScale, y: (e.clientY - r.top) / this.mapScale}, false, true);
    };
    this.map.addEventListener('pointerdown', e => { this.map.setPointerCapture(e.pointerId); jump(e); });
    this.map.addEventListener('pointermove', jump);
  }

  hover([px, py], event) {
    const item = this.scene?.at(...this.toScene(px, py));
    this.canvas.style.cursor = item ? 'pointer' : 'grab';
    this.page.showTip(this, item, event);
  }

  /** A click selects, on the sign or twice it opens and closes; beside boxes it clears. */
  click([px, py], event, again) {
    const [x, y] = this.toScene(px, py);
    const item = this.scene.at(x, y);
    if (!item) { this.page.select(this, null); return; }
    const box = this.scene.boxOf(item);
    const onSign = item.expandable && (item.expanded ? x < box.x + 30 && y < box.y + kHeadHeight : x > box.x + box.w - 26 && y < box.y + 26);
    if (onSign || again && item === this.selected && item.expandable) { this.page.toggle(this, item); return; }
    if ((event.shiftKey || event.ctrlKey || event.metaKey) && item.kind === 'instruction') this.page.selectAlso(this, item);
    else this.page.select(this, item);
  }

  /** {frames, mean, p95, worst} of the last paintings in ms. */
  statistics() {
    const sorted = [...this.frames].sort((a, b) => a - b);
    const at = q => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
    return {frames: sorted.length, mean: sorted.reduce((a, b) => a + b, 0) / (sorted.length || 1), p95: at(0.95), worst: at(1),
            drawn: this.drawn, layoutMs: this.scene.layoutMs};
  }
}

/** True if everything inside an item is of one kind of change: opening it would tell nothing. */
function isWhole(item, diffOf) {
  return item.kind === 'instruction' && ['added', 'removed'].includes(diffOf(item.instruction)?.kind) && diffMarks(item, diffOf).length === 1;
}

/** An element with attributes and children. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter(c => c !== null && c !== undefined && c !== false));
  return element;
}
