// Colours of boxes, legends, themes.

const kThemes = {
  light: {background: '#fbfbfc', group: '#eef1f6', groupDeep: '#ffffff', groupBorder: '#b6bfcc', closed: '#f7f9fc', closedBorder: '#8492a6',
          edge: '#7d8794', control: '#a0a0a0', text: '#1c2128', quiet: '#57606a', accent: '#d6246e', operand: '#0b62d6', user: '#c2560c',
          badge: '#ffffff', hub: '#9aa4b1', old: '#c62828', new: '#1a7f37'},
  dark: {background: '#16191e', group: '#1f242c', groupDeep: '#262c36', groupBorder: '#495362', closed: '#2b323d', closedBorder: '#6b788c',
         edge: '#8b96a5', control: '#7d7d7d', text: '#e6eaf0', quiet: '#a9b4c2', accent: '#ff6aa8', operand: '#6fb1ff', user: '#ffab66',
         badge: '#16191e', hub: '#5c6673', old: '#ff7b72', new: '#4cc46a'},
};

/** How panes of a comparison are called. */
const kSideTitles = {left: 'old', right: 'new', merged: 'old and new'};

/** fill, border, text of what differs (tools.md §4.3), with the mark and a word for it. */
const kDiffKinds = {
  added: {mark: '+', colours: ['#c5efc9', '#1a7f37', 'black']},
  removed: {mark: '-', colours: ['#ffd3cf', '#c62828', 'black']},
  changed: {mark: '~', colours: ['#ffe3a6', '#a86400', 'black']},
  moved: {mark: '>', colours: ['#cfe3ff', '#1f5fbf', 'black']},
};
const kUnchanged = ['#f4f5f7', '#b4bac2', 'black'];
const kUnmeasured = ['#d9d9d9', '#9e9e9e', 'black'];
/** Colours of things that have no order; black text is readable on all. */
const kCategories = ['#aec7e8', '#ffbb78', '#98df8a', '#ff9896', '#c5b0d5', '#c49c94', '#f7b6d2', '#dbdb8d', '#9edae5',
                     '#d5d5d5', '#8fd3c1', '#e8c9f0', '#f3d98b', '#a9c59a'];

/** Ten steps from `#f7d4cc` to `#ff2d00`, `#f5f5f5` for nothing; white text from 60 %. */
function heatColours(fraction) {
  if (fraction <= 0) return ['#f5f5f5', '#9e9e9e', 'black'];
  const step = Math.min(9, Math.ceil(fraction * 10) - 1) / 9;
  const mix = (a, b) => Math.round(a + (b - a) * step).toString(16).padStart(2, '0');
  return [`#${mix(0xf7, 0xff)}${mix(0xd4, 0x2d)}${mix(0xcc, 0x00)}`, '#a33a1f', fraction >= 0.6 ? 'white' : 'black'];
}

/** The operation that an async instruction runs, others themselves. */
function wrappedOpcode(inst) {
  let at = inst;
  for (let n = 0; n < 64 && /^async-(update|done)$/.test(at.opcode) && at.operands.length; ++n) at = at.operands[0];
  return at.opcode === 'async-start' ? at.called[0]?.root?.opcode ?? at.opcode : inst.opcode;
}

