"""Suites of opcodes that JAX rarely emits, spellings of the text, LAPACK calls."""
import re
import numpy as np
import jax, jax.numpy as jnp
from jax import lax
from generator.machinery import COMPLEX, H, J, close, suite, ulp
from generator.data import ints, normal, program, reducer, shp, uniform

# --------------------------------------------------------------------------- opcodes that JAX rarely or never emits
ADD_F32 = 'add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n'

def as_calls(c):
    c.equiv = re.sub(r'fusion\(([^)]*)\), kind=\w+, calls=', r'call(\1), to_apply=', c.text); return c

@suite('other_opcodes')
def other_opcodes():
    # batch normalisation
    for k, (t, d, f) in enumerate([('f32', (4, 3), 1), ('f32', (2, 5, 4, 3), 3), ('f32', (2, 3, 4, 5), 1), ('f64', (6, 4), 0), ('f32', (7,), 0), ('f32', (3, 1, 5), 1)]):
        n = d[f]; x, s, o = normal(('bn', k), d, t, 2.0), uniform(('bs', k), n, t, 0.5, 2), normal(('bo', k), n, t); m, v = normal(('bm', k), n, t), uniform(('bv', k), n, t, 0.2, 3); g = normal(('bg', k), d, t)
        D, N = shp(t, d), shp(t, (n,)); at = f', epsilon={[0.001, 0.00001, 0.1][k % 3]}, feature_index={f}'
        yield H(f'batch_norm_training_{k}', program(f'x = {D} parameter(0)\ns = {N} parameter(1)\no = {N} parameter(2)\nr = ({D}, {N}, {N}) batch-norm-training(x, s, o){at}'), x, s, o, compare='auto', slack=4)
        yield H(f'batch_norm_inference_{k}', program(f'x = {D} parameter(0)\ns = {N} parameter(1)\no = {N} parameter(2)\nm = {N} parameter(3)\nv = {N} parameter(4)\nr = {D} batch-norm-inference(x, s, o, m, v){at}'), x, s, o, m, v, compare='auto')
        yield H(f'batch_norm_grad_{k}', program(f'x = {D} parameter(0)\ns = {N} parameter(1)\nm = {N} parameter(2)\nv = {N} parameter(3)\ng = {D} parameter(4)\nr = ({D}, {N}, {N}) batch-norm-grad(x, s, m, v, g){at}'), x, s, m, v, g, compare='auto', slack=4)
    x4, x34 = normal('x4', 4), normal('x34', (3, 4))
    # asynchronous forms: the value is that of the wrapped operation
    wrapped = 'w {\n  x = f32[4]{0} parameter(0)\n  ROOT n = f32[4]{0} negate(x)\n}\n'
    plain = program('p = f32[4]{0} parameter(0)\nr = f32[4]{0} negate(p)')
    yield H('async_start_done', program('p = f32[4]{0} parameter(0)\ns = ((f32[4]{0}), f32[4]{0}, u32[]) async-start(p), calls=w\nr = f32[4]{0} async-done(s)', comps=wrapped), x4, equiv=plain)
    yield H('async_update', program('p = f32[4]{0} parameter(0)\ns = ((f32[4]{0}), f32[4]{0}, u32[]) async-start(p), calls=w\nu = ((f32[4]{0}), f32[4]{0}, u32[]) async-update(s)\nr = f32[4]{0} async-done(u)', comps=wrapped), x4, equiv=plain)
    yield H('async_sugar', program('p = f32[4]{0} parameter(0)\ns = ((f32[4]{0}), f32[4]{0}, u32[]) negate-start(p)\nr = f32[4]{0} negate-done(s)'), x4, equiv=plain)
    yield H('async_thread', program('p = f32[4]{0} parameter(0)\ns = ((f32[4]{0}), f32[4]{0}, u32[]) async-start(p), async_execution_thread="worker", calls=w\nr = f32[4]{0} async-done(s)', comps=wrapped.rstrip() + ', execution_thread="worker"\n'), x4, equiv=plain)
    yield H('copy_start_done', program('p = f32[3,4]{1,0} parameter(0)\ns = (f32[3,4]{1,0}, f32[3,4]{1,0}, u32[]) copy-start(p)\nr = f32[3,4]{1,0} copy-done(s)'), x34, equiv=program('p = f32[3,4]{1,0} parameter(0)\nr = f32[3,4]{1,0} copy(p)'))
    yield H('copy_start_layout', program('p = f32[3,4]{1,0} parameter(0)\ns = (f32[3,4]{0,1}, f32[3,4]{1,0}, u32[]) copy-start(p)\nd = f32[3,4]{0,1} copy-done(s)\nr = f32[3,4]{1,0} copy(d)'), x34, equiv=program('p = f32[3,4]{1,0} parameter(0)\nr = f32[3,4]{1,0} copy(p)'))
    # tokens, barriers, domains, annotations
    yield H('add_dependency', program('p = f32[4]{0} parameter(0)\nk = token[] after-all()\nj = token[] after-all(k, k)\nr = f32[4]{0} add-dependency(p, j)'), x4)
    yield H('opt_barrier', program('p = f32[4]{0} parameter(0)\nt = (f32[4]{0}, f32[4]{0}) tuple(p, p)\nb = (f32[4]{0}, f32[4]{0}) opt-barrier(t)\na = f32[4]{0} get-tuple-element(b), index=1\nr = f32[4]{0} add(a, p)'), x4)
    yield H('domain', program('p = f32[4]{0} parameter(0)\nr = f32[4]{0} domain(p), domain={kind="sharding", entry={replicated}, exit={maximal device=0}}'), x4)
    yield H('control_predecessors', program('p = f32[4]{0} parameter(0)\na = f32[4]{0} negate(p)\nb = f32[4]{0} abs(p), control-predecessors={a}\nr = f32[4]{0} add(a, b)'), x4)
    yield H('sharding_annotation', program('p = f32[4]{0} parameter(0)\nr = f32[4]{0} custom-call(p), custom_call_target="Sharding", sharding={replicated}'), x4)
    yield H('top_k_custom_call', program('p = f32[3,9]{1,0} parameter(0)\nr = (f32[3,4]{1,0}, s32[3,4]{1,0}) custom-call(p), custom_call_target="TopK", called_computations={c}', comps='c {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  d = s32[] parameter(2)\n  e = s32[] parameter(3)\n  ROOT r = pred[] compare(a, b), direction=GT\n}\n'), normal('tkc', (3, 9)))
    yield H('composite_call', program('p = f32[4]{0} parameter(0)\nr = f32[4]{0} call(p), to_apply=w, is_composite=true, frontend_attributes={composite.name="my.negate",composite.attributes={n = 1 : i32},composite.version="1"}', comps=wrapped), x4)
    yield H('frontend_attributes', program('p = f32[4]{0} parameter(0)\nr = f32[4]{0} negate(p), frontend_attributes={note="a b",other="1"}, metadata={op_type="neg" op_name="jit(f)/neg" source_file="model.py" source_line=7}, backend_config="{\\"x\\":1}"'), x4)
    # dynamic dimensions
    dyn = 'x = f32[6]{0} parameter(0)\nn = s32[] parameter(1)\nd = f32[<=6]{0} set-dimension-size(x, n), dimensions={0}\n'
    xs = np.array([1, 2, 3, 4, 5, 6], 'f4'); red = ADD_F32 + '\nmul {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] multiply(a, b)\n}\n'
    for n in (0, 1, 4, 6):
        yield H(f'dynamic_reduce_{n}', program(dyn + 'z = f32[] constant(0)\no = f32[] constant(1)\na = f32[] reduce(d, z), dimensions={0}, to_apply=add\nb = f32[] reduce(d, o), dimensions={0}, to_apply=mul\ns = s32[] get-dimension-size(d), dimensions={0}\nROOT t = (f32[], f32[], s32[]) tuple(a, b, s)', comps=red), xs, np.int32(n))
    yield H('dynamic_elementwise', program(dyn + 'e = f32[<=6]{0} multiply(d, d)\nz = f32[] constant(0)\nr = f32[] reduce(e, z), dimensions={0}, to_apply=add', comps=ADD_F32), xs, np.int32(3))
    yield H('dynamic_dot', program(dyn + 'w = f32[6,2]{1,0} parameter(2)\ne = f32[<=6,2]{1,0} set-dimension-size(w, n), dimensions={0}\nr = f32[2]{0} dot(d, e), lhs_contracting_dims={0}, rhs_contracting_dims={0}', comps=''), xs, np.int32(4), normal('ddot', (6, 2)), compare=close(1e-5, 1e-5))
    yield H('dynamic_concatenate', program(dyn + 'y = f32[3]{0} parameter(2)\nc = f32[<=9]{0} concatenate(d, y), dimensions={0}\nk = s32[9]{0} iota(), iota_dimension=0\nkf = f32[9]{0} convert(k)\nkd = s32[] get-dimension-size(c), dimensions={0}\nkk = f32[<=9]{0} set-dimension-size(kf, kd), dimensions={0}\nm = f32[<=9]{0} multiply(c, kk)\nz = f32[] constant(0)\ns = f32[] reduce(m, z), dimensions={0}, to_apply=add\nROOT t = (f32[], s32[]) tuple(s, kd)', comps=ADD_F32), xs, np.int32(2), np.array([10, 20, 30], 'f4'))
    yield H('dynamic_removed', program('x = f32[6]{0} parameter(0)\nn = s32[] parameter(1)\nd = f32[<=6]{0} set-dimension-size(x, n), dimensions={0}\nz = f32[] constant(-1)\nq = f32[<=7]{0} pad(d, z), padding=1_0\nk = s32[] get-dimension-size(q), dimensions={0}\ns = f32[] constant(0)\na = f32[] reduce(q, s), dimensions={0}, to_apply=add\nROOT t = (f32[], s32[]) tuple(a, k)', comps=ADD_F32), xs, np.int32(3))
    yield H('get_dimension_size_static', program('x = f32[6,2]{1,0} parameter(0)\na = s32[] get-dimension-size(x), dimensions={0}\nb = s32[] get-dimension-size(x), dimensions={1}\nROOT t = (s32[], s32[]) tuple(a, b)'), normal('gds', (6, 2)))
    # fusion
    for kind in ('kLoop', 'kInput', 'kOutput'):
        yield as_calls(H(f'fusion_{kind}', program(f'x = f32[5,6]{{1,0}} parameter(0)\ny = f32[6]{{0}} parameter(1)\nr = f32[5,6]{{1,0}} fusion(x, y), kind={kind}, calls=f', comps='f {\n  x = f32[5,6]{1,0} parameter(0)\n  y = f32[6]{0} parameter(1)\n  b = f32[5,6]{1,0} broadcast(y), dimensions={1}\n  m = f32[5,6]{1,0} maximum(x, b)\n  ROOT r = f32[5,6]{1,0} subtract(m, x)\n}\n'), normal('fx', (5, 6)), normal('fy', 6)))
    yield as_calls(H('fusion_multi_output', program('x = f32[8]{0} parameter(0)\nt = (f32[8]{0}, f32[]) fusion(x), kind=kInput, calls=f\na = f32[8]{0} get-tuple-element(t), index=0\nb = f32[] get-tuple-element(t), index=1\nROOT r = (f32[], f32[8]{0}) tuple(b, a)', comps=reducer('maximum', 'f32', 'mx') + '\nf {\n  x = f32[8]{0} parameter(0)\n  n = f32[8]{0} abs(x)\n  z = f32[] constant(0)\n  s = f32[] reduce(n, z), dimensions={0}, to_apply=mx\n  ROOT t = (f32[8]{0}, f32[]) tuple(n, s)\n}\n'), normal('fm', 8)))
    yield as_calls(H('fusion_nested', program('x = s32[8]{0} parameter(0)\nr = s32[8]{0} fusion(x), kind=kLoop, calls=outer', comps='inner {\n  x = s32[8]{0} parameter(0)\n  ROOT r = s32[8]{0} multiply(x, x)\n}\n\nouter {\n  x = s32[8]{0} parameter(0)\n  i = s32[8]{0} fusion(x), kind=kLoop, calls=inner\n  ROOT r = s32[8]{0} add(i, x)\n}\n'), ints('fn', 8)))
    yield H('fusion_without_operands', program('r = s32[3,4]{1,0} fusion(), kind=kLoop, calls=f', comps='f {\n  i = s32[3,4]{1,0} iota(), iota_dimension=1\n  ROOT r = s32[3,4]{1,0} multiply(i, i)\n}\n'))
    # XLA:CPU compiles only some kinds of fusion: the value is that of a call
    # bitcast: same bytes under another shape and layout
    yield H('bitcast_reshape', program('x = f32[4,6]{1,0} parameter(0)\nr = f32[2,12]{1,0} bitcast(x)'), normal('b1', (4, 6)), equiv=program('x = f32[4,6]{1,0} parameter(0)\nr = f32[2,12]{1,0} reshape(x)'))
    yield H('bitcast_transpose', program('x = f32[4,6]{1,0} parameter(0)\nr = f32[6,4]{0,1} bitcast(x)'), normal('b2', (4, 6)), equiv=program('x = f32[4,6]{1,0} parameter(0)\nr = f32[6,4]{0,1} transpose(x), dimensions={1,0}'))
    yield H('bitcast_layout', program('x = f32[4,6]{0,1} parameter(0)\nr = f32[6,4]{1,0} bitcast(x)'), normal('b3', (4, 6)), equiv=program('x = f32[4,6]{0,1} parameter(0)\nr = f32[6,4]{1,0} transpose(x), dimensions={1,0}'))
    yield H('bitcast_reinterpret', program('x = f32[4,6]{1,0} parameter(0)\nb = f32[4,6]{0,1} bitcast(x)\nr = f32[4,6]{1,0} copy(b)'), normal('b4', (4, 6)), expect=lambda i: [i[0].reshape(-1).reshape((4, 6), order='F')], by='definition')
    yield H('bitcast_type', program('x = f32[4]{0} parameter(0)\nr = u32[4]{0} bitcast(x)'), normal('b5', 4), equiv=program('x = f32[4]{0} parameter(0)\nr = u32[4]{0} bitcast-convert(x)'))
    yield H('reshape_then_dynamic', program('x = s32[2,3]{1,0} parameter(0)\na = s32[] constant(3)\nb = s32[] constant(2)\nr = s32[<=3,2]{1,0} dynamic-reshape(x, a, b)\nq = s32[3,2]{1,0} set-dimension-size(r, a), dimensions={0}'), ints('dr', (2, 3)), expect=lambda i: [i[0].reshape(3, 2)], by='definition')

