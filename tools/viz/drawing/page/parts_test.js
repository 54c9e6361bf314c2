// Cases of the parts that need no page: `runTests()` returns [{name, error}], error null for those that pass.

const cases = [];
const test = (name, run) => cases.push({name, run});
const runTests = () => cases.map(({name, run}) => {
  try { run(); return {name, error: null}; } catch (e) { return {name, error: String(e.stack ?? e)}; }
});
function equal(found, expected, what = '') {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what} found ${a}, expected ${b}`);
}
function holds(condition, what) { if (!condition) throw new Error(what); }

const kText = `HloModule sample, num_partitions=2, entry_computation_layout={(f32[8,4]{1,0})->f32[8]{0}}

FileNames
1 "model.py"

FunctionNames
1 "main"
2 "layer"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}
2 {file_name_id=1 function_name_id=2 line=9 end_line=9 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}


%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%fused (p.1: f32[8,4]) -> f32[8,4] {
  %p.1 = f32[8,4]{1,0} parameter(0)
  %neg = f32[8,4]{1,0} negate(%p.1)
  ROOT %exp = f32[8,4]{1,0} exponential(%neg)
}

ENTRY %main (x: f32[8,4]) -> f32[8] {
  %x = f32[8,4]{1,0} parameter(0)
  %one = f32[] constant(1)
  %f = f32[8,4]{1,0} fusion(%x), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/layer_1/exp, (\\"%x\\")" stack_frame_id=2}
  %pair = (f32[8,4]{1,0}, f32[8,4]{1,0}) tuple(%f, %x)
  %left = f32[8,4]{1,0} get-tuple-element(%pair), index=0, control-predecessors={%f}
  %g = f32[8,4]{1,0} get-tuple-element(%pair), index=1
  %s = f32[8,4]{1,0} add(%left, %g), metadata={op_name="jit(f)/layer_2/add" source_file="\\303\\251.py" source_line=7}
  ROOT %r = f32[8]{0} reduce(%s, %one), dimensions={1}, to_apply=%add, metadata={op_name="jit(f)/layer_2/reduce"}
}
`;
const names = list => [...list].map(i => i.name);
const sample = () => new Module(kText);

test('text: computations, operands, users, calls', () => {
  const m = sample();
  equal([m.name, m.entry.name, m.computations.length, m.instructions.length], ['sample', 'main', 3, 14]);
  const f = m.find('main::f');
  equal([f.opcode, f.shape, names(f.operands), names(f.users), f.called.map(c => c.name)],
        ['fusion', 'f32[8,4]{1,0}', ['x'], ['pair'], ['fused']]);
  equal(names(m.find('main::left').control), ['f']);
  equal(m.find('main::r').called[0].callers[0].name, 'r');
  equal([m.find('main::nothing'), m.find('nothing'), m.find('::')], [null, null, null]);
});
test('text: tuple shapes, strings with brackets and escapes', () => {
  const m = sample();
  equal(m.find('main::pair').shape, '(f32[8,4]{1,0}, f32[8,4]{1,0})');
  equal(m.find('main::f').opName, 'jit(f)/layer_1/exp, ("%x")');
  equal(m.find('main::s').source, 'é.py:7');
  equal(attributesOf(m.find('main::r')).map(([n]) => n), ['dimensions', 'to_apply', 'metadata']);
});
test('text: stack frames, innermost first', () => {
  const m = sample();
  equal(m.frames(m.find('main::f')).map(f => f.function + ':' + f.line), ['layer:9', 'main:3']);
});
test('text: a line that is no instruction continues the one before', () => {
  const m = new Module('HloModule a\n\nENTRY %e (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0), backend_config={\n"a":1}\n}\n');
  equal(m.instructions.length, 1);
  holds(m.instructions[0].line.includes('"a":1'), 'the second line is lost');
});
test('search: words, fields, expressions, order', () => {
  const m = sample();
  equal(names(searchModule(m, 'op:reduce').found), ['r']);
  equal(names(searchModule(m, 'layer_2').found), ['s', 'r']);
  equal(names(searchModule(m, 'f').found)[0], 'f');
  equal(names(searchModule(m, '/^%(neg|exp) /').found), ['neg', 'exp']);
  equal(names(searchModule(m, 'source:model.py').found), ['f']);
  equal([searchModule(m, '/(/').count, searchModule(m, '   ').count], [0, 0]);
});
test('graph: neighbourhood, paths', () => {
  const m = sample();
  equal(names(neighbourhood(m.find('main::f'), 1)).sort(), ['f', 'g', 'pair', 'x']);
  equal(names(shortestPath(m.find('main::r'), m.find('main::x'))), ['x', 'pair', 'left', 's', 'r']);
  equal(onPaths(m.find('main::one'), m.find('main::x')).size, 0);
});
test('extract: operands that are cut become parameters', () => {
  const m = sample();
  const text = extractText([m.find('main::r'), m.find('main::s')]);
  holds(text.startsWith('HloModule sample, num_partitions=2\n\n%add'), text);
  for (const line of ['%left = f32[8,4]{1,0} parameter(0)', '%g = f32[8,4]{1,0} parameter(1)', '%one = f32[] constant(1)', 'ROOT %r = f32[8]{0} reduce(%s, %one)'])
    holds(text.includes('  ' + line), `${line} is not in\n${text}`);
  holds(!text.includes('stack_frame_id') && !text.includes('control-predecessors'), text);
});
test('extract: several results are a tuple', () => {
  const m = sample();
  const text = extractText([m.find('main::f'), m.find('main::one')]);
  holds(/ROOT %results = \(f32\[\], f32\[8,4\]\{1,0\}\) tuple\(%one, %f\)/.test(text), text);
  holds(text.includes('%fused (p.1'), text);
  holds(extractText([m.find('main::x')]).includes('ROOT %x = f32[8,4]{1,0} parameter(0)'), 'a parameter alone');
});
test('groups: op_name, sources stand with their users', () => {
  const m = sample();
  const tree = new Tree({computation: m.entry, only: null, groupBy: 'op-name', marked: () => false});
  equal(tree.root.children.map(c => c.label), ['x', 'f', 'layer_2']);
  equal(tree.reveal(m.find('fused::exp')).key, 'main::f>fused::exp');
  equal([tree.reveal(m.find('main::g')).key, tree.reveal(m.find('main::one')).key], ['main::pair', 'main::r']);
});
test('groups: titles are words', () => {
  equal(['jit(step)', 'transpose(jvp(layer_1))', 'jvp(a)/b', 'transpose(jvp())', 'while', 'vmap(transpose(jvp(f)))/checkpoint(g)', 'f(x)'].map(opNameTitle),
    ['step', 'layer_1, backward', 'a/b', 'program, backward', 'while', 'f/g, batched, backward, recomputed', 'f(x)']);
});
test('layout: boxes do not overlap, edges go down', () => {
  let seed = 7;
  const random = n => { seed = (seed * 48271) % 2147483647; return seed % n; };
  for (let round = 0; round < 20; ++round) {
    const count = 2 + random(60);
    const nodes = Array.from({length: count}, () => ({w: 20 + random(200), h: 20 + random(80)}));
    const edges = Array.from({length: random(3 * count)}, () => ({from: random(count), to: random(count), hidden: random(9) === 0}));
    const {x, y, routes, width, height} = layoutGraph(nodes, edges);
    for (let a = 0; a < count; ++a) {
      holds(x[a] - nodes[a].w / 2 >= -0.01 && x[a] + nodes[a].w / 2 <= width + 0.01 && y[a] + nodes[a].h <= height + 0.01, 'outside of the drawing');
      for (let b = 0; b < a; ++b)
        holds(Math.abs(x[a] - x[b]) >= (nodes[a].w + nodes[b].w) / 2 - 0.01 || y[a] + nodes[a].h <= y[b] + 0.01 || y[b] + nodes[b].h <= y[a] + 0.01, `${a} overlaps ${b}`);
    }
    edges.forEach((e, n) => holds(e.from === e.to ? !routes[n] : e.hidden ? !routes[n] : routes[n].every(Number.isFinite), 'a route is missing'));
  }
});
test('layout: a chain is straight, ports stand at the sides', () => {
  const nodes = [{w: 50, h: 20}, {w: 90, h: 20}, {w: 40, h: 20}, {w: 6, h: 0, side: 'top'}, {w: 6, h: 0, side: 'bottom'}];
  const {x, y} = layoutGraph(nodes, [{from: 3, to: 0}, {from: 0, to: 1}, {from: 1, to: 2}, {from: 2, to: 4}]);
  for (const at of x) holds(Math.abs(at - x[0]) < 0.5, `${x}`);
  equal([3, 0, 1, 2, 4].every((n, i, order) => !i || y[n] > y[order[i - 1]] || !i), true);
});
test('layout: edges do not cross where that can be had', () => {
  const nodes = Array.from({length: 8}, () => ({w: 40, h: 20}));
  const {x} = layoutGraph(nodes, [{from: 0, to: 7}, {from: 1, to: 6}, {from: 2, to: 5}, {from: 3, to: 4}]);
  equal([0, 1, 2, 3].map(n => Math.abs(x[n] - x[7 - n]) < 0.5), [true, true, true, true]);
});
test('scene: open boxes hold what is inside; the SVG is well formed', () => {
  const m = sample();
  const tree = new Tree({computation: m.entry, only: null, groupBy: 'op-name', marked: () => false});
  const scene = new Scene(tree, new Set(['shape', 'layout', 'constants', 'control']));
  scene.toggle(tree.root.children[1], true);
  const found = [];
  scene.walk((box, x, y) => { found.push([box.item.key, x, y, box.w, box.h]); });
  const outer = found.find(([key]) => key === 'main::f'), inner = found.find(([key]) => key === 'main::f>fused::neg');
  holds(inner[1] > outer[1] && inner[2] > outer[2] && inner[1] + inner[3] < outer[1] + outer[3] && inner[2] + inner[4] < outer[2] + outer[4], 'outside');
  const colours = new Colours({palette: {Plain: ['white', 'grey', 'black']}, opcodes: {}, largeElements: 4096}, {colorBy: 'opcode', heatBy: ''}, () => null);
  const svg = sceneSvg(scene, {theme: kThemes.light, colours, selected: null, highlight: null, diffOf: null, notes: new Map(), only: null});
  holds(svg.startsWith('<svg') && svg.trimEnd().endsWith('</svg>') && !/NaN|undefined/.test(svg), svg.slice(0, 300));
});
test('labels: what is written into users; cuts', () => {
  const m = sample();
  const tree = new Tree({computation: m.entry, only: null, groupBy: 'none', marked: () => false});
  const lines = key => labelOf(tree.reveal(m.find(key)), new Set(['shape', 'layout', 'constants'])).lines;
  equal(lines('main::r'), ['f32[8]', 'dimensions={1}', 'to_apply=add', 'operand 1 = f32[] 1']);
  equal(lines('main::s').slice(1), ['operand 1 = %pair.1']);
  equal(bytesLabel(bytesOf('(f32[8,4]{1,0}, pred[1024], token[])')), '1.1 KiB');
});
test('heat: units, steps', () => {
  equal([formatMeasure(0, 'ns'), formatMeasure(1770, 'ns'), formatMeasure(2.5e9, 'ns'), formatMeasure(2048, 'B'), formatMeasure(3e9, ''), formatMeasure(14300, 'FLOP'), formatMeasure(7, 'FLOP')],
        ['0\u00a0ns', '1.77\u00a0µs', '2.5\u00a0s', '2.0 KiB', '3G', '14.3\u00a0kFLOP', '7\u00a0FLOP']);
  equal([heatColours(0)[0], heatColours(0.05)[0], heatColours(1)[0], heatColours(0.59)[2], heatColours(0.6)[2]], ['#f5f5f5', '#f7d4cc', '#ff2d00', 'black', 'white']);
});
test('groups: levels of many children are cut into runs', () => {
  const lines = Array.from({length: 5000}, (_, n) => `  %n.${n} = f32[] ${n ? `negate(%n.${n - 1})` : 'parameter(0)'}`);
  lines[4999] = lines[4999].replace('%n', 'ROOT %n');
  const m = new Module(`HloModule long\n\nENTRY %e (n.0: f32[]) -> f32[] {\n${lines.join('\n')}\n}\n`);
  const tree = new Tree({computation: m.entry, only: null, groupBy: 'op-name', marked: () => false});
  const widest = item => Math.max(item.children.length, ...item.children.filter(c => c.kind === 'group').map(widest));
  holds(widest(tree.root) <= 100, `${widest(tree.root)} children`);
  equal(tree.reveal(m.find('e::n.4321')).instruction.name, 'n.4321');
});
test('groups: layers where there are no names', () => {
  const m = new Module(kText.replace(/, metadata=\{op_name=(?:"(?:\\.|[^"])*"| |\w|=)*\}/g, ''));
  readNumbers(m, [8, 0, 3, 1, 3, 2], (inst, number) => { inst.layer = ['', 'layer 1 of 2', 'layer 2 of 2'][number]; });
  const tree = new Tree({computation: m.entry, only: null, groupBy: 'op-name', marked: () => false});
  equal(tree.root.children.map(c => c.label), ['layer 1 of 2', 'layer 2 of 2']);
});
test('layout: in cycles what comes first in the program stands above', () => {
  // Of three that form a cycle the second in the program is reached first.
  const nodes = [{w: 40, h: 20, at: 30}, {w: 40, h: 20, at: 20}, {w: 40, h: 20, at: 10}];
  const {y, routes} = layoutGraph(nodes, [{from: 0, to: 2}, {from: 2, to: 1}, {from: 1, to: 0}]);
  holds(y[2] < y[1] && y[1] < y[0], `${y}`);
  equal(routes.every(Boolean), true);
});
test('layout: a chain of groups is straight beside what each of them gives', () => {
  const nodes = [], edges = [];
  for (let n = 0; n < 20; ++n) {
    nodes.push({w: 100, h: 40, mass: 50}, {w: 140, h: 20});
    edges.push({from: 2 * n, to: 2 * n + 1}, {from: 2 * n + 1, to: 40});
    if (n) edges.push({from: 2 * n - 2, to: 2 * n});
  }
  nodes.push({w: 40, h: 20});
  const {x} = layoutGraph(nodes, edges);
  const chain = Array.from({length: 18}, (_, n) => x[2 * n + 2]);
  holds(Math.max(...chain) - Math.min(...chain) < 120, `${chain}`);
});
test('groups: alike ones open together or not at all', () => {
  const lines = Array.from({length: 120}, (_, n) => `  %n.${n} = f32[] ${n ? `negate(%n.${n - 1}), metadata={op_name="f/layer_${Math.floor(n / 30)}/neg"}` : 'parameter(0)'}`);
  const m = new Module(`HloModule alike\n\nENTRY %e (n.0: f32[]) -> f32[] {\n${lines.join('\n')}\n}\n`);
  for (const [budget, open] of [[60, 0], [200, 4]]) {
    const tree = new Tree({computation: m.entry, only: null, groupBy: 'op-name', marked: () => false});
    tree.openWithin(budget);
    equal(tree.root.children.filter(c => c.expanded).length, open);
  }
});
test('merged: both modules as one, edges of either', () => {
  const read = lines => new Module(`HloModule m\n\nENTRY %e (x: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n${lines.join('\n')}\n}\n`);
  const left = read(['  %a = f32[] negate(%x)', '  %b = f32[] abs(%a)', '  ROOT %c = f32[] add(%b, %x)']);
  const right = read(['  %a = f32[] tanh(%x)', '  ROOT %c = f32[] add(%x, %a)']);
  const pairs = new Map([['e::x', 'e::x'], ['e::c', 'e::c']]);
  const merged = new MergedModule(left, right, i => (i.computation.module === left ? right : left).find(pairs.get(i.key) ?? 'e::'), []);
  equal(merged.instructions.map(i => i.key), ['e::x', 'e::a (old)', 'e::b (old)', 'e::a', 'e::c']);
  const c = merged.find('e::c');
  equal([c.operands.map(o => o.key), c.sides], [['e::x', 'e::a', 'e::b (old)'], ['both', 'new', 'old']]);
  equal([merged.find('e::x').users.map(i => i.key), merged.entry.root.key], [['e::a (old)', 'e::a', 'e::c'], 'e::c']);
});
