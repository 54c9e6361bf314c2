"""Suite of gather and scatter."""
import numpy as np
import jax, jax.numpy as jnp
from jax import lax
from generator.machinery import DT, H, J, VARIANT, close, seed_of, suite
from generator.data import data, ints, normal, program, reducer

# --------------------------------------------------------------------------- gather
def gdn(o, c, s, ob=(), sb=()): return lax.GatherDimensionNumbers(offset_dims=o, collapsed_slice_dims=c, start_index_map=s, operand_batching_dims=ob, start_indices_batching_dims=sb)
def sdn(u, i, s, ob=(), sb=()): return lax.ScatterDimensionNumbers(update_window_dims=u, inserted_window_dims=i, scatter_dims_to_operand_dims=s, operand_batching_dims=ob, scatter_indices_batching_dims=sb)

GATHERS = [  # operand dims, index dims (last = index vector), dimension numbers, slice sizes
    ((9, 4), (5, 1), gdn((1,), (0,), (0,)), (1, 4)), ((9, 4), (5, 1), gdn((0,), (1,), (1,)), (9, 1)), ((9, 4), (3, 2), gdn((), (0, 1), (0, 1)), (1, 1)), ((9, 4), (3, 2), gdn((), (0, 1), (1, 0)), (1, 1)),
    ((9, 4), (2, 3, 1), gdn((2,), (0,), (0,)), (1, 4)), ((9, 4), (2, 3, 1), gdn((0,), (0,), (0,)), (1, 4)), ((9, 4), (6, 2), gdn((1, 2), (), (0, 1)), (3, 2)), ((9, 4), (6, 1), gdn((0, 2), (), (0,)), (3, 2)),
    ((5, 6, 7), (4, 2), gdn((1,), (0, 2), (2, 0)), (1, 3, 1)), ((5, 6, 7), (2, 2, 3), gdn((1, 3), (1,), (0, 1, 2)), (2, 1, 4)), ((12,), (3, 1), gdn((1,), (), (0,)), (5,)), ((12,), (1,), gdn((0,), (), (0,)), (4,)),
    ((3, 8), (3, 5, 1), gdn((), (1,), (1,), (0,), (0,)), (1, 1)), ((3, 8, 2), (5, 3, 1), gdn((2,), (1,), (1,), (0,), (1,)), (1, 1, 2)), ((2, 3, 8), (2, 3, 4, 1), gdn((), (2,), (2,), (0, 1), (0, 1)), (1, 1, 1)), ((3, 2, 8), (2, 3, 4, 1), gdn((), (2,), (2,), (0, 1), (1, 0)), (1, 1, 1)),
    ((4, 5), (0, 1), gdn((1,), (0,), (0,)), (1, 5)), ((4, 5), (3, 0), gdn((1, 2), (), ()), (2, 5)), ((4, 0), (3, 1), gdn((1,), (0,), (0,)), (1, 0)), ((1, 1, 7), (2, 3), gdn((), (0, 1, 2), (0, 1, 2)), (1, 1, 1)), ((2, 3, 4, 5), (6, 4), gdn((1, 2), (0, 3), (3, 0, 1, 2)), (1, 2, 3, 1))]

SCATTERS = [  # operand dims, index dims, update dims, dimension numbers
    ((9,), (5, 1), (5,), sdn((), (0,), (0,))), ((9, 4), (5, 1), (5, 4), sdn((1,), (0,), (0,))), ((9, 4), (5, 1), (9, 5), sdn((0,), (1,), (1,))), ((9, 4), (6, 2), (6,), sdn((), (0, 1), (0, 1))), ((9, 4), (6, 2), (6,), sdn((), (0, 1), (1, 0))),
    ((9, 4), (2, 3, 1), (2, 3, 4), sdn((2,), (0,), (0,))), ((9, 4), (3, 2), (3, 2, 2), sdn((1, 2), (), (0, 1))), ((9, 4), (3, 1), (3, 3, 4), sdn((1, 2), (), (0,))), ((5, 6, 7), (4, 2), (4, 2), sdn((1,), (0, 2), (2, 0))), ((12,), (2, 1), (2, 5), sdn((1,), (), (0,))),
    ((12,), (1,), (4,), sdn((0,), (), (0,))), ((3, 8), (3, 5, 1), (3, 5), sdn((), (1,), (1,), (0,), (0,))), ((3, 8, 2), (5, 3, 1), (5, 3, 2), sdn((2,), (1,), (1,), (0,), (1,))), ((9,), (0, 1), (0,), sdn((), (0,), (0,))), ((2, 3, 4, 5), (3, 2), (3, 2, 4), sdn((1, 2), (0, 3), (0, 3))),
    ((4, 0), (3, 1), (3, 0), sdn((1,), (0,), (0,))), ((), (0,), (), sdn((), (), ()))]

