"""Suite of sort and topk."""
import numpy as np
import jax.numpy as jnp
from jax import lax
from generator.machinery import DT, H, J, SIGNED, UNSIGNED, VARIANT, seed_of, suite
from generator.data import data, float_specials, ints, normal, program, shp

# --------------------------------------------------------------------------- sort, topk
def comparator(body, types, name='cmp'):
    lines = [f'  p{i} = {t}[] parameter({i})' for i, t in enumerate(t for t in types for _ in range(2))]
    return f'{name} {{\n' + '\n'.join(lines + ['  ' + l.strip() for l in body.strip().split('\n')]) + '\n}\n'

@suite('sort')
def sort():
    for k, t in enumerate(SIGNED + UNSIGNED + ['s4', 'u4', 'f32', 'f64', 'bf16', 'f16', 'f8e5m2', 'pred']):
        d, dim = [((9,), 0), ((4, 11), 1), ((11, 4), 0), ((3, 7, 2), 1), ((40,), 0)][k % 5]
        for dirn in ('LT', 'GT'):
            x = data(('so', k), d, t)
            yield H(f'{t}_{dirn.lower()}', program(f'x = {shp(t, d)} parameter(0)\nr = {shp(t, d)} sort(x), dimensions={{{dim}}}, to_apply=cmp', comps=comparator(f'ROOT r = pred[] compare(p0, p1), direction={dirn}', [t])), x)
    for t in ('f32', 'f64', 'bf16', 'f16'):
        x = np.concatenate([float_specials(t), normal(('sf', t), 20, t)]); x = seed_of(VARIANT.seed, 'sh').permutation(np.concatenate([x, -x]).view(f'u{DT[t].itemsize}')).view(DT[t])
        yield H(f'total_order_{t}', program(f'x = {shp(t, x.shape)} parameter(0)\nr = {shp(t, x.shape)} sort(x), dimensions={{0}}, to_apply=cmp', comps=comparator('ROOT r = pred[] compare(p0, p1), direction=LT, type=TOTALORDER', [t])), x)
    for vt in ('s32', 'f32', 'bf16', 'pred', 'c64', 'u8', 's64'):
        k, v = ints('sk', (5, 23), 's32', 0, 6), data(('sv', vt), (5, 23), vt)
        yield H(f'stable_pair_{vt}', program(f'k = s32[5,23]{{1,0}} parameter(0)\nv = {shp(vt, (5, 23))} parameter(1)\nr = (s32[5,23]{{1,0}}, {shp(vt, (5, 23))}) sort(k, v), dimensions={{1}}, is_stable=true, to_apply=cmp', comps=comparator('ROOT r = pred[] compare(p0, p1), direction=LT', ['s32', vt])), k, v)
    a, b, c = ints('s3', (40,), 's32', 0, 4), ints('s4', (40,), 's32', 0, 4), np.arange(40, dtype='f4')
    yield H('lexicographic', program('a = s32[40]{0} parameter(0)\nb = s32[40]{0} parameter(1)\nc = f32[40]{0} parameter(2)\nr = (s32[40]{0}, s32[40]{0}, f32[40]{0}) sort(a, b, c), dimensions={0}, is_stable=true, to_apply=cmp',
        comps=comparator('lt = pred[] compare(p0, p1), direction=LT\neq = pred[] compare(p0, p1), direction=EQ\ngt = pred[] compare(p2, p3), direction=GT\nand = pred[] and(eq, gt)\nROOT r = pred[] or(lt, and)', ['s32', 's32', 'f32'])), a, b, c)
    yield H('by_absolute_value', program('x = f32[3,17]{1,0} parameter(0)\nr = f32[3,17]{1,0} sort(x), dimensions={1}, to_apply=cmp', comps=comparator('a = f32[] abs(p0)\nb = f32[] abs(p1)\nROOT r = pred[] compare(a, b), direction=LT', ['f32'])), normal('sa', (3, 17)))
    yield H('by_second_operand', program('x = s32[30]{0} parameter(0)\ny = f32[30]{0} parameter(1)\nr = (s32[30]{0}, f32[30]{0}) sort(x, y), dimensions={0}, to_apply=cmp', comps=comparator('ROOT r = pred[] compare(p2, p3), direction=GT', ['s32', 'f32'])), ints('sb', 30), normal('sc', 30))
    yield H('odd_even_first', program('x = s32[25]{0} parameter(0)\nr = s32[25]{0} sort(x), dimensions={0}, is_stable=true, to_apply=cmp', comps=comparator('one = s32[] constant(1)\na = s32[] and(p0, one)\nb = s32[] and(p1, one)\nROOT r = pred[] compare(a, b), direction=GT', ['s32'])), ints('sd', 25, 's32', 0, 100))
    for name, d, dim in [('empty', (0,), 0), ('one', (1,), 0), ('zero_rows', (0, 5), 1), ('length_1', (4, 1), 1), ('rank4', (2, 3, 5, 2), 2), ('long', (1500,), 0), ('middle_zero', (3, 0, 2), 1)]:
        yield H(f'shape_{name}', program(f'x = {shp("s32", d)} parameter(0)\nr = {shp("s32", d)} sort(x), dimensions={{{dim}}}, to_apply=cmp', comps=comparator('ROOT r = pred[] compare(p0, p1), direction=LT', ['s32'])), ints(('ss', name), d))
    yield H('layout', program('x = s32[6,5]{0,1} parameter(0)\nr = s32[6,5]{0,1} sort(x), dimensions={1}, to_apply=cmp', comps=comparator('ROOT r = pred[] compare(p0, p1), direction=LT', ['s32'])), ints('sl', (6, 5)))
    x = normal('js', (5, 19)); xn = x.copy(); xn[0, 3] = np.nan; xn[1, 5] = -0.0; xn[1, 6] = 0.0; xn[2, 2] = np.inf; xn[2, 3] = -np.inf; xn[0, 9] = -np.nan
    for name, f in dict(sort=lambda x: jnp.sort(x, axis=0), argsort=lambda x: jnp.argsort(x), argsort_desc=lambda x: jnp.argsort(x, axis=0, descending=True), sort_desc=lambda x: jnp.sort(x, descending=True), lexsort=lambda x: jnp.lexsort((x[0], x[1] > 0)), unique=lambda x: jnp.unique(jnp.round(x), size=12, fill_value=0), quantile=lambda x: jnp.quantile(jnp.nan_to_num(x, posinf=5., neginf=-5.), jnp.array([0.1, 0.5, 0.9]), axis=1), searchsorted=lambda x: jnp.searchsorted(jnp.sort(x[3]), x[4]), partition=lambda x: jnp.partition(x, 3)[:, 3], sort_complex=lambda x: jnp.sort(lax.complex(jnp.round(x[3]), x[4]))).items():
        yield J('jnp_' + name, f, xn, compare='exact' if name != 'quantile' else 'auto')
    # topk
    for t in ('f32', 'bf16', 'f64', 's32', 'f16', 'u8', 's64'):
        for k, d in [(1, (9,)), (5, (4, 13)), (3, (2, 3, 8))]:
            x = ints(('tk', t, k), d, 's32', 0 if t[0] == 'u' else -5, 9).astype(DT[t])
            out = list(d[:-1]) + [k]; big = 'true' if k != 3 else 'false'
            yield H(f'topk_{t}_{k}', program(f'x = {shp(t, d)} parameter(0)\nr = ({shp(t, out)}, {shp("s32", out)}) topk(x), k={k}, largest={big}'), x)
    x = float_specials('f32'); x = np.concatenate([x, (-x.astype('f4'))])
    yield H('topk_special', program('x = f32[50]{0} parameter(0)\nr = (f32[50]{0}, s32[50]{0}) topk(x), k=50, largest=true'), x)
    yield J('top_k_jax', lambda x: lax.top_k(x, 4), normal('tj', (3, 21)), compare='exact'); yield J('top_k_all', lambda x: lax.top_k(x, 7), ints('ta', (2, 7)), compare='exact')
    yield J('approx_max_k', lambda x: lax.approx_max_k(x, 3, recall_target=1.0), normal('tx', (2, 16)), compare='exact')
