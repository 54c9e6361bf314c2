"""Suites of reduce, reduce-window and select-and-scatter."""
import numpy as np
import jax, jax.numpy as jnp
from jax import lax
from generator.machinery import COMPLEX, DT, F8, FLOATS, H, J, SIGNED, UNSIGNED, close, suite
from generator.data import INT_EDGES, data, ints, normal, program, reducer, shp, uniform

# --------------------------------------------------------------------------- reduce
IDENTITY = dict(add=0, multiply=1)
def init_of(op, t):
    if t in COMPLEX: return {'add': '(0, 0)', 'multiply': '(1, 0)'}[op]
    if op in IDENTITY: return IDENTITY[op]
    if t == 'pred': return {'and': 'true', 'or': 'false', 'xor': 'false', 'maximum': 'false', 'minimum': 'true'}[op]
    if op in ('or', 'xor'): return 0
    if op == 'and': return -1 if t[0] == 's' else (1 << int(t[1:])) - 1
    if t in FLOATS or t in F8: return '-inf' if op == 'maximum' else 'inf'
    lo, hi = INT_EDGES(t); return lo if op == 'maximum' else hi

def reduce_case(name, op, t, x, dims, **kw):
    out = [s for i, s in enumerate(x.shape) if i not in dims]
    return H(name, program(f"x = {shp(t, x.shape)} parameter(0)\nz = {t}[] constant({init_of(op, t)})\nr = {shp(t, out)} reduce(x, z), dimensions={{{','.join(map(str, dims))}}}, to_apply={op}f", comps=reducer(op, t, op + 'f'), name=name), x, **kw)

ARGMAX = '''f {
  v = T[] parameter(0)
  i = s32[] parameter(1)
  w = T[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(v, w), direction=GT
  ne = pred[] compare(v, v), direction=NE
  keep = pred[] or(gt, ne)
  eq = pred[] compare(v, w), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  first = pred[] or(keep, tie)
  m = T[] select(keep, v, w)
  k = s32[] select(first, i, j)
  ROOT t = (T[], s32[]) tuple(m, k)
}
'''

