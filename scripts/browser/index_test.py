#!/usr/bin/env python3
"""The page of a dump directory (hlo-viz DUMPDIR -o index.html) in a browser."""
import json, os

import png
from runner import case, expect, expect_equal, run

FOLD = '''HloModule fold
ENTRY main {
  x = f32[4] parameter(0)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  scaled = f32[4] multiply(x, ones)
  n = f32[4] negate(scaled)
  ROOT r = f32[4] negate(n)
}
'''
CHOSEN = 'document.querySelector("#steps tr[aria-current] a")?.textContent'
MODULE = 'document.getElementById("name").textContent'


def index(pages, name, *modules):
    """The page of the dumps of the modules, optimised with -O2."""
    path = pages.path(name + '/index.html')
    if not os.path.exists(path):
        pages.tool('hlo-opt', '-O2', '--dump-to=' + pages.path(name), '--dump-pass-re=.*', *modules, '-o', os.devnull)
        pages.tool('hlo-viz', pages.path(name), '-o', path)
    return path


def small(pages, fragment='fold', **options):
    modules = [pages.write('fold.hlo', FOLD), pages.model('nested'), pages.model('transformer', 120)]
    return pages.open(index(pages, 'small', *modules), fragment, **options)


def data(page):
    return page.evaluate('data.map(m => ({name: m.name, steps: m.steps.map(s => ({...s, row: 0}))}))')


@case
def modules_and_steps_are_listed(pages):
    page = small(pages)
    expect_equal(page.evaluate('[...document.querySelectorAll("#modules tbody a")].map(a => a.textContent)'),
                 ['fold', 'nested', 'transformer'])
    expect_equal(page.evaluate(MODULE), 'fold')
    expect('3 modules' in page.evaluate('document.getElementById("total").textContent'), 'total')
    expect('algsimp' in page.evaluate('document.getElementById("steps").textContent'), 'no step of algsimp')


@case
def it_opens_on_the_largest_module(pages):
    expect_equal(small(pages, '').evaluate(MODULE), 'transformer')


@case
def it_begins_where_something_changed(pages):
    page = small(pages)
    expect_equal(page.evaluate(CHOSEN), 'algsimp')
    marks = page.evaluate('[...document.querySelectorAll("#entries .entry b")].map(b => b.textContent)')
    expect('-' in marks, f'marks of the changes: {marks}')
    expect('%scaled' in page.evaluate('document.getElementById("entries").textContent'), 'the removed product')


@case
def entries_agree_with_counts(pages):
    page = small(pages)
    for module in data(page):
        for step in module['steps']:
            listed = len(step.get('entries', [])) + step.get('more', 0)
            expect_equal(listed, sum(step.get('counts', [0])[1:]), f"{module['name']} {step['file']}")


@case
def merged_computations_are_told(pages):
    reducer = '{ x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }\n'
    module = pages.write('twice.hlo', 'HloModule twice\na ' + reducer + 'b ' + reducer + '''ENTRY e {
  p = f32[4,8] parameter(0)
  z = f32[] constant(0)
  r = f32[4] reduce(p, z), dimensions={1}, to_apply=a
  q = f32[8] reduce(p, z), dimensions={0}, to_apply=b
  ROOT t = (f32[4], f32[8]) tuple(r, q)
}''')
    page = pages.open(index(pages, 'twice', module))
    page.click_on('#steps tbody tr:nth-child(2)')
    expect_equal(page.evaluate(CHOSEN), 'computation-deduplicator')
    expect('The same graph' in page.evaluate('document.getElementById("entries").textContent'), 'why there are fewer instructions')


@case
def slider_and_keys_move_through_steps(pages):
    page = small(pages)
    page.key('Home')
    expect_equal(page.evaluate(CHOSEN), 'before optimizations')
    page.key('ArrowRight')
    expect_equal(page.evaluate(CHOSEN), 'algsimp')
    page.key('End')
    expect_equal(page.evaluate(CHOSEN), 'after optimizations')
    page.evaluate('document.getElementById("slider").focus()')
    page.key('Home')
    expect_equal(page.evaluate(CHOSEN), 'before optimizations')
    expect(page.evaluate('location.hash') == '#fold/0', 'fragment of the step')
    page.click_on('#on')
    expect_equal(page.evaluate(CHOSEN), 'algsimp')
    page.click_on('#back')
    expect_equal(page.evaluate(CHOSEN), 'before optimizations')


