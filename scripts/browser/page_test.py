#!/usr/bin/env python3
"""The interactive page (hlo-viz M.hlo -o m.html, hlo-diff --output-format=html) in a browser."""
import json, os
import xml.etree.ElementTree

import png
from runner import case, expect, expect_equal, run

PAGE = 'window.hloPage'


def call(page, function, *arguments):
    """A function of the page's interface for tests (tools/viz/drawing/page/README.md)."""
    return page.evaluate(f'{PAGE}.{function}({", ".join(json.dumps(a) for a in arguments)})')


def open_page(pages, module_file, fragment='', options=(), **how):
    page = pages.open(pages.html(module_file, *options), fragment, **how)
    page.wait_for(f'{PAGE} && {PAGE}.ready')
    page.settle()
    return page


def graph(pages, fragment='', **how):
    return open_page(pages, pages.model('transformer', 120), fragment, **how)


def nested(pages, fragment='', **how):
    return open_page(pages, pages.model('nested'), fragment, **how)


def text(page, selector):
    return page.evaluate(f'document.querySelector({json.dumps(selector)})?.textContent ?? ""')


def visible_box(page, kind):
    """A box of a kind that lies in the middle of the window: its id and centre."""
    for node in call(page, 'nodes'):
        if node['kind'] == kind and not node['open']:
            at = call(page, 'screen', node['id'])
            x, y = at['x'] + at['w'] / 2, at['y'] + min(at['h'], 30) / 2
            if 60 < x < 800 and 120 < y < 700:
                return node['id'], x, y
    return None


def overlaps(nodes):
    """Pairs of boxes of one parent that share an area."""
    found, by_parent = [], {}
    for node in nodes:
        by_parent.setdefault(node['parent'], []).append(node)
    for group in by_parent.values():
        group.sort(key=lambda n: n['y'])
        for i, a in enumerate(group):
            for b in group[i + 1:]:
                if b['y'] >= a['y'] + a['h'] - 0.5:
                    break
                if a['x'] < b['x'] + b['w'] - 0.5 and b['x'] < a['x'] + a['w'] - 0.5:
                    found.append((a['id'], b['id']))
    return found


def opened(page, boxes):
    """Opens groups one after the other until so many boxes are drawn."""
    for _ in range(60):
        nodes = call(page, 'nodes')
        closed = [n for n in nodes if n['kind'] == 'group' and not n['open']]
        if not closed or len(nodes) >= boxes:
            return nodes
        call(page, 'expand', closed[0]['id'])
    return call(page, 'nodes')


@case
def a_page_draws_its_module(pages):
    page = graph(pages)
    expect(len(call(page, 'nodes')) > 3, 'boxes')
    share = png.painted_share(page.screenshot(scale=0.25))
    expect(share > 0.05, f'painted: {share:.3f}')


@case
def no_two_boxes_overlap(pages):
    for kind, count in (('transformer', 300), ('wide', 120), ('chain', 120), ('deep', 60), ('nested', 0), ('hostile', 0)):
        page = open_page(pages, pages.model(kind, count))
        nodes = opened(page, 150)
        expect(not overlaps(nodes), lambda: f'{kind}: {overlaps(nodes)[:3]}')
        outside = [n['id'] for n in nodes for p in nodes if n['parent'] == p['id'] and
                   (n['x'] < p['x'] or n['y'] < p['y'] or n['x'] + n['w'] > p['x'] + p['w'] + 0.5 or n['y'] + n['h'] > p['y'] + p['h'] + 0.5)]
        expect(not outside, f'{kind}: outside of their parents: {outside[:3]}')


@case
def a_click_shows_details(pages):
    page = nested(pages)
    box = visible_box(page, 'instruction')
    expect(box, 'no instruction in sight')
    page.click(box[1], box[2])
    page.settle()
    expect_equal(call(page, 'selected'), box[0], 'selected')
    name = box[0].split('::')[-1]
    panel = text(page, 'aside.panel')
    expect(name in panel, f'{name} in the details: {panel[:200]}')
    expect(page.evaluate('location.hash').endswith('::' + name), 'fragment of the instruction')