@suite('reduce')
def reduce():
    n = 0; shapes = [((7, 9), (1,)), ((7, 9), (0,)), ((4, 5, 6), (0, 2)), ((33,), (0,)), ((3, 4, 5), (1,)), ((2, 3, 4, 5), (1, 2, 3)), ((6, 1, 5), (1,)), ((5, 70), (1,)), ((70, 5), (0,))]
    for t in SIGNED + UNSIGNED + ['s4', 'u4']:
        for op in ('add', 'multiply', 'maximum', 'minimum', 'and', 'or', 'xor'):
            n += 1; d, dims = shapes[n % len(shapes)]
            if t in ('s4', 'u4') and op in ('and', 'or', 'xor'): continue
            yield reduce_case(f'{op}_{t}', op, t, ints(('re', n), d, t) if op != 'multiply' else ints(('re', n), d, t, 1, 4), dims)
    for op in ('and', 'or', 'xor', 'add', 'multiply', 'maximum', 'minimum'):
        n += 1; d, dims = shapes[n % len(shapes)]
        if op in IDENTITY: yield H(f'{op}_pred', program(f"x = {shp('pred', d)} parameter(0)\nz = pred[] constant({'true' if op == 'multiply' else 'false'})\nr = {shp('pred', [s for i, s in enumerate(d) if i not in dims])} reduce(x, z), dimensions={{{','.join(map(str, dims))}}}, to_apply=f", comps=reducer(op, 'pred', 'f')), ints(('rp', n), d, 'pred'))
        else: yield reduce_case(f'{op}_pred', op, 'pred', ints(('rp', n), d, 'pred'), dims)
    for t in FLOATS:
        for op in ('add', 'multiply', 'maximum', 'minimum'):
            for v in range(2 if t in ('f32', 'f64') else 1):
                n += 1; d, dims = shapes[n % len(shapes)]
                x = normal(('rf', n), d, t) if op != 'multiply' else uniform(('rf', n), d, t, 0.7, 1.4)
                yield reduce_case(f'{op}_{t}_{v}', op, t, x, dims, compare='auto' if op in IDENTITY else 'exact')
        x = normal(('rn', t), (5, 12), t); x[1, 3] = np.nan; x[2, 5] = np.inf; x[3, 0] = -np.inf; x[3, 7] = np.inf; x[4, 11] = np.nan
        for op in ('add', 'maximum', 'minimum'): yield reduce_case(f'{op}_{t}_special', op, t, x, (1,), compare='auto' if op == 'add' else 'exact')
    for t in COMPLEX:
        for op in ('add', 'multiply'):
            n += 1; d, dims = shapes[n % len(shapes)]
            yield reduce_case(f'{op}_{t}', op, t, (normal(('rc', n), d, t) * (1 if op == 'add' else 0.7)).astype(DT[t]), dims, compare='auto')
    for t in ('f8e5m2', 'f8e4m3fn'):
        yield reduce_case(f'maximum_{t}', 'maximum', t, normal(('r8', t), (6, 11), t), (1,)) if t == 'f8e5m2' else reduce_case('add_f8e4m3fn', 'add', t, np.resize(np.array([1, 2, -1, 0.5]), (6, 11)).astype(DT[t]), (1,))
    for name, d, dims in [('all', (3, 4, 5), (0, 1, 2)), ('none', (3, 4), ()), ('empty_dim', (3, 0), (1,)), ('empty_result', (0, 4), (1,)), ('scalar', (), ()), ('one', (1, 1), (0, 1)), ('rank5', (2, 3, 2, 3, 2), (0, 2, 4)), ('long', (3000,), (0,)), ('rows', (40, 65), (1,)), ('columns', (65, 40), (0,)), ('unsorted_dims', (3, 4, 5), (2, 0))]:
        yield reduce_case('shape_' + name, 'add', 'f32', normal(('rs', name), d), dims, compare='auto')
        yield reduce_case('shape_int_' + name, 'maximum', 's32', ints(('rs', name), d), dims)
    yield H('init_not_identity', program('x = s32[3,4]{1,0} parameter(0)\nz = s32[] parameter(1)\nr = s32[3]{0} reduce(x, z), dimensions={1}, to_apply=f', comps=reducer('add', 's32', 'f')), ints('ri', (3, 4), 's32', -9, 9), np.int32(100))
    yield H('init_max_clamps', program('x = f32[3,4]{1,0} parameter(0)\nz = f32[] constant(0.25)\nr = f32[4]{0} reduce(x, z), dimensions={0}, to_apply=f', comps=reducer('maximum', 'f32', 'f')), normal('rm', (3, 4)))
    for t in ('f32', 'bf16', 's32', 'f64'):
        x = ints(('am', t), (6, 13), 's32', -4, 5).astype(DT[t])
        if t != 's32': x[2, 4] = np.nan; x[2, 9] = np.nan; x[4, 12] = np.inf
        lo = '-inf' if t != 's32' else '-2147483648'
        yield H(f'argmax_{t}', program(f'x = {shp(t, (6, 13))} parameter(0)\ni = s32[6,13]{{1,0}} iota(), iota_dimension=1\na = {t}[] constant({lo})\nb = s32[] constant(0)\nr = ({t}[6]{{0}}, s32[6]{{0}}) reduce(x, i, a, b), dimensions={{1}}, to_apply=f', comps=ARGMAX.replace('T[]', t + '[]')), x)
    yield H('variadic_sum_product', program('x = s32[5,6]{1,0} parameter(0)\ny = f32[5,6]{1,0} parameter(1)\na = s32[] constant(0)\nb = f32[] constant(1)\nr = (s32[6]{0}, f32[6]{0}) reduce(x, y, a, b), dimensions={0}, to_apply=f',
        comps='f {\n  a = s32[] parameter(0)\n  b = f32[] parameter(1)\n  c = s32[] parameter(2)\n  d = f32[] parameter(3)\n  e = s32[] add(a, c)\n  g = f32[] multiply(b, d)\n  ROOT t = (s32[], f32[]) tuple(e, g)\n}\n'), ints('vs', (5, 6), 's32', -9, 9), uniform('vp', (5, 6), 'f32', 0.5, 1.5), compare=['exact', close(rel=1e-6)])
    yield H('variadic_three', program('x = s32[4,7]{1,0} parameter(0)\ny = s32[4,7]{1,0} parameter(1)\nw = s32[4,7]{1,0} parameter(2)\nz = s32[] constant(0)\nr = (s32[4]{0}, s32[4]{0}, s32[4]{0}) reduce(x, y, w, z, z, /*index=5*/z), dimensions={1}, to_apply=f',
        comps='f {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  c = s32[] parameter(2)\n  d = s32[] parameter(3)\n  e = s32[] parameter(4)\n  g = s32[] parameter(5)\n  h = s32[] add(a, d)\n  i = s32[] maximum(b, e)\n  j = s32[] xor(c, g)\n  ROOT t = (s32[], s32[], s32[]) tuple(h, i, j)\n}\n'), *[ints(('v3', i), (4, 7)) for i in range(3)])
    yield H('reducer_with_convert', program('x = f32[4,7]{1,0} parameter(0)\nz = f32[] constant(0)\nr = f32[4]{0} reduce(x, z), dimensions={1}, to_apply=f', comps='f {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] abs(b)\n  ROOT d = f32[] maximum(a, c)\n}\n'), normal('rc', (4, 7)))
    yield H('layout_column_major', program('x = f32[8,6]{0,1} parameter(0)\nz = f32[] constant(0)\nr = f32[6]{0} reduce(x, z), dimensions={0}, to_apply=f', comps=reducer('add', 'f32', 'f')), normal('rl', (8, 6)), compare='auto')
    x = normal('jr', (6, 7, 5)); y = ints('jri', (6, 7), 's32', -20, 20)
    for name, f in dict(mean=lambda x: x.mean((0, 2)), var=lambda x: x.var(1), std=lambda x: x.std(), norm=lambda x: jnp.linalg.norm(x, axis=-1), logsumexp=lambda x: jax.nn.logsumexp(x, 1), softmax=lambda x: jax.nn.softmax(x, -1), prod=lambda x: x[..., :3].prod(-1), median=lambda x: jnp.median(x, 1), ptp=lambda x: jnp.ptp(x, 0), any_all=lambda x: ((x > 1).any(1), (x > -1).all(0)),
                        argmin=lambda x: jnp.argmin(x, 1), argmax_all=lambda x: jnp.argmax(x), nansum=lambda x: jnp.nansum(jnp.where(x > 1, jnp.nan, x), 1), average=lambda x: jnp.average(x, 1, jnp.arange(7.0)), cumsum=lambda x: jnp.cumsum(x, 1), cumprod=lambda x: jnp.cumprod(x, 2), cummax=lambda x: lax.cummax(x, 1), cumlogsumexp=lambda x: lax.cumlogsumexp(x, 2, reverse=True), count=lambda x: jnp.count_nonzero(x > 0, 1), einsum_sum=lambda x: jnp.einsum('ijk->k', x)).items():
        yield J('jnp_' + name, f, x)
    for t in ('bf16', 'f16'):
        yield J(f'sum_{t}', lambda x: x.sum(1), normal(('js', t), (9, 40), t)); yield J(f'mean_{t}', lambda x: x.mean(0), normal(('jm', t), (40, 9), t)); yield J(f'softmax_{t}', lambda x: jax.nn.softmax(x), normal(('jx', t), (5, 31), t))

