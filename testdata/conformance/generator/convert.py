"""Suites of conversions and comparisons."""
import numpy as np
from generator.machinery import (
    COMPLEX, DT, F8, FLOATS, H, MIN_NORMAL, SIGNED, SMALL_INTS, UNSIGNED, VARIANT, seed_of, suite)
from generator.data import all_codes, data, float_specials, int_specials, ints, normal, pairs, program, shp
from generator.elementwise import complex_points

# --------------------------------------------------------------------------- convert, bitcast-convert, reduce-precision
CONVERT_GROUPS = dict(wide_ints=SIGNED + UNSIGNED, narrow_ints=SMALL_INTS, floats=FLOATS, narrow_floats=F8 + ['f4e2m1fn'], other=['pred'] + COMPLEX)

def convert_points(t):
    if t == 'pred': return np.array([False, True, True, False, True])
    if t in SMALL_INTS or t in F8 or t == 'f4e2m1fn': return all_codes(t)
    if t in SIGNED + UNSIGNED: return np.concatenate([int_specials(t), np.arange(0, 120).astype(DT[t]), ints('cv' + t, 40, t)])
    if t in COMPLEX: return complex_points('cv', t)[:60]
    r = seed_of(VARIANT.seed, 'cv', t)
    ties = np.concatenate([np.arange(-20, 20, 0.25), np.ldexp(1 + np.arange(0, 16) / 8 + 1 / 16, 3), np.ldexp(1 + np.arange(32) / 16, -8), np.ldexp(1 + np.arange(16) / 8, -14),
                           np.ldexp(1 + np.arange(16) / 8, -17), np.arange(224, 512, 4.0), np.arange(14, 32, 0.5), 57344 + np.arange(-4, 5) * 2048, np.array([464.0, 465, 463, 248, 247, 15.75, 15.5, 30, 31])])
    limits = [127, 128, -128, -129, 255, 256, 32767, 32768, -32768, 65535, 65536, 2.0**31 - 1, 2.0**31, -2.0**31, 2.0**32, 2.0**32 - 1, 2.0**63, -2.0**63, 2.0**64, 1e10, -1e10, 0.99, -0.99]
    sub = float_specials(t, t in ('f16',))
    return np.concatenate([sub, ties.astype(DT[t]), np.array(limits).astype(DT[t]), (r.standard_normal(60) * np.exp2(r.uniform(-12, 12, 60))).astype(DT[t])])