@case
def clicks_open_and_close_groups(pages):
    page = open_page(pages, pages.model('transformer', 2000))
    box = visible_box(page, 'group')
    expect(box, 'no group in sight')
    before = len(call(page, 'nodes'))
    page.click(box[1], box[2], count=2)
    page.settle()
    after = call(page, 'nodes')
    expect(len(after) > before, f'{before} boxes, {len(after)} after opening {box[0]}')
    expect(not overlaps(after), lambda: f'{overlaps(after)[:3]}')
    page.key('Enter')
    page.settle()
    expect_equal(len(call(page, 'nodes')), before, 'boxes after closing')


@case
def search_finds_by_every_property(pages):
    page = graph(pages)
    for query, least in (('exp.1', 1), ('op:dot', 10), ('shape:f32[64,64]', 3), ('op_name:softmax', 5), ('layers.py', 20), ('/scores\\.[0-9] = /', 3)):
        found = call(page, 'search', query)
        expect(found['count'] >= least, f'{query}: {found["count"]} found')
    expect_equal(call(page, 'search', 'nobody is called so')['count'], 0, 'found')
    page.key('Escape')


@case
def typing_a_search_leads_to_an_instruction(pages):
    page = graph(pages)
    page.key('/')
    page.type('prob.2')
    page.wait_for('document.querySelectorAll("#results [role=option]").length > 0')
    page.key('Enter')
    page.settle()
    expect_equal(call(page, 'selected'), 'main::prob.2', 'selected')
    at = page.wait_for(f'{PAGE}.screen("main::prob.2")')
    page.evaluate('new Promise(f => setTimeout(f, 300))')  # it moves there
    at = call(page, 'screen', 'main::prob.2')
    expect(0 < at['x'] < 1280 and 0 < at['y'] < 800, f'in sight: {at}')


@case
def paths_and_neighbourhoods(pages):
    page = graph(pages)
    expect(call(page, 'path', 'main::q.1', 'main::layer.1'), 'a path')
    marked = call(page, 'highlighted')
    expect('main::scores.1' in marked and 'main::v.1' not in marked, f'highlighted: {marked[:20]}')
    expect(call(page, 'path', 'main::layer.1', 'main::wq.0'), 'a path in the other order')
    expect(not call(page, 'path', 'main::wq.1', 'main::wk.1'), 'no path between two weights')
    call(page, 'select', 'main::scores.1')
    page.evaluate('document.querySelector("canvas").focus()')
    page.key('n')
    page.settle()
    drawn = [n['id'] for n in call(page, 'nodes')]
    expect('main::scores.1' in drawn and 'main::down.2' not in drawn, f'neighbourhood: {drawn[:20]}')


@case
def operands_and_users_are_highlighted(pages):
    page = graph(pages, 'main::scores.1')
    page.evaluate('document.querySelector("canvas").focus()')
    page.key('o')
    page.settle()
    marked = call(page, 'highlighted')
    expect('main::centred.1' in marked and 'main::exp.1' not in marked, f'operands: {marked[:20]}')
    page.key('u')
    page.settle()
    marked = call(page, 'highlighted')
    expect('main::exp.1' in marked and 'main::centred.1' not in marked, f'users: {marked[:20]}')


@case
def history_goes_back_and_forward(pages):
    page = graph(pages)
    for name in ('q.0', 'k.1', 'v.2'):
        call(page, 'select', 'main::' + name)
        page.settle()
    for key, wanted in (('ArrowLeft', 'k.1'), ('ArrowLeft', 'q.0'), ('ArrowRight', 'k.1')):
        page.key(key, 'Alt')
        page.wait_for(f'{PAGE}.selected() === "main::{wanted}"', 5)
    page.evaluate('history.back()')
    page.wait_for(f'{PAGE}.selected() === "main::q.0"', 5)
    page.evaluate('location.hash = "#main::v.0"')
    page.wait_for(f'{PAGE}.selected() === "main::v.0"', 5)
    page.key('ArrowLeft', 'Alt')
    page.wait_for(f'{PAGE}.selected() === "main::q.0"', 5)