@case
def steps_without_changes_are_shown_on_demand(pages):
    page = small(pages)
    rows = 'document.querySelectorAll("#steps tbody tr").length'
    few = page.evaluate(rows)
    expect('not shown' in page.evaluate('document.getElementById("steps").textContent'), 'the cut is told')
    page.click_on('#all')
    expect(page.evaluate(rows) > few, 'more steps')
    expect_equal(page.evaluate(rows), len(data(page)[0]['steps']), 'rows')


@case
def history_goes_back_through_modules(pages):
    page = small(pages)
    page.click_on('#modules tbody tr:nth-child(2) a')
    page.wait_for(MODULE + ' === "nested"')
    page.key('j')
    page.wait_for(MODULE + ' === "transformer"')
    page.evaluate('history.back()')
    page.wait_for(MODULE + ' === "nested"')
    page.evaluate('history.back()')
    page.wait_for(MODULE + ' === "fold"')
    page.evaluate('history.forward()')
    page.wait_for(MODULE + ' === "nested"')


@case
def fragments_open_a_step(pages):
    page = small(pages, 'transformer/0')
    expect_equal(page.evaluate(MODULE), 'transformer')
    expect_equal(page.evaluate(CHOSEN), 'before optimizations')
    for odd in ('#%E0%A4%A', '#nobody/3', '#fold/999999', '#fold/x', '#'):
        page.evaluate(f'location.hash = {json.dumps(odd)}')
        page.settle()
        expect(page.evaluate(CHOSEN), odd)


@case
def nothing_is_loaded(pages):
    page = small(pages)
    policy = 'document.querySelector("meta[http-equiv=Content-Security-Policy]").content'
    with open(pages.path('small/index_files/' + sorted(os.listdir(pages.path('small/index_files')))[0])) as drawing:
        expect(f'content="{page.evaluate(policy)}"' in drawing.read(), 'the policy of drawings')
    refused = 'new Promise(done => { addEventListener("securitypolicyviolation", e => done(e.effectiveDirective)); %s })'
    load = 'const f = document.createElement("iframe"); f.src = "other.html"; document.body.append(f)'
    expect_equal(page.evaluate(refused % load), 'frame-src')
    expect_equal(page.evaluate(refused % 'fetch("https://127.0.0.1:1/x").catch(() => {})'), 'connect-src')
    page.problems = [p for p in page.problems if not p.startswith('log: ')]  # the refusals


@case
def filters_narrow_modules_and_changes(pages):
    page = small(pages)
    page.key('/')
    page.type('trans')
    expect_equal(page.evaluate('document.querySelectorAll("#modules tbody tr").length'), 1, 'modules')
    page.key('Escape')
    expect_equal(page.evaluate('document.querySelectorAll("#modules tbody tr").length'), 3, 'modules')
    before = page.evaluate('document.querySelectorAll("#entries .entry").length')
    page.key('e')
    page.type('%scaled')
    few = page.evaluate('document.querySelectorAll("#entries .entry").length')
    expect(0 < few < before, f'{few} of {before} changes')
    page.key('Escape')
    page.click_on('#marks button[aria-label^=removed]')
    expect_equal(page.evaluate('document.querySelectorAll("#entries .entry.m-").length'), 0, 'removed')


@case
def columns_sort_modules(pages):
    page = small(pages)
    names = '[...document.querySelectorAll("#modules tbody a")].map(a => a.textContent)'
    page.click_on('#modules th:nth-child(3) button')
    expect_equal(page.evaluate(names)[0], 'transformer')
    page.click_on('#modules th:nth-child(3) button')
    expect_equal(page.evaluate(names)[-1], 'transformer')
    page.click_on('#modules th:nth-child(3) button')
    expect_equal(page.evaluate(names), ['fold', 'nested', 'transformer'])