const typeOf = inst => /^\(/.test(inst.shape) ? 'tuple' : /^\w+/.exec(inst.shape)?.[0] ?? '';
/** Modes whose colours stand for a word. */
const kColourWords = {
  type: typeOf,
  sharding: inst => attributeValue(inst, 'sharding', 'not sharded'),
  memory: inst => /S\((\d+)\)/.exec(inst.shape)?.[0] ?? 'default memory',
  computation: inst => inst.computation.name,
};

/** How a page colours instructions. `settings`: {colorBy, heatBy}; `tables`: of the page's data. */
class Colours {
  constructor(tables, settings, diffOf) {
    this.tables = tables;
    this.settings = settings;
    this.diffOf = diffOf;            // instruction -> {kind, …} or null
    this.words = new Map();          // mode -> Map(word -> colour)
    this.heats = new Map((tables.heat ?? []).map(h => [h.name, {...h, most: Object.values(h.values).reduce((a, b) => Math.max(a, b), 0),
                                                               total: Object.values(h.values).reduce((a, b) => a + b, 0)}]));
  }
  get heat() { return this.heats.get(this.settings.heatBy) ?? null; }

  /** Changes whenever colours do. */
  get stamp() { return this.settings.colorBy + '|' + this.settings.heatBy; }

  /** [fill, border, text] */
  of(inst) {
    const {heat} = this;
    if (heat) {
      const value = heat.values[inst.key];
      return value === undefined ? kUnmeasured : heatColours(heat.most ? value / heat.most : 0);
    }
    const mode = this.settings.colorBy;
    if (mode === 'diff') return kDiffKinds[this.diffOf(inst)?.kind]?.colours ?? kUnchanged;
    if (mode === 'opcode') return this.tables.palette[this.schemeOf(inst)];
    if (kColourWords[mode]) return [this.wordColour(mode, kColourWords[mode](inst)), '#7a7a7a', 'black'];
    return ['white', '#9e9e9e', 'black'];
  }

  schemeOf(inst) {
    const opcode = wrappedOpcode(inst);
    if (opcode === 'bitcast' && !inst.computation.callers.some(c => c.opcode === 'fusion')) return 'Plain';
    const scheme = this.tables.opcodes[opcode] ?? 'Plain';
    return scheme === 'Orange' && elementsOf(inst.shape) >= this.tables.largeElements ? 'DarkOrange' : scheme;
  }

  wordColour(mode, word) {
    let words = this.words.get(mode);
    if (!words) this.words.set(mode, words = new Map());
    if (!words.has(word)) words.set(word, kCategories[words.size % kCategories.length]);
    return words.get(word);
  }

  /** Of groups with heat: [fill, border, text] by their share of all; else null. */
  ofGroup(instructions) {
    const {heat} = this;
    if (!heat) return null;
    const sum = instructions.reduce((a, i) => a + (heat.values[i.key] ?? 0), 0);
    return heatColours(heat.total ? sum / heat.total : 0);
  }

  /** What a group holds, as [colour, share]; the largest first. */
  shares(instructions) {
    const counts = new Map();
    for (const inst of instructions) { const [fill] = this.of(inst); counts.set(fill, (counts.get(fill) ?? 0) + 1); }
    return [...counts].sort((a, b) => b[1] - a[1]).map(([fill, n]) => [fill, n / instructions.length]);
  }

  /** Rows {fill, border, text} of what occurs in a module. */
  legend(module) {
    const {heat} = this;
    if (heat) {
      const label = f => formatMeasure(heat.most * f, heat.unit);
      return [0, 0.25, 0.5, 0.75, 1].map(f => ({colours: heatColours(f), text: label(f)}))
        .concat({colours: kUnmeasured, text: 'not measured'});
    }
    if (this.settings.colorBy === 'diff')
      return Object.entries(kDiffKinds).map(([word, k]) => ({colours: k.colours, text: `${k.mark} ${word}`}))
        .concat({colours: kUnchanged, text: 'unchanged'});
    const rows = new Map();
    for (const inst of module.instructions) {
      const colours = this.of(inst);
      let word = this.settings.colorBy === 'opcode' ? wrappedOpcode(inst) : kColourWords[this.settings.colorBy]?.(inst);
      if (!word) continue;
      const row = rows.get(colours[0]) ?? {colours, words: new Map()};
      if (colours === this.tables.palette.DarkOrange) word = 'parameter, large';
      row.words.set(word, (row.words.get(word) ?? 0) + 1);
      rows.set(colours[0], row);
    }
    return [...rows.values()].map(({colours, words}) => {
      const common = [...words].sort((a, b) => b[1] - a[1]).map(([w]) => w);
      return {colours, text: cut(common.slice(0, 3).join(', ') + (common.length > 3 ? ' …' : ''), 48)};
    }).slice(0, 14);
  }
}

/** A value with its unit: times and bytes in the largest unit that fits. */
function formatMeasure(value, unit) {
  if (unit === 'B') return bytesLabel(Math.round(value));
  const times = ['ns', 'µs', 'ms', 's'];
  let n = times.indexOf(unit);
  if (n < 0) return unit ? formatValue(value).replace(/[a-zA-Z]?$/, prefix => `\u00a0${prefix}${unit}`) : formatValue(value);
  while (value >= 1000 && n < times.length - 1) { value /= 1000; ++n; }
  return `${Number(value.toPrecision(3))}\u00a0${times[n]}`;
}

/** Three digits, with powers of thousand as letters. */
function formatValue(value) {
  const units = ['', 'k', 'M', 'G', 'T', 'P'];
  let n = 0;
  while (Math.abs(value) >= 1000 && n < units.length - 1) { value /= 1000; ++n; }
  return Number(value.toPrecision(3)) + units[n];
}
