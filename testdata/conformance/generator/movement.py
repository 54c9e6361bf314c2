"""Suite of ops that move data."""
import re
import numpy as np
import jax, jax.numpy as jnp
from jax import lax
from generator.machinery import DT, H, J, TYPE_OF, suite
from generator.data import data, ints, normal, program, shp

# --------------------------------------------------------------------------- data movement
def one(name, op_line, *inputs, layouts=None, **kw):
    """A program of one instruction; p0, p1.. are the parameters."""
    body = ''
    for i, a in enumerate(inputs):
        a = np.asarray(a); t = TYPE_OF[a.dtype]
        body += f'p{i} = {shp(t, a.shape, (layouts or {}).get(i))} parameter({i})\n'
    return H(name, program(body + 'r = ' + op_line, name=re.sub(r'\W', '_', name)), *inputs, **kw)

@suite('data_movement')
def data_movement():
    n = 0
    types = ['f32', 's32', 'bf16', 'u8', 'pred', 'c64', 'f64', 's64', 'f16', 'f8e4m3fn', 's4', 'u16', 's8', 'u4', 'f8e5m2', 'c128', 'u64', 'f4e2m1fn']
    def nxt():
        nonlocal n; n += 1; return types[n % len(types)]
    # broadcast
    for src, out, dims in [((), (3, 5), []), ((4,), (4, 7), [0]), ((7,), (4, 7), [1]), ((3, 5), (3, 2, 5), [0, 2]), ((3, 5), (5, 3), [1, 0]), ((2, 1), (2, 3, 1, 4), [0, 2]), ((), (), []),
                           ((5,), (0, 5), [1]), ((0, 3), (2, 0, 3), [1, 2]), ((2, 3, 4), (4, 3, 2), [2, 1, 0]), ((1,), (6, 1, 2), [1]), ((2, 3), (5, 2, 1, 3, 2), [1, 3]), ((17,), (9, 17, 3), [1])]:
        t = nxt(); yield one(f"broadcast_{'x'.join(map(str, src)) or 'scalar'}_{'x'.join(map(str, out)) or 'scalar'}", f"{shp(t, out)} broadcast(p0), dimensions={{{','.join(map(str, dims))}}}", data(('b', n), src, t))
    # reshape
    for src, out in [((6,), (2, 3)), ((2, 3, 4), (24,)), ((4, 6), (3, 8)), ((), (1, 1)), ((1, 1, 1), ()), ((2, 3, 5), (5, 6)), ((7, 1), (1, 7, 1)), ((0, 4), (2, 0)), ((3, 4, 5, 2), (6, 1, 20)), ((2, 2, 2, 2, 2), (4, 8)), ((1, 13), (13,))]:
        t = nxt(); yield one(f"reshape_{'x'.join(map(str, src)) or 'scalar'}_{'x'.join(map(str, out)) or 'scalar'}", f'{shp(t, out)} reshape(p0)', data(('r', n), src, t))
    yield one('reshape_layout_in', f'{shp("f32", (6, 4))} reshape(p0)', normal('rl', (2, 3, 4)), layouts={0: [0, 1, 2]})
    yield one('reshape_layout_out', 'f32[6,4]{0,1} reshape(p0)', normal('rl', (2, 3, 4)))
    # transpose
    import itertools
    for d in [(3, 5), (2, 3, 4), (3, 1, 4, 2), (2, 3, 1, 2, 4), (0, 3)]:
        perms = list(itertools.permutations(range(len(d))))
        for p in (perms if len(d) < 4 else [perms[i] for i in (5, 9, 13, 17, 23)] if len(d) == 4 else [perms[i] for i in (7, 40, 77, 101, 119)]):
            t = nxt(); out = [d[i] for i in p]
            yield one(f"transpose_{'x'.join(map(str, d))}_{''.join(map(str, p))}", f"{shp(t, out)} transpose(p0), dimensions={{{','.join(map(str, p))}}}", data(('t', n), d, t))
    yield one('transpose_layout', 'f32[4,3]{0,1} transpose(p0), dimensions={1,0}', normal('tl', (3, 4)))
    yield one('transpose_big', 'f32[70,33]{1,0} transpose(p0), dimensions={1,0}', normal('tb', (33, 70)))
    # copy with layouts
    for d, a, b in [((3, 4), (0, 1), (1, 0)), ((3, 4), (1, 0), (0, 1)), ((2, 3, 4), (0, 2, 1), (2, 0, 1)), ((2, 3, 4, 5), (3, 1, 2, 0), (0, 1, 2, 3)), ((1, 5), (0, 1), (1, 0))]:
        t = nxt(); yield one(f"copy_{'x'.join(map(str, d))}_{''.join(map(str, a))}_{''.join(map(str, b))}", f'{shp(t, d, b)} copy(p0)', data(('cp', n), d, t), layouts={0: list(a)})
    # slice
    for d, sl in [((10,), '[0:10]'), ((10,), '[3:7]'), ((10,), '[1:10:3]'), ((5, 8), '[1:4], [0:8:2]'), ((5, 8), '[2:2], [1:5]'), ((4, 3, 6), '[0:4:3], [1:2], [5:6]'), ((3, 4, 5, 2), '[0:3:2], [1:4:2], [0:5:4], [0:2]'), ((7, 0), '[1:3], [0:0]'), ((1,), '[0:1]'), ((33,), '[32:33:7]')]:
        t = nxt(); out = [max(0, -(-(int(b) - int(a)) // int(c or 1))) for a, b, c in re.findall(r'\[(\d+):(\d+)(?::(\d+))?\]', sl)]
        yield one('slice_' + re.sub(r'[^\d]+', '_', 'x'.join(map(str, d)) + sl).strip('_'), f'{shp(t, out)} slice(p0), slice={{{sl}}}', data(('s', n), d, t))
    # pad
    for d, cfg in [((5,), [(1, 2, 0)]), ((5,), [(0, 0, 2)]), ((5,), [(-2, 1, 0)]), ((5,), [(-1, -3, 1)]), ((3, 4), [(1, 0, 1), (0, 2, 3)]), ((3, 4), [(-1, 2, 2), (2, -3, 0)]), ((2, 3, 4), [(0, 0, 0), (1, 1, 0), (0, 1, 2)]), ((0,), [(2, 3, 4)]),
                   ((1, 3), [(0, 0, 5), (-3, 0, 0)]), ((4,), [(-5, 3, 0)]), ((), []), ((2, 1, 2, 1), [(0, 1, 0), (1, 0, 0), (0, 0, 1), (-1, 2, 0)]), ((6,), [(-4, -4, 3)])]:
        t = nxt(); out = [l + h + s + max(s - 1, 0) * i for s, (l, h, i) in zip(d, cfg)]
        yield one('pad_' + ('x'.join(map(str, d)) or 'scalar') + '_' + 'x'.join('_'.join(map(str, c)) for c in cfg).replace('-', 'm'), f"{shp(t, out)} pad(p0, p1)" + (f", padding={'x'.join('_'.join(map(str, c)) for c in cfg)}" if cfg else ', padding='), data(('p', n), d, t), data(('pv', n), (), t)) \
            if cfg else J('pad_scalar', lambda x, v: lax.pad(x, v, ()), np.float32(3), np.float32(4), compare='exact')
    # concatenate
    for ds, dim in [([(3,), (4,)], 0), ([(3,)], 0), ([(2, 3), (2, 0), (2, 5)], 1), ([(1, 4), (3, 4), (2, 4), (1, 4), (1, 4), (2, 4)], 0), ([(2, 3, 1), (2, 3, 4)], 2), ([(2, 1, 3, 2)] * 3, 1), ([(0, 2), (0, 2)], 0)]:
        t = nxt(); out = list(ds[0]); out[dim] = sum(d[dim] for d in ds)
        yield one(f"concatenate_{len(ds)}_{'x'.join(map(str, ds[0]))}_{dim}", f"{shp(t, out)} concatenate({', '.join(f'p{i}' for i in range(len(ds)))}), dimensions={{{dim}}}", *[data(('c', n, i), d, t) for i, d in enumerate(ds)])
    yield H('concatenate_same', program('x = s32[2,3]{1,0} parameter(0)\nr = s32[2,9]{1,0} concatenate(x, x, x), dimensions={1}'), ints('cs', (2, 3)))
    # reverse
    for d, dims in [((7,), [0]), ((3, 4), [1]), ((3, 4), [0, 1]), ((2, 3, 4), [2, 0]), ((2, 3), []), ((0, 3), [0]), ((1, 5, 1, 2), [1, 2])]:
        t = nxt(); yield one(f"reverse_{'x'.join(map(str, d))}_{''.join(map(str, dims)) or 'none'}", f"{shp(t, d)} reverse(p0), dimensions={{{','.join(map(str, dims))}}}", data(('rv', n), d, t))
    # iota
    for t in ['s32', 'f32', 'u8', 's64', 'bf16', 'f16', 'c64', 'f64', 's4', 'u4', 'f8e5m2', 'f8e4m3fn', 's8', 'u16', 'c128', 's2']:
        d, k = {'s8': ((300,), 0), 'u8': ((2, 260), 1), 's4': ((20,), 0), 'u4': ((3, 18), 1), 's2': ((9,), 0), 'f8e5m2': ((24,), 0), 'f8e4m3fn': ((30,), 0), 'bf16': ((600,), 0), 'f16': ((3000,), 0)}.get(t, ((3, 4, 5), len(t) % 3))
        yield H(f'iota_{t}', program(f'r = {shp(t, d)} iota(), iota_dimension={k}'))
    # constants
    for t, lit in [('f32[2,3]{1,0}', '{ {1, -0.5, 3e10}, {nan, inf, -inf} }'), ('s8[2,2]{1,0}', '{ {-128, 127}, {0, -1} }'), ('pred[3]{0}', '{true, false, true}'), ('c64[2]{0}', '{(1, 2), (-0.5, -3e5)}'), ('u64[2]{0}', '{18446744073709551615, 0}'),
                   ('bf16[3]{0}', '{0.1, 3, -1e30}'), ('f8e4m3fn[4]{0}', '{448, -0.0625, 0, 1.125}'), ('s4[3]{0}', '{-8, 7, 0}'), ('f64[1,1,2]{2,1,0}', '{ { {0.1, 1e-300} } }'), ('f16[2]{0}', '{65504, 6e-08}'), ('s64[]', '-9223372036854775808'), ('f32[0]{0}', '{}'), ('f32[2,2]{0,1}', '{ {1, 2}, {3, 4} }'), ('f4e2m1fn[4]{0}', '{0.5, -6, 3, -0}')]:
        n += 1; yield H(f"constant_{re.match(r'[a-z0-9]+', t)[0]}_{n}", program(f'r = {t} constant({lit})'))
    # tuples
    yield H('tuple_nested', program('''x = f32[2]{0} parameter(0)
        y = s32[3]{0} parameter(1)
        a = (f32[2]{0}, s32[3]{0}) tuple(x, y)
        b = ((f32[2]{0}, s32[3]{0}), f32[2]{0}) tuple(a, x)
        c = (f32[2]{0}, s32[3]{0}) get-tuple-element(b), index=0
        d = s32[3]{0} get-tuple-element(c), index=1
        ROOT r = (((f32[2]{0}, s32[3]{0}), f32[2]{0}), s32[3]{0}) tuple(b, d)'''), normal('tn', 2), ints('ti', 3))
    yield H('tuple_parameter', program('''p = (f32[2]{0}, (s32[3]{0}, pred[]), f32[]) parameter(0)
        q = f32[2]{0} parameter(1)
        a = f32[2]{0} get-tuple-element(p), index=0
        t = (s32[3]{0}, pred[]) get-tuple-element(p), index=1
        b = s32[3]{0} get-tuple-element(t), index=0
        c = pred[] get-tuple-element(t), index=1
        s = f32[] get-tuple-element(p), index=2
        sb = f32[2]{0} broadcast(s), dimensions={}
        m = f32[2]{0} multiply(a, sb)
        w = f32[2]{0} select(c, m, q)
        ROOT r = (f32[2]{0}, s32[3]{0}) tuple(w, b)'''), normal('tp', 2), ints('tq', 3), np.bool_(True), np.float32(2.5), normal('tr', 2))
    yield H('tuple_one', program('x = f32[2,2]{1,0} parameter(0)\nROOT r = (f32[2,2]{1,0}) tuple(x)'), normal('to', (2, 2)))
    yield H('parameter_root', program('x = u8[3,3]{1,0} parameter(0)\nROOT y = u8[3,3]{1,0} parameter(1)'), ints('pr', (3, 3), 'u8'), ints('ps', (3, 3), 'u8'))
    yield H('parameter_order', program('b = s32[2]{0} parameter(1)\na = s32[2]{0} parameter(0)\nr = s32[2]{0} subtract(a, b)'), ints('po', 2, 's32', 0, 9), ints('pp', 2, 's32', 0, 9))
    # dynamic-slice, dynamic-update-slice
    for k, (d, sz, idx, it) in enumerate([((10,), (4,), (3,), 's32'), ((10,), (4,), (9,), 's32'), ((10,), (4,), (-5,), 's32'), ((5, 8), (2, 3), (1, 4), 's64'), ((5, 8), (5, 3), (2, 100), 'u32'), ((5, 8), (1, 8), (4, 1), 's8'), ((3, 4, 5), (2, 2, 2), (-1, 2, 4), 's32'),
                                          ((3, 4, 5), (1, 4, 1), (2, 0, 3), 'u8'), ((6,), (0,), (3,), 's32'), ((6,), (6,), (2,), 's16'), ((2, 3, 4, 5), (1, 2, 3, 1), (1, 1, 1, 4), 's32'), ((300,), (7,), (200,), 'u8'), ((9,), (2,), (2**31 - 1,), 's32'), ((9,), (2,), (-2**63,), 's64')]):
        t = nxt(); it_ = ', '.join(f'i{j}' for j in range(len(d))); at = ','.join(map(str, sz))
        decl = ''.join(f'i{j} = {it}[] parameter({{}})\n'.format(j + 1) for j in range(len(d)))
        yield H(f'dynamic_slice_{k}', program(f'x = {shp(t, d)} parameter(0)\n{decl}r = {shp(t, sz)} dynamic-slice(x, {it_}), dynamic_slice_sizes={{{at}}}'), data(('ds', k), d, t), *[np.asarray(i).astype(DT[it]) for i in idx])
        decl = ''.join(f'i{j} = {it}[] parameter({j + 2})\n' for j in range(len(d)))
        yield H(f'dynamic_update_slice_{k}', program(f'x = {shp(t, d)} parameter(0)\nu = {shp(t, sz)} parameter(1)\n{decl}r = {shp(t, d)} dynamic-update-slice(x, u, {it_})'), data(('du', k), d, t), data(('dv', k), sz, t), *[np.asarray(i).astype(DT[it]) for i in idx])
    yield J('dynamic_slice_chain', lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (2, 5)) * 2, (0, i)), normal('dc', (7, 9)), np.int32(3), compare='exact')
    # combinations as JAX writes them
    x = ints('jm', (6, 5), 's32', -50, 50)
    for name, f in dict(roll=lambda v: jnp.roll(v, (2, -1), (0, 1)), tile=lambda v: jnp.tile(v, (2, 3)), repeat=lambda v: jnp.repeat(v, 3, axis=1), stack=lambda v: jnp.stack([v, v + 1, v - 1], 1), flip=lambda v: jnp.flip(v),
                        rot90=lambda v: jnp.rot90(v), triu=lambda v: jnp.triu(v, 1), tril=lambda v: jnp.tril(v, -1), diag=lambda v: jnp.diag(v[:5]), kron=lambda v: jnp.kron(v[:2, :2], v[:3]), split=lambda v: jnp.split(v, [1, 4]), swapaxes=lambda v: jnp.swapaxes(v[None], 0, 2),
                        where=lambda v: jnp.where(v > 0, v, -1), pad_edge=lambda v: jnp.pad(v, 2, mode='edge'), pad_reflect=lambda v: jnp.pad(v, ((1, 2), (3, 0)), mode='reflect'), pad_wrap=lambda v: jnp.pad(v, 1, mode='wrap'), squeeze=lambda v: jnp.squeeze(v[:1]),
                        meshgrid=lambda v: jnp.meshgrid(v[0], v[:, 0]), one_hot=lambda v: jax.nn.one_hot(jnp.abs(v[0]) % 7, 7), eye=lambda v: jnp.eye(6, 5, 1, dtype=jnp.int32) * v, cross=lambda v: jnp.cross(v[:, :3], v[:, 1:4]), clip=lambda v: jnp.clip(v, -10, 20),
                        depth_to_space=lambda v: v[:4, :4].reshape(2, 2, 2, 2).transpose(0, 2, 1, 3).reshape(4, 4), packbits=lambda v: jnp.packbits(v > 0), unpackbits=lambda v: jnp.unpackbits(v.astype(jnp.uint8)), trace=lambda v: jnp.trace(v), bit_count=lambda v: lax.population_count(v)).items():
        yield J('jnp_' + name, f, x, compare='exact')