@case
def drawings_are_where_links_lead(pages):
    page = small(pages)
    folder = os.path.dirname(index(pages, 'small'))
    graphs = [s['graph'] for m in data(page) for s in m['steps'] if s.get('graph')]
    expect(len(graphs) >= 4, f'{len(graphs)} drawings')
    for graph in graphs:
        expect(os.path.getsize(os.path.join(folder, graph)) > 500, graph)
    written = os.listdir(os.path.join(folder, 'index_files'))
    expect_equal(sorted(written), sorted(os.path.basename(g) for g in graphs), 'files')
    page.click_on('#links a')
    page.wait_for('document.title === "fold" || location.href.includes("index_files")')


@case
def one_opcode_is_charted(pages):
    page = small(pages)
    page.evaluate('(q => { q.value = "=negate"; q.dispatchEvent(new Event("change")); })(document.getElementById("quantity"))')
    expect_equal(page.evaluate('document.querySelector("#chart svg").getAttribute("aria-label")'),
                 'negate over the steps, at most 2')
    page.click(*page.centre('#chart svg'))
    expect(page.evaluate('at') > 0, 'a click on the chart chooses a step')


@case
def dark_and_light_are_drawn(pages):
    page = small(pages)
    light = page.screenshot(scale=0.25)
    expect(png.painted_share(light) > 0.03, f'painted: {png.painted_share(light):.3f}')
    page.set_dark(True)
    page.settle()
    dark = page.screenshot(scale=0.25)
    expect(png.brightness(light) > 200, f'brightness of the light page {png.brightness(light):.0f}')
    expect(png.brightness(dark) < 80, f'brightness of the dark page {png.brightness(dark):.0f}')


@case
def everything_interactive_has_a_name(pages):
    page = small(pages)
    page.key('?')
    nodes = page.accessible()
    unnamed = [n for n in nodes if n['focusable'] and not n['name'] and n['role'] not in ('RootWebArea', 'generic')]
    expect(not unnamed, f'without name: {unnamed[:5]}')
    expect(sum(n['focusable'] for n in nodes) > 15, 'few focusable elements')


@case
def narrow_windows_scroll(pages):
    page = small(pages, size=(420, 800))
    expect(page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'the page is wider than the window')


@case
def hostile_names_stay_text(pages):
    folder = pages.path('hostile<b>&')
    os.makedirs(folder, exist_ok=True)
    for i, name in enumerate(("</script><script>alert(1)<", "__proto__", "a'\"&<b>@DATA@", '%41 #x', 'constructor')):
        base = f'module_{i:04}.{name}'.replace('/', '_')
        for suffix in ('before_optimizations', '0001.<i>.after_<b>.before_%s', 'after_optimizations'):
            pages.write(f'{folder}/{base}.{suffix}.txt', pages_text(suffix))
    pages.tool('hlo-viz', folder, '-o', folder + '/index.html')
    page = pages.open(folder + '/index.html')
    expect_equal(page.evaluate('data.length'), 5, 'modules')
    expect(page.evaluate('document.querySelectorAll("b:not(.entry > b), i").length') == 0, 'markup came from names')
    for _ in range(4):
        page.key('j')
        expect(page.evaluate(CHOSEN), 'a step is chosen')
    page.click_on('#links a')
    page.wait_for('location.href.includes("index_files")')


def pages_text(suffix):
    opcode = 'tanh' if suffix == 'after_optimizations' else 'negate'
    return ('HloModule m\nENTRY e { p = f32[2] parameter(0), metadata={op_name="</script><script>alert(1)</script>"}\n'
            f'  ROOT r = f32[2] {opcode}(p) }}\n')


@case
def broken_dumps_are_told(pages):
    folder = pages.path('broken')
    os.makedirs(folder, exist_ok=True)
    pages.write(folder + '/module_0001.m.before_optimizations.txt', pages_text('before'))
    pages.write(folder + '/module_0001.m.after_optimizations.txt', 'HloModule m\nENTRY e { ROOT p = f32[2] nonsense() }\n')
    pages.tool('hlo-viz', folder, '-o', folder + '/index.html', status=3)
    page = pages.open(folder + '/index.html', 'm/1')
    expect('not read' in page.evaluate('document.getElementById("facts").textContent'), 'the failure is told')


if __name__ == '__main__':
    run(__doc__)