# --------------------------------------------------------------------------- accepted spellings of the text
@suite('syntax')
def syntax():
    a, b = normal('sa', (2, 3)), normal('sb', (2, 3)); i4 = np.arange(4, dtype=np.int32)
    def T(name, text, *ins, **kw): return H(name, text, *ins, keep_text=True, **kw)
    yield T('no_header', 'ENTRY e {\n  a = f32[2,3]{1,0} parameter(0)\n  b = f32[2,3]{1,0} parameter(1)\n  ROOT r = f32[2,3]{1,0} add(a, b)\n}\n', a, b)
    yield T('no_entry_keyword', 'HloModule m\n\nf {\n  x = f32[] parameter(0)\n  ROOT r = f32[] negate(x)\n}\n\ne {\n  a = f32[2,3]{1,0} parameter(0)\n  ROOT r = f32[2,3]{1,0} map(a), dimensions={0,1}, to_apply=f\n}\n', a)
    yield T('no_root_keyword', 'HloModule m\n\nENTRY e {\n  a = f32[2,3]{1,0} parameter(0)\n  b = f32[2,3]{1,0} negate(a)\n  c = f32[2,3]{1,0} add(b, b)\n}\n', a)
    yield T('root_not_last', 'HloModule m\n\nENTRY e {\n  a = f32[2,3]{1,0} parameter(0)\n  ROOT b = f32[2,3]{1,0} negate(a)\n  c = f32[2,3]{1,0} add(b, b)\n}\n', a)
    yield T('percent_and_operand_shapes', 'HloModule m\n\nENTRY %e (%a.1: f32[2,3], b: f32[2,3]) -> f32[2,3] {\n  %a.1 = f32[2,3]{1,0} parameter(0)\n  %b = f32[2,3]{1,0} parameter(1)\n  ROOT %r = f32[2,3]{1,0} subtract(f32[2,3]{1,0} %a.1, f32[2,3]{1,0} %b)\n}\n'.replace('(%a.1: ', '(a.1: '), a, b)
    yield T('no_layouts', 'HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  t = f32[3,2] transpose(a), dimensions={1,0}\n  ROOT r = f32[6] reshape(t)\n}\n', a)
    yield T('inferred_shapes', 'HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  b = f32[2,3] parameter(1)\n  c = add(a, b)\n  d = transpose(c), dimensions={1,0}\n  e = pred[3,2] compare(d, d), direction=EQ\n  ROOT r = tuple(d, e)\n}\n', a, b)
    yield T('comments', '/* one */ HloModule m // two\n\nENTRY /* three\n lines */ e { // four\n  a = f32[2,3] parameter(/*number*/0)\n  ROOT r = /*shape*/ f32[2,3] negate(a) // end\n}\n// last', a)
    yield T('crlf_and_tabs', 'HloModule m\r\n\r\nENTRY e {\r\n\ta = f32[2,3] parameter(0)\r\n\tROOT r = f32[2,3]\tnegate( a )\r\n}\r\n', a)
    yield T('one_line', 'HloModule m ENTRY e { a = f32[2,3] parameter(0) ROOT r = f32[2,3] negate(a) }', a)
    yield T('nested_computation', 'HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[2] reduce(a, z), dimensions={1}, to_apply={\n    x = f32[] parameter(0)\n    y = f32[] parameter(1)\n    ROOT m = f32[] maximum(x, y)\n  }\n}\n', a)
    yield T('nested_while', 'HloModule m\n\nENTRY e {\n  n = s32[] parameter(0)\n  ROOT r = s32[] while(n), condition={\n    i = s32[] parameter(0)\n    k = s32[] constant(10)\n    ROOT c = pred[] compare(i, k), direction=LT\n  }, body={\n    i = s32[] parameter(0)\n    k = s32[] constant(3)\n    ROOT c = s32[] add(i, k)\n  }\n}\n', np.int32(2))
    yield T('nested_operands', 'HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  b = f32[2,3] parameter(1)\n  ROOT r = f32[2,3] multiply(f32[2,3] add(a, b), negate(b))\n}\n', a, b, compare=ulp(1, 'f32'))
    yield T('nested_constant_operand', 'HloModule m\n\nENTRY e {\n  a = s32[4] parameter(0)\n  ROOT r = s32[4] add(a, s32[4] constant({10, 20, 30, 40}))\n}\n', i4)
    yield T('tuple_path', 'HloModule m\n\nENTRY e {\n  p = (f32[2,3], (s32[4], f32[2,3])) parameter(0)\n  n = s32[4] negate(p#1#0)\n  ROOT r = tuple(p#0, n, p#1#1)\n}\n', a, i4, b, note='the # notation is newer than the oracle', equiv='HloModule m\n\nENTRY e {\n  p = (f32[2,3], (s32[4], f32[2,3])) parameter(0)\n  x = get-tuple-element(p), index=0\n  q = get-tuple-element(p), index=1\n  y = get-tuple-element(q), index=0\n  z = get-tuple-element(q), index=1\n  n = s32[4] negate(y)\n  ROOT r = tuple(x, n, z)\n}\n')
    yield T('names', 'HloModule a.b-c_d\n\nENTRY add {\n  add.007 = f32[2,3] parameter(0)\n  add = f32[2,3] add(add.007, add.007)\n  negate-x = f32[2,3] negate(add)\n  ROOT root_ = f32[2,3] add(negate-x, add.007)\n}\n', a)
    yield T('parameter_list_colon', 'HloModule m:\n\nENTRY e (a: f32[2,3]) -> f32[2,3] {\n  a = f32[2,3] parameter(0)\n  ROOT r = f32[2,3] copy(a)\n}\n', a)
    yield T('module_attributes', 'HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, entry_computation_layout={(f32[2,3]{0,1}, f32[2,3]{1,0})->(f32[2,3]{0,1}, f32[2,3]{1,0})}, replica_count=1\n\nENTRY e {\n  a = f32[2,3]{0,1} parameter(0)\n  b = f32[2,3]{1,0} parameter(1)\n  n = f32[2,3]{0,1} negate(a)\n  m = f32[2,3]{1,0} negate(b)\n  ROOT r = (f32[2,3]{0,1}, f32[2,3]{1,0}) tuple(n, m)\n}\n', a, b)
    yield T('broadcast_scalar_without_dimensions', 'HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  c = f32[] constant(2)\n  b = f32[2,3] broadcast(c)\n  ROOT r = f32[2,3] multiply(a, b)\n}\n', a)
    yield T('slice_spellings', 'HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  s = f32[1,2] slice(a), slice={[1:2], [0:3:2]}\n  t = f32[2,1] slice(a), slice={[0:2:1],[2:3:1]}\n  ROOT r = tuple(s, t)\n}\n', a)
    yield T('pad_spellings', 'HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  z = f32[] constant(-1)\n  p = f32[4,6] pad(a, z), padding=1_1x0_1_1\n  ROOT q = f32[4,7] pad(p, z), padding=0_0x-1_2_0\n}\n', a)
    yield T('constant_spellings', 'HloModule m\n\nENTRY e {\n  a = f32[7] constant({1, 1.0, 1e0, -.5, inf, -inf, nan})\n  b = pred[4] constant({true, 0, 7, false})\n  c = s8[2] constant({ -128 , 127 })\n  d = f32[2,2] constant({{1,2},{3,4}})\n  e = u32[2] constant({4294967295,0})\n  f = c64[2] constant({(1, 2), (-0.5,inf)})\n  g = f32[2,0] constant({ {}, {} })\n  h = f32[] constant(nan)\n  i = f32[3] constant({-nan, nan(0x123), -nan(0x7)})\n  ROOT t = tuple(a, b, c, d, e, f, g, h, i)\n}\n')
    yield T('constant_commas_ignored', 'HloModule m\n\nENTRY e {\n  ROOT a = s32[2,3] constant({ {1 2, 3}, ,{4,,5 6} })\n}\n')
    yield T('constant_layout', 'HloModule m\n\nENTRY e {\n  ROOT a = s32[2,3]{0,1} constant({ {1, 2, 3}, {4, 5, 6} })\n}\n')
    yield T('rank4_literal_comments', 'HloModule m\n\nENTRY e {\n  ROOT a = s32[2,1,2,2] constant({ { /*i0=0*/ { /*i1=0*/ { 1, 2 }, { 3, 4 } } }, { /*i0=1*/ { /*i1=0*/ { 5, 6 }, { 7, 8 } } } })\n}\n')
    yield T('attribute_order', 'HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  b = f32[2,3] parameter(1)\n  ROOT r = f32[2,2] dot(a, b), rhs_contracting_dims={1}, operand_precision={HIGHEST,default}, lhs_contracting_dims={1}\n}\n', a, b, compare='auto')
    yield T('dot_without_contraction_attributes', 'HloModule m\n\nENTRY e {\n  a = f32[2] parameter(0)\n  b = f32[3] parameter(1)\n  ROOT r = f32[2,3] dot(a, b)\n}\n', normal('d2', 2), normal('d3', 3))
    yield T('window_order', 'HloModule m\n\nENTRY e {\n  a = f32[1,6,6,1] parameter(0)\n  k = f32[3,3,1,2] parameter(1)\n  ROOT r = f32[1,3,3,2] convolution(a, k), dim_labels=b01f_01io->b01f, window={stride=2x2 pad=1_1x1_1 size=3x3}\n}\n', normal('w1', (1, 6, 6, 1)), normal('w2', (3, 3, 1, 2)), compare='auto')
    yield T('metadata_and_config', 'HloModule m, frontend_attributes={k="v"}\n\nENTRY e {\n  a = f32[2,3] parameter(0), sharding={replicated}, metadata={op_name="x\\"y" source_file="f.py" source_line=3}\n  ROOT r = f32[2,3] negate(a), backend_config={"a":{"b":[1,2,"}"]}}, frontend_attributes={x="1"}, metadata={op_type="neg"}\n}\n', a)
    yield T('stack_frames', 'HloModule m\n\nFileNames\n1 "f.py"\n\nFunctionNames\n1 "main"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=4 end_column=9}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  ROOT r = f32[2,3] negate(a), metadata={op_name="n" stack_frame_id=1}\n}\n', a)
    yield T('layout_properties', 'HloModule m\n\nENTRY e {\n  a = f32[2,3]{1,0:T(8,128)} parameter(0)\n  ROOT r = f32[2,3]{1,0} negate(a)\n}\n', a, equiv=program('a = f32[2,3]{1,0} parameter(0)\nr = f32[2,3]{1,0} negate(a)'))
    yield T('s4_element_size', 'HloModule m\n\nENTRY e {\n  a = s4[8]{0:E(4)} parameter(0)\n  ROOT r = s4[8]{0:E(4)} add(a, a)\n}\n', ints('s4', 8, 's4'))
    yield T('map_without_dimensions', 'HloModule m\n\nf {\n  x = f32[] parameter(0)\n  ROOT r = f32[] abs(x)\n}\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  ROOT r = f32[2,3] map(a), to_apply=f\n}\n', a)
    yield T('enum_case', 'HloModule m\n\nENTRY e {\n  s = u64[2] parameter(0)\n  ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=RNG_THREE_FRY\n}\n', np.array([1, 2], 'u8'))
    yield T('computation_after_use_of_names', 'HloModule m\n\nx {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT z = s32[] add(x, y)\n}\n\nENTRY y {\n  x = s32[4] parameter(0)\n  z = s32[] constant(0)\n  ROOT y = s32[] reduce(x, z), dimensions={0}, to_apply=x\n}\n', i4)
    yield T('bare_scalar_constant', 'HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  c = f32[2,3] constant({{1,1,1},{1,1,1}})\n  ROOT r = f32[2,3] add(a, c)\n}\n', a)
    yield T('dead_code', 'HloModule m\n\nunused {\n  x = f32[] parameter(0)\n  ROOT r = f32[] sine(x)\n}\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  d = f32[2,3] log(a)\n  q = f32[9] iota(), iota_dimension=0\n  ROOT r = f32[2,3] negate(a)\n}\n', a)
    yield T('trailing_commas', 'HloModule m, input_output_alias={ {}: (0, {}, may-alias), }\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  ROOT r = f32[2,3] negate(a)\n}\n', a)
    yield T('string_escapes', "HloModule m\n\nENTRY e {\n  a = f32[2,3] parameter(0)\n  ROOT r = f32[2,3] negate(a), metadata={op_name='it\\'s \\101\\x42 \\u00e9'}\n}\n", a)