@suite('convert')
def convert():
    every = ['pred'] + SMALL_INTS + SIGNED + UNSIGNED + FLOATS + F8 + ['f4e2m1fn'] + COMPLEX
    for src in every:
        x = convert_points(src); n = len(x)
        for g, targets in CONVERT_GROUPS.items():
            if src in COMPLEX: targets = [t for t in targets if t in COMPLEX]
            if not targets: continue
            body = f'x = {shp(src, [n])} parameter(0)\n' + '\n'.join(f'c_{t} = {shp(t, [n])} convert(x)' for t in targets)
            body += f"\nROOT t = ({', '.join(shp(t, [n]) for t in targets)}) tuple({', '.join('c_' + t for t in targets)})"
            yield H(f'{src}_to_{g}', program(body), x, note='outputs: ' + ' '.join(targets))
    for t in ('f16', 'bf16'):                       # every value of a type
        for to in (['f8e5m2', 'f8e4m3fn', 'f8e4m3b11fnuz'], ['f8e4m3', 'f8e3m4', 'f4e2m1fn'], ['f8e5m2fnuz', 'f8e4m3fnuz', 's8']):
            x = all_codes(t).reshape(256, 256)[:, ::5].copy(); d = x.shape
            body = f'x = {shp(t, d)} parameter(0)\n' + '\n'.join(f'c{i} = {shp(u, d)} convert(x)' for i, u in enumerate(to))
            yield H(f'{t}_all_{to[0]}', program(body + f"\nROOT t = ({', '.join(shp(u, d) for u in to)}) tuple(c0, c1, c2)"), x)
    d = (3, 0, 2)
    yield H('empty', program(f'x = {shp("f32", d)} parameter(0)\nr = {shp("s8", d)} convert(x)'), np.zeros(d, 'f4'))
    # bitcast-convert
    same = {8: ['s8', 'u8'] + F8, 16: ['s16', 'u16', 'f16', 'bf16'], 32: ['s32', 'u32', 'f32'], 64: ['s64', 'u64', 'f64'], 4: ['s4', 'u4', 'f4e2m1fn']}
    for w, ts in same.items():
        src = ts[0]; x = ints(('bc', w), (5, 9), src)
        body = f'x = {shp(src, (5, 9))} parameter(0)\n' + '\n'.join(f'c{i} = {shp(t, (5, 9))} bitcast-convert(x)\nd{i} = {shp(ts[1], (5, 9))} bitcast-convert(c{i})' for i, t in enumerate(ts))
        yield H(f'bitcast_{w}bit', program(body + f"\nROOT t = ({', '.join(shp(t, (5, 9)) + ', ' + shp(ts[1], (5, 9)) for t in ts)}) tuple({', '.join(f'c{i}, d{i}' for i in range(len(ts)))})"), x)
    for a, b, k in [('f32', 'u16', 2), ('f32', 'u8', 4), ('f64', 'u32', 2), ('u64', 'u8', 8), ('f64', 'bf16', 4), ('s32', 'f16', 2), ('u16', 's8', 2), ('s8', 'u4', 2), ('s16', 's4', 4), ('f32', 'f8e4m3fn', 4)]:
        x = data(('bw', a, b), (3, 5), a)
        yield H(f'bitcast_{a}_to_{b}', program(f'x = {shp(a, (3, 5))} parameter(0)\nr = {shp(b, (3, 5, k))} bitcast-convert(x)'), x)
        y = data(('bn', a, b), (3, 5, k), b)
        yield H(f'bitcast_{b}_to_{a}', program(f'x = {shp(b, (3, 5, k))} parameter(0)\nr = {shp(a, (3, 5))} bitcast-convert(x)'), y)
    yield H('bitcast_c64_to_c64', program('x = c64[4]{0} parameter(0)\nr = c64[4]{0} bitcast-convert(x)'), normal('bc', 4, 'c64'))
    nan = np.array([0x7f800001, 0xffc12345, 0x7fc00000, 0x80000000, 1], np.uint32)
    yield H('bitcast_nan_payload', program('x = u32[5]{0} parameter(0)\nf = f32[5]{0} bitcast-convert(x)\nv = f32[5]{0} reverse(f), dimensions={0}\nr = u32[5]{0} bitcast-convert(v)'), nan)
    # reduce-precision
    for t in FLOATS:
        for e, m in [(5, 10), (8, 7), (5, 2), (4, 3), (8, 23), (3, 4), (2, 1), (11, 52), (8, 0), (6, 9), (1, 5)]:
            full = dict(f16=(5, 10), bf16=(8, 7), f32=(8, 23), f64=(11, 52))[t]
            if e > full[0] or m > full[1]: continue
            x = convert_points(t); x = x[~((np.abs(x.astype(np.float64)) < MIN_NORMAL[t]) & (x != 0))]
            if m == 0: x = x[~np.isnan(x.astype(np.float64))]
            yield H(f'reduce_precision_{t}_e{e}m{m}', program(f'x = {shp(t, x.shape)} parameter(0)\nr = {shp(t, x.shape)} reduce-precision(x), exponent_bits={e}, mantissa_bits={m}'), x)

# --------------------------------------------------------------------------- compare
@suite('compare')
def compare():
    dirs = ['EQ', 'NE', 'LT', 'LE', 'GT', 'GE']
    def case(t, total):
        sp = float_specials(t) if t in FLOATS else all_codes(t)[::11] if t in F8 else all_codes(t) if t in SMALL_INTS + ['f4e2m1fn'] else int_specials(t) if t in SIGNED + UNSIGNED else \
            np.array([False, True]) if t == 'pred' else complex_points('cmp', t)[:25]
        if t in FLOATS and total:
            neg_nan = (np.array([0xff], np.uint8).repeat(DT[t].itemsize)).view(DT[t]); sp = np.concatenate([sp, neg_nan])
        a, b = pairs(sp, data('cma' + t, 40, t), data('cmb' + t, 40, t))
        use = dirs[:2] if t in COMPLEX else dirs; at = ', type=TOTALORDER' if total else ''
        p = shp('pred', a.shape)
        body = f'x = {shp(t, a.shape)} parameter(0)\ny = {shp(t, a.shape)} parameter(1)\n' + '\n'.join(f'c{i} = {p} compare(x, y), direction={d}{at}' for i, d in enumerate(use))
        return H(f"{t}{'_total' if total else ''}", program(body + f"\nROOT t = ({', '.join([p] * len(use))}) tuple({', '.join(f'c{i}' for i in range(len(use)))})"), a, b, note='outputs: ' + ' '.join(use))
    for t in ['pred'] + SMALL_INTS + SIGNED + UNSIGNED + FLOATS + F8 + ['f4e2m1fn'] + COMPLEX: yield case(t, False)
    for t in FLOATS + F8: yield case(t, True)
    for i, d in enumerate(dirs):
        dd = [(3, 5, 7), (0, 4), (), (1, 9), (4, 1, 2, 3, 2), (33,)][i]
        x, y = ints(('c', i), dd, 's32', -2, 3), ints(('d', i), dd, 's32', -2, 3)
        yield H(f'shape_{d}', program(f'x = {shp("s32", dd)} parameter(0)\ny = {shp("s32", dd)} parameter(1)\nr = {shp("pred", dd)} compare(x, y), direction={d}'), x, y)