# --------------------------------------------------------------------------- reduce-window, select-and-scatter
def window_out(d, size, stride, pad, ld, rd):
    out = []
    for n, w, s, (lo, hi), a, b in zip(d, size, stride, pad, ld, rd):
        p = lo + (0 if n == 0 else (n - 1) * a + 1) + hi; w = (w - 1) * b + 1
        out.append(0 if p == 0 or w > p else (p - w) // s + 1)
    return out

def window_text(size, stride, pad, ld, rd):
    x = lambda v: 'x'.join(map(str, v)); s = f'size={x(size)}'
    if any(v != 1 for v in stride): s += f' stride={x(stride)}'
    if any(v != (0, 0) for v in pad): s += ' pad=' + 'x'.join(f'{a}_{b}' for a, b in pad)
    if any(v != 1 for v in ld): s += f' lhs_dilate={x(ld)}'
    if any(v != 1 for v in rd): s += f' rhs_dilate={x(rd)}'
    return '{' + s + '}'

WINDOWS = [  # dims, size, stride, padding, base dilation, window dilation
    ((10,), (3,), (1,), ((0, 0),), (1,), (1,)), ((10,), (3,), (2,), ((1, 1),), (1,), (1,)), ((7, 8), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1), (1, 1)), ((7, 8), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1)), ((7, 8), (2, 3), (1, 2), ((0, 1), (2, 0)), (1, 1), (1, 1)),
    ((6, 5), (2, 2), (1, 1), ((0, 0), (0, 0)), (2, 1), (1, 1)), ((6, 9), (2, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), (2, 3)), ((6, 5), (3, 2), (2, 1), ((2, 1), (1, 1)), (3, 2), (1, 2)), ((2, 6, 6, 3), (1, 2, 2, 1), (1, 2, 2, 1), ((0, 0),) * 4, (1,) * 4, (1,) * 4), ((2, 5, 7, 3), (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)), (1,) * 4, (1,) * 4),
    ((9,), (9,), (1,), ((8, 0),), (1,), (1,)), ((9,), (9,), (1,), ((0, 8),), (1,), (1,)), ((6,), (2,), (1,), ((-1, -2),), (1,), (1,)), ((3,), (5,), (1,), ((0, 0),), (1,), (1,)), ((0, 4), (1, 2), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1)), ((3, 4), (1, 2), (1, 1), ((2, 2), (0, 0)), (1, 1), (1, 1)), ((), (), (), (), (), ()), ((3, 4, 5, 2, 2), (2, 2, 2, 1, 2), (1, 2, 1, 1, 1), ((0, 0), (1, 0), (0, 1), (0, 0), (0, 0)), (1,) * 5, (1,) * 5), ((64,), (64,), (1,), ((63, 0),), (1,), (1,))]