@case
def fragments_open_instructions_and_computations(pages):
    page = nested(pages, 'main::loop')
    expect_equal(call(page, 'selected'), 'main::loop', 'selected')
    page.evaluate('location.hash = "#fused::t"')
    page.wait_for(f'({PAGE}.selected() || "").endsWith("fused::t")')
    page.evaluate('location.hash = "#%E0%A4%A"')
    page.settle()
    expect(call(page, 'nodes'), 'odd fragments change nothing')


@case
def the_keyboard_is_enough(pages):
    page = graph(pages)
    page.evaluate('document.querySelector("canvas").focus()')
    page.key('ArrowDown')
    page.settle()
    first = call(page, 'selected')
    expect(first, 'an arrow selects')
    seen = {first}
    for key in ('ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowUp'):
        page.key(key)
        page.settle()
        seen.add(call(page, 'selected'))
    expect(len(seen) > 1, f'arrows move: {seen}')
    page.evaluate('new Promise(f => setTimeout(f, 400))')  # the drawing comes to rest
    before = call(page, 'camera')
    page.key('+')
    page.settle()
    expect(call(page, 'camera')['scale'] > before['scale'], 'plus enlarges')
    page.key('?')
    expect(page.evaluate('document.querySelector("dialog").open'), 'help')
    page.key('Escape')
    expect(not page.evaluate('document.querySelector("dialog").open'), 'help closes')
    stops = set()
    for _ in range(40):
        page.key('Tab')
        stops.add(page.evaluate('(e => e.tagName + " " + (e.getAttribute("aria-label") || e.textContent).slice(0, 30))(document.activeElement)'))
    expect(len(stops) > 8, f'stops of the Tab key: {stops}')


@case
def mouse_wheel_and_drag_move_the_drawing(pages):
    page = graph(pages)
    before = call(page, 'camera')
    page.drag(500, 500, 600, 560)
    page.settle()
    after = call(page, 'camera')
    expect(abs((before['x'] - after['x']) * after['scale'] - 100) < 8, f'moved from {before} to {after}')
    page.wheel(500, 400, -300)
    page.settle()
    expect(call(page, 'camera')['scale'] > after['scale'] * 1.1, 'the wheel enlarges')


@case
def two_fingers_enlarge(pages):
    page = graph(pages, touch=True)
    before = call(page, 'camera')['scale']
    page.touch('Start', (400, 400), (500, 400))
    for i in range(1, 6):
        page.touch('Move', (400 - 15 * i, 400), (500 + 15 * i, 400))
    page.touch('End')
    page.settle()
    expect(call(page, 'camera')['scale'] > before * 1.5, f'{before} -> {call(page, "camera")["scale"]}')


@case
def copies_are_modules_that_check(pages):
    page = graph(pages)
    for name in ('main::scores.1', 'main::layer.2', 'main::total.0'):
        call(page, 'select', name)
        pages.tool('hlo-opt', '--check', pages.write('copied.hlo', call(page, 'copyText')))
    page = nested(pages)
    for name in ('main::loop', 'main::either', 'main::total'):
        call(page, 'select', name)
        copied = call(page, 'copyText')
        pages.tool('hlo-opt', '--check', pages.write('copied.hlo', copied))
        expect(name.split('::')[1] in copied, f'{name} in its copy')


