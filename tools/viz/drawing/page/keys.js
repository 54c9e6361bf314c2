// The keyboard.

/** Rows of the help: keys, what they do. */
const kKeyHelp = [
  ['↑ ↓', 'first operand, first user of what is selected'],
  ['← →', 'neighbours in the drawing'],
  ['Enter, Space', 'open or close a group, fusion or call'],
  ['x, z', 'open what is inside as well, close everything'],
  ['Shift+arrows, w a s d', 'move the drawing'],
  ['+ − 0', 'larger, smaller, natural size'],
  ['f', 'fit everything; again: readable'],
  ['/', 'search (op: shape: op_name: source: name:, /regular expression/)'],
  ['n', 'neighbourhood of the instruction'],
  ['o, u', 'all operands, all users'],
  ['p', 'path to another instruction'],
  ['c', 'copy as HLO text that runs'],
  ['e', 'back to the whole entry computation'],
  ['Backspace, Alt+← →', 'back, forward'],
  ['g', 'next way of grouping'],
  ['l', 'text list and back'],
  ['m, k', 'of comparisons: merged or side by side, panes linked or not'],
  ['Tab', 'next pane, panel'],
  ['t', 'light or dark'],
  ['Escape', 'clear highlighting, then the selection'],
  ['Shift+click', 'select several, for copying'],
  ['Mouse', 'drag moves, the wheel zooms, a double click opens and closes'],
  ['Fingers', 'one moves, two zoom'],
];

function makeHelp() {
  const help = make('dialog', {class: 'help', 'aria-label': 'Keys'}, make('h2', {}, 'Keys'),
    make('table', {}, kKeyHelp.map(([keys, what]) => make('tr', {}, make('th', {scope: 'row'}, keys), make('td', {}, what)))),
    make('form', {method: 'dialog'}, make('button', {autofocus: true}, 'Close')));
  help.addEventListener('click', e => { if (e.target === help) help.close(); });
  return help;
}

/** Where arrows lead from an item: an item that is visible. */
function neighbourOf(pane, item, key) {
  const {tree, scene} = pane;
  if (!item) return tree.root.children[0] ?? null;
  const level = scene.levelOf(item.parent);
  const box = level.boxOf.get(item);
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const up = key === 'ArrowUp';
    if (item.expanded && !up) return nearestBox(item.children, level.boxOf.get(item).level.boxOf, 0) ?? item;
    const linked = level.edges.filter(e => (up ? e.to : e.from) === item).map(e => up ? e.from : e.to);
    const next = linked.find(e => typeof e !== 'string') ?? outerEnd(pane, item, up);
    return next ?? (up && item.parent !== tree.root ? item.parent : null);
  }
  // Sideways: the nearest box whose middle is on that side and not far above or below.
  const sign = key === 'ArrowLeft' ? -1 : 1;
  const middle = b => [b.x + b.w / 2, b.y + Math.min(b.h, 60) / 2];
  const [x, y] = middle(box);
  let best = null, least = Infinity;
  for (const other of level.boxes) {
    const [ox, oy] = middle(other);
    const away = (ox - x) * sign;
    if (away <= 0) continue;
    const cost = away + 6 * Math.abs(oy - y);
    if (cost < least) { least = cost; best = other.item; }
  }
  return best;
}

const nearestBox = (items, boxOf) => [...items].sort((a, b) => boxOf.get(a).y - boxOf.get(b).y || boxOf.get(a).x - boxOf.get(b).x)[0];

/** An operand or user outside of the box around an item. */
function outerEnd(pane, item, up) {
  const inst = item.instruction;
  if (!inst) return null;
  const next = up ? sourcesOf(inst).find(Boolean) : targetsOf(inst)[0];
  const leaf = next && item.region.leafOf.get(next);
  return leaf ? pane.tree.visibleOf(leaf) : null;
}

function moveSelection(page, pane, key) {
  const next = neighbourOf(pane, pane.selected, key);
  if (!next) return;
  page.select(pane, next);
  const box = pane.scene.boxOf(next);
  const [left, top] = pane.toScene(40, 60), [right, bottom] = pane.toScene(pane.w - 40, pane.h - 40);
  if (box.x < left || box.y < top || box.x + box.w > right || box.y + Math.min(box.h, 80) > bottom || pane.camera.scale < 0.5) pane.centre(next);
}

/** What single keys do. */
const kKeys = {
  'Enter': (page, pane) => pane.selected && page.toggle(pane, pane.selected),
  ' ': (page, pane) => pane.selected && page.toggle(pane, pane.selected),
  'x': (page, pane) => page.openInside(pane, pane.selected ?? pane.tree.root),
  'z': (page, pane) => page.closeAll(pane),
  'w': (_, pane) => pane.pan(0, 80), 's': (_, pane) => pane.pan(0, -80),
  'a': (_, pane) => pane.pan(80, 0), 'd': (_, pane) => pane.pan(-80, 0),
  '+': (_, pane) => pane.zoom(1.25), '=': (_, pane) => pane.zoom(1.25), '-': (_, pane) => pane.zoom(0.8),
  '0': (_, pane) => pane.zoom(1 / pane.camera.scale),
  'f': (page, pane) => { pane.whole = !pane.whole; pane.fit(pane.whole); },
  '/': page => { page.bar.search.input.focus(); page.bar.search.input.select(); },
  'n': (page, pane) => pane.selected?.instruction && page.showNeighbourhood(pane, pane.selected.instruction),
  'o': (page, pane) => pane.selected?.instruction && page.showReached(pane, pane.selected.instruction, 'operand'),
  'u': (page, pane) => pane.selected?.instruction && page.showReached(pane, pane.selected.instruction, 'user'),
  'p': (page, pane) => pane.selected?.instruction && page.startPath(pane, pane.selected.instruction),
  'c': (page, pane) => page.copy(pane),
  'e': (page, pane) => page.openComputation(pane, pane.module.entry),
  'Backspace': page => page.go(-1),
  'g': page => { const words = [...page.bar.group.select.options].map(o => o.value); page.set('groupBy', words[(words.indexOf(page.settings.groupBy) + 1) % words.length]); },
  'l': page => page.setListMode(!page.listMode),
  'm': page => page.setView(page.view === 'merged' ? 'sides' : 'merged'),
  'k': page => page.left && page.setLinked(!page.linked),
  't': page => page.setDark(!page.dark),
  '?': page => page.help.showModal(),
  'Escape': (page, pane) => {
    if (page.pathFrom) { page.pathFrom = null; page.say(''); }
    else if (pane.highlight) { pane.highlight = null; pane.extra.clear(); pane.repaint(); }
    else page.select(pane, null);
  },
};

function listenToKeys(page) {
  document.addEventListener('keydown', event => {
    const inText = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (page.help.open || inText && event.key !== 'Escape') return;
    if (event.altKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
      page.go(event.key === 'ArrowLeft' ? -1 : 1);
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pane = page.active;
    const onButton = /^(BUTTON|SUMMARY|A)$/.test(event.target.tagName);
    if (onButton && (event.key === 'Enter' || event.key === ' ')) return;
    if (event.key.startsWith('Arrow') && !page.listMode && !onButton) {
      const [dx, dy] = {ArrowUp: [0, 80], ArrowDown: [0, -80], ArrowLeft: [80, 0], ArrowRight: [-80, 0]}[event.key];
      if (event.shiftKey) pane.pan(dx, dy); else moveSelection(page, pane, event.key);
    } else if (kKeys[event.key]) {
      kKeys[event.key](page, pane);
    } else {
      return;
    }
    event.preventDefault();
  });
}