@suite('gather_scatter')
def gather_scatter():
    ts = ['f32', 's32', 'bf16', 'u8', 'c64', 'f64', 'pred', 's64', 'f16', 'f8e4m3fn', 's4']; its = ['s32', 's64', 'u32', 's8', 'u8', 's16']
    def indices(k, d, lim, it): return ints(('gi', k), d, it, 0 if it[0] == 'u' else -3, lim + 4)
    for k, (od, idd, dn, ss) in enumerate(GATHERS):
        t, it = ts[k % len(ts)], its[k % len(its)]; x = data(('g', k), od, t); i = indices(k, idd, max(od or (1,)), it)
        yield J(f'gather_{k}_clip', lambda x, i, dn=dn, ss=ss: lax.gather(x, i, dn, ss, mode='clip'), x, i, compare='exact', x64=True)
        if k % 3 == 0 and t not in ('pred', 's4'): yield J(f'gather_{k}_fill', lambda x, i, dn=dn, ss=ss: lax.gather(x, i, dn, ss, mode='fill', fill_value=7), x, i, compare='exact', x64=True)
        if k % 4 == 1: yield J(f'gather_{k}_sorted', lambda x, i, dn=dn, ss=ss: lax.gather(x, i, dn, ss, mode='clip', indices_are_sorted=True), x, np.sort(np.abs(i.astype(np.int32)), axis=0).astype(DT[it]), compare='exact', x64=True)
    yield H('gather_vector_dim_0', program('''x = f32[5,6]{1,0} parameter(0)
        i = s32[2,4]{1,0} parameter(1)
        r = f32[4]{0} gather(x, i), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1}'''), normal('gv', (5, 6)), ints('gvi', (2, 4), 's32', 0, 5))
    yield H('gather_implicit_vector_dim', program('''x = f32[5,6]{1,0} parameter(0)
        i = s32[2,4]{1,0} parameter(1)
        r = f32[2,3,4]{2,1,0} gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,3}'''), normal('gw', (5, 6)), ints('gwi', (2, 4), 's32', -2, 8))
    yield H('gather_scalar_index', program('''x = s32[7]{0} parameter(0)
        i = s32[] parameter(1)
        r = s32[] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1}'''), ints('gs', 7), np.int32(4))
    x = normal('ji', (6, 7, 5)); ii = ints('jii', (4,), 's32', -6, 6); jj = ints('jjj', (4,), 's32', -7, 7)
    for name, f in dict(take=lambda x, i, j: jnp.take(x, i, axis=1), take_fill=lambda x, i, j: jnp.take(x, i * 3, axis=0), index_two=lambda x, i, j: x[i, j], index_split=lambda x, i, j: x[i, :, jnp.abs(j) % 5], index_grid=lambda x, i, j: x[i[:, None], j[None, :]],
                        slice_index=lambda x, i, j: x[1:4, i, ::2], along=lambda x, i, j: jnp.take_along_axis(x[:4], jnp.abs(j)[:, None, None] % 7, 1), newaxis=lambda x, i, j: x[i, None, 2], vmap_index=lambda x, i, j: jax.vmap(lambda a, b: a[b])(x[:4], jnp.abs(j) % 7),
                        vmap_slice=lambda x, i, j: jax.vmap(lambda a, b: lax.dynamic_slice(a, (b, 0), (3, 2)))(x[:4], i), embed=lambda x, i, j: x.reshape(30, 7)[jnp.abs(i) * 3]).items():
        yield J('index_' + name, f, x, ii, jj, compare='exact')
    # scatter
    kinds = dict(set=lambda *a, **k: lax.scatter(*a, **k), add=lambda *a, **k: lax.scatter_add(*a, **k), mul=lambda *a, **k: lax.scatter_mul(*a, **k), min=lambda *a, **k: lax.scatter_min(*a, **k), max=lambda *a, **k: lax.scatter_max(*a, **k))
    for k, (od, idd, ud, dn) in enumerate(SCATTERS):
        for m, (kind, f) in enumerate(kinds.items()):
            if (k + m) % 2 and k > 2: continue
            t, it = ['f32', 's32', 'f64', 'u8', 's64', 'bf16', 's16'][(k + m) % 7], its[(k + m) % len(its)]
            x, u = ints(('s', k, m), od, 's32', -9, 9), ints(('su', k, m), ud, 's32', -4, 5)
            if t[0] == 'u': x, u = np.abs(x), np.abs(u)
            i = indices((k, m), idd, max(od or (1,)), it)
            if kind == 'set':            # duplicates would leave the winner open
                if len(idd) > 1 and idd[-1] == 1 and not dn.operand_batching_dims: i = seed_of(VARIANT.seed, 'perm', k).permutation(np.arange(int(np.prod(idd))) * 2 - (0 if it[0] == 'u' else 1)).reshape(idd).astype(DT[it])
                elif idd[-1:] == (2,): i = np.stack([seed_of(VARIANT.seed, k).permutation(idd[0]) * 2, ints(('sd', k), idd[0], 's32', 0, 3)], -1).reshape(idd).astype(DT[it])
                elif dn.operand_batching_dims: i = np.resize(np.arange(idd[0] * idd[1]) % 9 if idd[0] == 3 else np.repeat(np.arange(idd[0]), idd[1]), idd).astype(DT[it])
                if (k, kind) in ((7, 'set'), (9, 'set'), (6, 'set')): i = (np.arange(int(np.prod(idd))).reshape(idd) * 3).astype(DT[it])
            mode = 'drop' if kind == 'set' else ['clip', 'drop'][(k + m) % 2]
            yield J(f'scatter_{kind}_{k}_{mode}', lambda x, i, u, f=f, dn=dn, mode=mode: f(x, i, u, dn, mode=mode), x.astype(DT[t]), i, u.astype(DT[t]), compare='exact', x64=True)
    yield J('scatter_unique_sorted', lambda x, i, u: x.at[i].set(u, unique_indices=True, indices_are_sorted=True), normal('us', (9, 3)), np.array([0, 2, 3, 7], np.int32), normal('uu', (4, 3)), compare='exact')
    yield J('scatter_add_float', lambda x, i, u: x.at[i].add(u), normal('af', (9, 3)), np.array([0, 2, 0, 7, 8, 2], np.int32), normal('au', (6, 3)))
    yield J('scatter_apply', lambda x, i: x.at[i].apply(jnp.exp), normal('ap', 9), np.array([0, 2, 3, 7], np.int32), compare=close(rel=2e-6))
    yield J('scatter_histogram', lambda i: jnp.zeros(16, jnp.int32).at[i].add(1), ints('hi', 500, 's32', 0, 16), compare='exact')
    yield J('scatter_bincount', lambda i, w: jnp.bincount(i, w, length=8), ints('bi', 100, 's32', 0, 10), normal('bw', 100))
    yield J('scatter_segment_sum', lambda v, s: jax.ops.segment_sum(v, s, 5), normal('sv', (20, 3)), np.sort(ints('ss', 20, 's32', 0, 5)))
    yield J('scatter_segment_max', lambda v, s: jax.ops.segment_max(v, s, 6), ints('sm', (20, 3)), ints('sn', 20, 's32', 0, 5), compare='exact')
    yield J('scatter_vmap', lambda x, i, u: jax.vmap(lambda a, b, c: a.at[b].add(c))(x, i, u), ints('sx', (4, 6)), ints('sy', (4, 3), 's32', 0, 6), ints('sz', (4, 3)), compare='exact')
    yield J('scatter_window_rows', lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)), normal('wr', (7, 7)), normal('wu', (3, 2)), np.int32(5), compare='exact')
    yield H('scatter_out_of_bounds_window', program('''x = s32[8]{0} parameter(0)
        i = s32[3,1]{1,0} parameter(1)
        u = s32[3,3]{1,0} parameter(2)
        r = s32[8]{0} scatter(x, i, u), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add''', comps=reducer('add', 's32')),
        np.arange(8, dtype=np.int32), np.array([[6], [-1], [2]], np.int32), 100 * ints('ob', (3, 3), 's32', 1, 9), note='a window that is partly out of bounds is dropped whole')
    yield H('scatter_two_operands', program('''x = f32[6]{0} parameter(0)
        y = s32[6]{0} parameter(1)
        i = s32[4]{0} parameter(2)
        u = f32[4]{0} parameter(3)
        v = s32[4]{0} parameter(4)
        r = (f32[6]{0}, s32[6]{0}) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f''',
        comps='f {\n  a = f32[] parameter(0)\n  b = s32[] parameter(1)\n  c = f32[] parameter(2)\n  d = s32[] parameter(3)\n  g = pred[] compare(c, a), direction=GT\n  e = f32[] select(g, c, a)\n  h = s32[] select(g, d, b)\n  ROOT t = (f32[], s32[]) tuple(e, h)\n}\n'),
        np.zeros(6, 'f4'), np.full(6, -1, 'i4'), np.array([1, 4, 1, 9], 'i4'), np.array([3, -2, 5, 8], 'f4'), np.array([10, 11, 12, 13], 'i4'))
    yield H('scatter_vector_dim_0', program('''x = s32[5,6]{1,0} parameter(0)
        i = s32[2,4]{1,0} parameter(1)
        u = s32[4]{0} parameter(2)
        r = s32[5,6]{1,0} scatter(x, i, u), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=add''', comps=reducer('add', 's32')), ints('sa', (5, 6), 's32', 0, 99), ints('sb', (2, 4), 's32', -1, 5), ints('sc', 4, 's32', 0, 99))
    yield H('scatter_noncommutative', program('''x = s32[4]{0} parameter(0)
        i = s32[5]{0} parameter(1)
        u = s32[5]{0} parameter(2)
        r = s32[4]{0} scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f''', comps='f {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] subtract(a, b)\n}\n'), ints('na', 4, 's32', 0, 99), np.array([0, 3, 3, 1, 0], 'i4'), ints('nb', 5, 's32', 0, 9))