# --------------------------------------------------------------------------- lapack custom calls
@suite('lapack')
def lapack():
    import jax.scipy.linalg as jsl
    la = jnp.linalg
    H_ = lambda a: jnp.conj(jnp.swapaxes(a, -1, -2))
    def herm(a): return (a + H_(a)) / 2
    functions = dict(
        qr=(lambda a: (lambda q, r: (q @ r, H_(q) @ q, jnp.tril(r, -1)))(*la.qr(a)), [(5, 5), (6, 3), (3, 6), (2, 4, 4), (1, 1)]),
        qr_complete=(lambda a: (lambda q, r: (q @ r, H_(q) @ q))(*la.qr(a, mode='complete')), [(6, 3)]),
        lu=(lambda a: (lambda p, l, u: (p @ l @ u, p.real))(*jsl.lu(a)), [(5, 5), (4, 6), (6, 4)]),
        solve=(lambda a: la.solve(a + 3 * jnp.eye(a.shape[-1], dtype=a.dtype), jnp.ones(a.shape[:-1] + (2,), a.dtype)), [(5, 5), (3, 4, 4)]),
        inv=(lambda a: la.inv(a + 3 * jnp.eye(a.shape[-1], dtype=a.dtype)), [(4, 4), (2, 3, 3)]), det=(lambda a: la.det(a), [(4, 4), (2, 3, 3)]), slogdet=(lambda a: la.slogdet(a), [(5, 5)]),
        cholesky=(lambda a: la.cholesky(a @ H_(a) + 2 * jnp.eye(a.shape[-1], dtype=a.dtype)), [(5, 5), (2, 3, 3), (1, 1)]), cho_solve=(lambda a: jsl.cho_solve(jsl.cho_factor(a @ H_(a) + 2 * jnp.eye(a.shape[-1], dtype=a.dtype)), jnp.ones(a.shape[-1], a.dtype)), [(5, 5)]),
        svd=(lambda a: (lambda u, s, v: (s, (u * s[..., None, :]) @ v, H_(u) @ u))(*la.svd(a, full_matrices=False)), [(5, 5), (6, 3), (3, 6), (2, 4, 3)]), svdvals=(lambda a: la.svd(a, compute_uv=False), [(6, 4)]),
        eigh=(lambda a: (lambda w, v: (w, (v * w[..., None, :].astype(v.dtype)) @ H_(v), H_(v) @ v))(*la.eigh(herm(a))), [(5, 5), (2, 4, 4), (1, 1)]), eigvalsh=(lambda a: la.eigvalsh(herm(a)), [(6, 6)]),
        pinv=(lambda a: la.pinv(a), [(5, 3)]), lstsq=(lambda a: la.lstsq(a, jnp.ones(a.shape[0], a.dtype))[0], [(6, 3)]), norm2=(lambda a: la.norm(a, 2), [(5, 4)]), rank=(lambda a: la.matrix_rank(a), [(5, 4)]), cond=(lambda a: la.cond(a), [(4, 4)]),
        triangular_solve=(lambda a: jsl.solve_triangular(a + 3 * jnp.eye(a.shape[-1], dtype=a.dtype), jnp.ones((a.shape[-1], 2), a.dtype), lower=True), [(5, 5)]), expm=(lambda a: jsl.expm(a * 0.3), [(4, 4)]), sqrtm_spd=(lambda a: (lambda w, v: (v * jnp.sqrt(jnp.abs(w) + 1).astype(v.dtype)) @ H_(v))(*la.eigh(herm(a))), [(4, 4)]))
    for name, (f, shapes) in functions.items():
        for d in shapes:
            for t in (['f32', 'f64', 'c64', 'c128'] if d == shapes[0] else ['f32', 'c128'][:1 + (len(d) == 2)]):
                if t in COMPLEX and name in ('lstsq', 'expm', 'slogdet'): continue
                yield J(f"{name}_{t}_{'x'.join(map(str, d))}", f, normal(('la', name), d, t), compare='linalg', tier='lapack', x64=t in ('f64', 'c128'), slack=1)
    for t in ('f32', 'f64', 'c64', 'c128'):        # eigenvalues in any order: compare symmetric functions of them, and the residual
        x64 = t in ('f64', 'c128')
        yield J(f'eig_{t}', lambda a: (lambda w, v: (w.sum(), (w * w).sum(), (w**3).sum(), jnp.max(jnp.abs(a @ v - v * w)) < 1e-3))(*la.eig(a)), normal('eig', (5, 5), t), compare='linalg', tier='lapack', x64=x64)
        yield J(f'eigvals_{t}', lambda a: (lambda w: (w.sum(), w.prod()))(la.eigvals(a)), normal('eigv', (4, 4), t), compare='linalg', tier='lapack', x64=x64)
        yield J(f'schur_{t}', lambda a: (lambda s, z: (z @ s @ H_(z), H_(z) @ z))(*jsl.schur(a)), normal('sch', (4, 4), t), compare='linalg', tier='lapack', x64=x64)
        yield J(f'hessenberg_{t}', lambda a: (lambda h, q: (q @ h @ H_(q), jnp.tril(h, -2)))(*jsl.hessenberg(a, calc_q=True)), normal('hes', (5, 5), t), compare='linalg', tier='lapack', x64=x64)
        yield J(f'tridiagonal_solve_{t}', lambda a: lax.linalg.tridiagonal_solve(a[0], a[1] + 4, a[2], a[3:].T), normal('tri', (5, 7), t), compare='linalg', tier='lapack', x64=x64)
    yield J('gradient_of_logdet', jax.grad(lambda a: la.slogdet(a @ a.T + 2 * jnp.eye(4))[1]), normal('ld', (4, 4)), compare='linalg', tier='lapack'); yield J('gradient_of_svd', jax.grad(lambda a: la.svd(a, compute_uv=False).sum()), normal('gs', (4, 3)), compare='linalg', tier='lapack')
    yield J('gradient_of_eigh', jax.grad(lambda a: (la.eigvalsh((a + a.T) / 2)**2 * jnp.arange(4.)).sum()), normal('ge', (4, 4)), compare='linalg', tier='lapack'); yield J('gradient_of_cholesky', jax.grad(lambda a: la.cholesky(a @ a.T + jnp.eye(4)).sum()), normal('gc', (4, 4)), compare='linalg', tier='lapack')