@suite('reduce_window')
def reduce_window():
    ts = ['f32', 's32', 'bf16', 'f64', 'u8', 's64', 'f16', 's8']
    for k, w in enumerate(WINDOWS):
        d, size = w[0], w[1]; out = window_out(*w); at = f', window={window_text(*w[1:])}' if d else ''
        for m, op in enumerate(('add', 'maximum', 'minimum', 'multiply')):
            if op in ('minimum', 'multiply') and (k + m) % 3: continue
            t = ts[(k + m) % len(ts)]; x = data(('rw', k, m), d, t)
            if op == 'multiply': x = (uniform(('rx', k), d, 'f32', 0.5, 1.5) if t in FLOATS else ints(('rx', k), d, 's32', 1, 3)).astype(DT[t])
            yield H(f'{op}_{k}_{t}', program(f'x = {shp(t, d)} parameter(0)\nz = {t}[] constant({init_of(op, t)})\nr = {shp(t, out)} reduce-window(x, z){at}, to_apply=f', comps=reducer(op, t, 'f')), x, compare='auto' if op in IDENTITY and t in FLOATS else 'exact')
    yield H('init_value_counts', program('x = s32[5]{0} parameter(0)\nz = s32[] constant(10)\nr = s32[4]{0} reduce-window(x, z), window={size=2}, to_apply=f', comps=reducer('maximum', 's32', 'f')), np.array([1, 20, 3, 4, 5], 'i4'))
    yield H('variadic_argmax', program('x = f32[4,9]{1,0} parameter(0)\ni = s32[4,9]{1,0} iota(), iota_dimension=1\na = f32[] constant(-inf)\nb = s32[] constant(0)\nr = (f32[4,4]{1,0}, s32[4,4]{1,0}) reduce-window(x, i, a, b), window={size=1x3 stride=1x2}, to_apply=f', comps=ARGMAX.replace('T[]', 'f32[]')), normal('rv', (4, 9)))
    yield H('nan', program('x = f32[9]{0} parameter(0)\nz = f32[] constant(-inf)\nr = f32[7]{0} reduce-window(x, z), window={size=3}, to_apply=f', comps=reducer('maximum', 'f32', 'f')), np.array([1, np.nan, 2, 3, 4, -np.inf, np.inf, 0, 5], 'f4'))
    x = normal('jw', (2, 9, 8, 3))
    for name, f in dict(avg_pool=lambda x: lax.reduce_window(x, 0., lax.add, (1, 3, 3, 1), (1, 2, 2, 1), 'SAME') / 9, max_pool_valid=lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 3, 1), (1, 2, 1, 1), 'VALID'), cumsum_rev=lambda x: lax.cumsum(x, 1, reverse=True), cumprod=lambda x: lax.cumprod(x, 2), cummin=lambda x: lax.cummin(x, 1), cummax_rev=lambda x: lax.cummax(x, 2, reverse=True)).items():
        yield J('lax_' + name, f, x)

@suite('select_and_scatter')
def select_and_scatter():
    for k, w in enumerate(WINDOWS):
        d = w[0]
        if not d or any(v != 1 for v in w[4] + w[5]) or any(min(p) < 0 for p in w[3]): continue
        out = window_out(*w)
        for t in (['f32', 's32', 'f64', 'bf16'][k % 4], 'f32'):
            if t == 'f32' and k % 4 == 0: continue
            for sel in ('GE', 'GT', 'LE')[:2 if k % 2 else 3:2 if k % 2 else 1]:
                x = ints(('sx', k), d, 's32', -9, 9).astype(DT[t]); s = ints(('ss', k), out, 's32', -5, 5).astype(DT[t])
                comps = f'sel {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction={sel}\n}}\n\n' + reducer('add', t, 'sc')
                yield H(f'{sel.lower()}_{k}_{t}', program(f'x = {shp(t, d)} parameter(0)\ns = {shp(t, out)} parameter(1)\nz = {t}[] constant(0)\nr = {shp(t, d)} select-and-scatter(x, s, z), window={window_text(*w[1:])}, select=sel, scatter=sc', comps=comps), x, s)
    comps = 'sel {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=GE\n}\n\n' + reducer('add', 'f32', 'sc')
    yield H('init_nonzero', program('x = f32[6]{0} parameter(0)\ns = f32[3]{0} parameter(1)\nz = f32[] constant(2)\nr = f32[6]{0} select-and-scatter(x, s, z), window={size=2 stride=2}, select=sel, scatter=sc', comps=comps), np.array([1, 5, 3, 3, -1, -2], 'f4'), np.array([10, 20, 30], 'f4'))
    x = normal('mp', (2, 8, 8, 3))
    yield J('max_pool_gradient', jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')**2).sum()), x)
    yield J('max_pool_overlap_gradient', jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), 'SAME')**2).sum()), x)