@case
def c_copies_to_the_clipboard(pages):
    pages.browser.call('Browser.grantPermissions', permissions=['clipboardReadWrite', 'clipboardSanitizedWrite'])
    page = graph(pages, 'main::scores.1')
    page.evaluate('document.querySelector("canvas").focus()')
    page.key('c')
    page.settle()
    copied = page.evaluate('navigator.clipboard.readText()')
    expect('HloModule' in copied and 'scores.1' in copied, f'on the clipboard: {copied[:200]!r}')


@case
def the_drawing_is_saved_as_svg(pages):
    for page in (graph(pages), nested(pages), open_page(pages, pages.model('hostile'))):
        root = xml.etree.ElementTree.fromstring(call(page, 'svg'))
        expect(root.tag.endswith('svg'), root.tag)
        expect(len(list(root.iter())) > 10, 'elements')
    folder = pages.path('saved')
    pages.browser.call('Browser.setDownloadBehavior', behavior='allow', downloadPath=folder)
    page = graph(pages)
    page.click_on('button[aria-label^="Save the drawing"]')
    pages.browser.wait(lambda: os.path.isdir(folder) and any(f.endswith('.svg') for f in os.listdir(folder)), 10, 'saving')


@case
def the_list_shows_the_text(pages):
    page = graph(pages)
    page.evaluate('document.querySelector("canvas").focus()')
    page.key('l')
    page.settle()
    body = page.evaluate('document.body.innerText')
    expect('%tokens' in body and 'parameter(0)' in body, 'the text of the module')
    page.key('l')
    page.settle()
    expect(page.evaluate('!document.querySelector("canvas").hidden'), 'back to the drawing')


@case
def groupings_and_colours_switch(pages):
    page = graph(pages)
    selects = page.evaluate('[...document.querySelectorAll("header select")].map(s => [...s.options].map(o => o.value))')
    expect(len(selects) >= 2, f'choices: {selects}')
    for n, values in enumerate(selects):
        for value in values:
            page.evaluate(f'(s => {{ s.value = {json.dumps(value)}; s.dispatchEvent(new Event("change")); }})(document.querySelectorAll("header select")[{n}])')
            page.settle()
            nodes = call(page, 'nodes')
            expect(nodes and not overlaps(nodes), f'{value}: {len(nodes)} boxes')


@case
def dark_and_light_are_drawn(pages):
    page = graph(pages)
    light = png.brightness(page.screenshot(scale=0.25))
    page.set_dark(True)
    page.settle()
    dark = png.brightness(page.screenshot(scale=0.25))
    expect(light > 170 and dark < 100, f'brightness {light:.0f} in light, {dark:.0f} in dark')


@case
def everything_interactive_has_a_name(pages):
    page = graph(pages, 'main::scores.1')
    nodes = page.accessible()
    unnamed = [n for n in nodes if n['focusable'] and not n['name'] and n['role'] not in ('RootWebArea', 'generic')]
    expect(not unnamed, f'without name: {unnamed[:5]}')
    expect(sum(n['focusable'] for n in nodes) > 10, 'few focusable elements')


@case
def hostile_names_stay_text(pages):
    page = open_page(pages, pages.model('hostile'))
    nodes = opened(page, 100)
    for name in ('p', 'constructor', 'hasOwnProperty', 'undefined', 'n.20', 'n.24'):
        expect(call(page, 'select', 'main::' + name), name)
        page.settle()
        expect_equal(call(page, 'selected'), 'main::' + name, 'selected')
    expect_equal(page.evaluate('document.querySelectorAll("img, link, iframe, script[src]").length'), 0, 'elements made by names')
    for query in ('__proto__', '.*+?^(', '/[/', 'op:', 'shape:', '\\', '<b>', '%'):
        call(page, 'search', query)
    expect(nodes, 'boxes')


@case
def options_say_how_a_page_opens(pages):
    module = pages.model('transformer', 120)
    page = open_page(pages, module, options=('--around=main::scores.1,1',))
    drawn = {n['id'] for n in call(page, 'nodes') if n['kind'] == 'instruction'}
    expect('main::scores.1' in drawn and 'main::exp.1' in drawn and 'main::down.1' not in drawn, f'neighbourhood: {drawn}')
    page = open_page(pages, module, options=('--group-by=none', '--color-by=type'))
    values = page.evaluate('[...document.querySelectorAll("header select")].map(s => s.value)')
    expect('none' in values and 'type' in values, f'choices: {values}')
    page = open_page(pages, module, options=('--heat=static',))
    expect(page.evaluate('[...document.querySelectorAll("header label")].some(l => l.textContent.startsWith("heat"))'), 'a choice of heats')


def diff_page(pages):
    path = pages.path('nested_diff.html')
    if not os.path.exists(path):
        old = pages.model('nested')
        with open(old, encoding='utf-8') as f:
            new = f.read().replace('exponential(v)', 'tanh(v)').replace('n = s32[] constant(7)', 'n = s32[] constant(9)')
        pages.tool('hlo-diff', '--output-format=html', '-o', path, old, pages.write('nested_new.hlo', new), status=1)
    page = pages.open(path)
    page.wait_for(f'{PAGE} && {PAGE}.ready')
    page.settle()
    return page


@case
def comparisons_have_two_linked_panes(pages):
    page = diff_page(pages)
    call(page, 'view', 'sides')
    for side in ('left', 'right'):
        expect(call(page, 'nodes', side), f'boxes on the {side}')
        expect(not overlaps(call(page, 'nodes', side)), f'overlap on the {side}')
    expect(call(page, 'select', 'main::loop', 'right'), 'the loop')
    page.settle()
    expect_equal(call(page, 'selected', 'left'), 'main::loop', 'selected on the left')
    share = png.painted_share(page.screenshot(scale=0.25))
    expect(share > 0.05, f'painted: {share:.3f}')


@case
def linked_panes_look_at_the_same_place(pages):
    page = diff_page(pages)
    call(page, 'view', 'sides')
    call(page, 'select', 'main::either', 'right')
    page.settle()
    page.evaluate('new Promise(f => setTimeout(f, 400))')  # it comes to rest

    def apart():
        places = [call(page, 'screen', 'main::either', side) for side in ('left', 'right')]
        width = page.evaluate('document.querySelector(".pane").clientWidth')
        return abs(places[1]['x'] + places[1]['w'] / 2 - places[0]['x'] - places[0]['w'] / 2 - width) + abs(places[1]['y'] - places[0]['y'])
    expect(apart() < 4, f'{apart():.1f} pixels apart after selecting')
    page.evaluate('document.querySelector("canvas").focus()')
    for key in ('w', 'a', 'a', '-'):
        page.key(key)
    page.settle()
    expect(apart() < 4, f'{apart():.1f} pixels apart after moving')
    expect_equal(call(page, 'camera', 'left')['scale'], call(page, 'camera', 'right')['scale'], 'scale')
    call(page, 'link', False)
    page.key('s')
    page.settle()
    expect(apart() > 40, f'{apart():.1f} pixels apart without the link')


@case
def comparisons_are_drawn_as_one_graph(pages):
    old = """HloModule m
ENTRY main {
  x = f32[8,64] parameter(0)
  w = f32[128,64] parameter(1)
  t = f32[64,128] transpose(w), dimensions={1,0}
  d = f32[8,128] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[8,128] parameter(2)
  e = f32[8,128] exponential(y)
  s = f32[8,128] sine(e)
  j = f32[8,128] add(d, s)
""" + ''.join(f'  c{n} = f32[8,128] cosine({"j" if n == 0 else f"c{n - 1}"})\n' for n in range(6)) + '  ROOT r = f32[8,128] negate(c5)\n}\n'
    new = ('HloModule m\nfused {\n  q = f32[8,128] parameter(0)\n  fe = f32[8,128] exponential(q)\n  ROOT fs = f32[8,128] sine(fe)\n}\n' +
           old.split('\n', 1)[1].replace('dot(x, t)', 'dot(x, w)').replace('rhs_contracting_dims={0}', 'rhs_contracting_dims={1}')
           .replace('  t = f32[64,128] transpose(w), dimensions={1,0}\n', '').replace('  e = f32[8,128] exponential(y)\n', '')
           .replace('sine(e)', 'fusion(y), kind=kLoop, calls=fused', 1))
    path = pages.path('merged.html')
    pages.tool('hlo-diff', '-T', 'html', '-o', path, pages.write('merged_old.hlo', old), pages.write('merged_new.hlo', new), status=1)
    page = pages.open(path)
    page.wait_for(f'{PAGE} && {PAGE}.ready')
    nodes = {n['id']: n for n in call(page, 'nodes')}
    expect(not overlaps(list(nodes.values())), 'overlap')
    for name in ('main::t (old)', 'main::d', 'main::s', 'main::s>fused::fe', 'main::s>fused::fs'):
        expect(name in nodes, f'{name} in {list(nodes)}')
    expect(nodes['main::s']['open'], 'the fusion is open')
    marks = page.evaluate(f"""Object.fromEntries(['main::t (old)', 'main::d', 'main::s', 'fused::fe'].map(
        k => [k, {PAGE}.page.diffOf({PAGE}.page.merged.module.find(k)).kind]))""")
    expect_equal(marks, {'main::t (old)': 'removed', 'main::d': 'changed', 'main::s': 'added', 'fused::fe': 'moved'}, 'kinds')
    regions = [n['label'] for n in nodes.values() if n['kind'] == 'group']
    expect(any(label.endswith('unchanged') for label in regions), f'regions: {regions}')
    ends = {(e['from'], e['to']): e['side'] for e in call(page, 'edges')}
    expect_equal([ends['main::t (old)', 'main::d'], ends['main::w', 'main::d'], ends['main::x', 'main::d']], ['old', 'new', 'both'], 'sides of edges')
    svg = call(page, 'svg')
    xml.etree.ElementTree.fromstring(svg)
    for mark in '+->~':
        expect(f'>{"&gt;" if mark == ">" else mark}</text>' in svg, f'mark {mark}')
    call(page, 'select', 'main::d')
    expect('dot(%x, %w)' in call(page, 'copyText'), 'the copy is of the new module')
    call(page, 'view', 'sides')
    expect_equal([call(page, 'selected', 'left'), call(page, 'selected', 'right')], ['main::d', 'main::d'], 'selected on both sides')
    call(page, 'view', 'merged')
    expect_equal(call(page, 'selected'), 'main::d', 'selected')


@case
def twenty_thousand_instructions_open(pages):
    page = open_page(pages, pages.model('transformer', 20000))
    expect(call(page, 'search', 'op:dot')['count'] > 3000, 'products')
    expect(call(page, 'select', 'main::scores.100'), 'an instruction of layer 100')
    page.settle()
    nodes = call(page, 'nodes')
    expect(len(nodes) < 2000, f'{len(nodes)} boxes are laid out')
    expect(not overlaps(nodes), lambda: f'{overlaps(nodes)[:3]}')


@case
def the_parts_pass_their_own_tests(pages):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools/viz/drawing/page')
    with open(os.path.join(folder, 'files.txt'), encoding='utf-8') as f:
        names = f.read().split()
    code = ''
    for name in [*names[:names.index('svg.js') + 1], 'parts_test.js']:
        with open(os.path.join(folder, name), encoding='utf-8') as f:
            code += f.read()
    page = pages.open(pages.write('parts.html', '<!DOCTYPE html><meta charset="utf-8"><title>parts</title><script>' + code + '</script>'))
    results = page.evaluate('runTests()')
    expect(len(results) > 5, f'{len(results)} tests')
    failed = [r for r in results if r['error']]
    expect(not failed, lambda: '\n'.join(f"{r['name']}: {r['error']}" for r in failed))


if __name__ == '__main__':
    run(__doc__)
