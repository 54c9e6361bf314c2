"""Suite of elementwise ops."""
import numpy as np
import run as R
from generator.machinery import (
    COMPLEX, DT, EPS, F8, FLOATS, H, MIN_NORMAL, SIGNED, SMALL_INTS, UNSIGNED, VARIANT, close, seed_of, store,
    suite, ulp)
from generator.data import all_codes, data, float_specials, int_specials, ints, normal, pairs, program, shp

# --------------------------------------------------------------------------- elementwise
LD = np.longdouble
def _cplx(f): return lambda z: f(z.astype(np.clongdouble))
def _erf(x):
    import scipy.special
    return scipy.special.erf(x.astype(np.float64))
REFERENCE = {   # in extended precision, real types
    'exponential': np.exp, 'exponential-minus-one': np.expm1, 'log': np.log, 'log-plus-one': np.log1p, 'sine': np.sin, 'cosine': np.cos,
    'tan': np.tan, 'tanh': np.tanh, 'sqrt': np.sqrt, 'rsqrt': lambda x: 1 / np.sqrt(x), 'cbrt': np.cbrt, 'logistic': lambda x: 1 / (1 + np.exp(-x)),
    'erf': _erf, 'acos': np.arccos, 'asin': np.arcsin, 'acosh': np.arccosh, 'asinh': np.arcsinh, 'atanh': np.arctanh, 'cosh': np.cosh, 'sinh': np.sinh,
    'power': np.power, 'atan2': np.arctan2}
REAL_FUNCTIONS = ['exponential', 'exponential-minus-one', 'log', 'log-plus-one', 'sine', 'cosine', 'tan', 'tanh', 'sqrt', 'rsqrt', 'cbrt', 'logistic', 'erf',
                  'acos', 'asin', 'acosh', 'asinh', 'atanh', 'cosh', 'sinh']
COMPLEX_FUNCTIONS = [f for f in REAL_FUNCTIONS if f not in ('cbrt', 'erf')]

NO_OPCODE = ('acos', 'asin', 'acosh', 'asinh', 'atanh', 'cosh', 'sinh')       # JAX emits other opcodes for these
def reference_value(op, t):
    def value(ins):
        if t not in COMPLEX: return [REFERENCE[op](ins[0].astype(LD)).astype(DT[t])]
        z = ins[0].astype(np.clongdouble)
        return [REFERENCE[op](z).astype(DT[t])]
    return value

def measured_ulp(least, label):
    """A rule from XLA's own error against extended precision: its largest error in ULP + 3, at least `least`."""
    op, t = label
    def rule(inputs, outs):
        with np.errstate(all='ignore'):
            ref = REFERENCE[op](*[a.astype(LD) for a in inputs]).astype(DT[t])
        got = outs[0]; fin = np.isfinite(ref.astype(np.float64)) & np.isfinite(got.astype(np.float64))
        odd = ~fin & ~((ref == got) | ((ref != ref) & (got != got)))
        err = 0
        if fin.any():
            d = np.abs(R.ordinal(t, store(t, ref)) - R.ordinal(t, store(t, got)))
            d = np.where(np.abs(ref.astype(np.float64) - got.astype(np.float64)) <= 2 * MIN_NORMAL[t], 0, d)
            err = int(d[fin].max())
        if odd.any(): print(f'note  {op} {t}: XLA {got[odd][:4]} reference {ref[odd][:4]} at {[a[odd][:4] for a in inputs]}', flush=True)
        if err > 8: print(f'note  {op} {t}: XLA is {err} ulp off', flush=True)
        return [ulp(max(least, err + 3), t)]
    return rule

DIMS = [(7, 37), (259,), (37, 7, 1), (1, 7, 37), (7, 1, 37), (37, 7), (1, 259), (7, 37, 1, 1)]
def fit(a, dims): return np.resize(a, dims)

def real_points(key, t, subnormal=False):
    big = 8 if t == 'f16' else 25
    r = seed_of(VARIANT.seed, key)
    spread = r.standard_normal(90) * np.exp2(r.uniform(-big, big, 90))
    v = np.concatenate([r.standard_normal(60) * 2, r.uniform(-1, 1, 60), spread])
    return np.concatenate([float_specials(t, subnormal), v.astype(DT[t])])

def complex_points(key, t):
    r = seed_of(VARIANT.seed, key)
    v = (r.standard_normal(150) + 1j * r.standard_normal(150)) * np.exp2(r.uniform(-4, 2, 150))
    sp = np.array([complex(a, b) for a in (0.0, 1.0, -1.0, 0.5, -2.0) for b in (0.0, -0.0, 1.0, -0.25, 3.0)])
    return np.concatenate([sp, v]).astype(DT[t])

def unary(op, t, x, out=None, **kw):
    out = out or t; d = x.shape
    return H(f"{op}_{t}".replace('-', '_') + kw.pop('tag', ''), program(f'x = {shp(t, d)} parameter(0)\nr = {shp(out, d)} {op}(x)', name=f"{op}_{t}".replace('-', '_')), x, **kw)

def binary(op, t, a, b, attr='', out=None, **kw):
    d = a.shape; name = kw.pop('name', None) or f"{op}_{t}".replace('-', '_') + kw.pop('tag', '')
    return H(name, program(f'x = {shp(t, d)} parameter(0)\ny = {shp(t, d)} parameter(1)\nr = {shp(out or t, d)} {op}(x, y){attr}', name=name), a, b, **kw)

def f8_types(): return F8 + ['f4e2m1fn']

@suite('elementwise')
def elementwise():
    k = 0
    def dims():
        nonlocal k; k += 1; return DIMS[k % len(DIMS)]
    # functions of one argument
    for op in REAL_FUNCTIONS:
        for t in FLOATS:
            x = fit(real_points(op, t), dims())
            yield unary(op, t, x, **({} if op not in NO_OPCODE else dict(expect=reference_value(op, t), by='extended precision (XLA:CPU has no such opcode)')),
                        compare=measured_ulp(2 if t in ('f16', 'bf16') else 4, (op, t)))
    for op in COMPLEX_FUNCTIONS:
        for t in COMPLEX:
            x = complex_points(op, t)
            if op in ('log-plus-one', 'exponential-minus-one', 'sinh', 'cosh', 'tan', 'tanh'): x = x * DT[t].type(0.5)
            yield unary(op, t, fit(x, dims()), **({} if op not in NO_OPCODE else dict(expect=reference_value(op, t), by='extended precision (XLA:CPU has no such opcode)')),
                        compare=close(abs=400 * EPS[t], rel=400 * EPS[t]))
    # exact functions of one argument
    for op in ('ceil', 'floor', 'round-nearest-afz', 'round-nearest-even', 'abs', 'negate', 'sign', 'copy', 'real'):
        for t in FLOATS:
            half = np.concatenate([np.arange(-9, 9, 0.5), [2.0**22 + 0.5, 2.0**23 - 0.5, 8388609., 4503599627370497.5, 0.49999997, 0.5 - 2.0**-54]]).astype(DT[t])
            yield unary(op, t, fit(np.concatenate([half, real_points(op, t)]), dims()))
    for t in FLOATS:
        yield unary('is-finite', t, fit(real_points('isf', t, True), dims()), 'pred')
        yield unary('imag', t, fit(real_points('imag', t), dims()))
        for op in ('abs', 'negate', 'copy'): yield unary(op, t, fit(real_points(op, t, True), dims()), tag='_subnormal')
        for op in ('ceil', 'floor', 'sign', 'sqrt', 'sine', 'tanh'):
            yield unary(op, t, fit(float_specials(t), (5, 5)), tag='_subnormal', compare=close(abs=1.0 if op in ('ceil', 'floor', 'sign') else 2 * np.sqrt(MIN_NORMAL[t]), rel=8 * EPS[t]),
                        note='subnormal operands may be flushed to zero')
    for op in ('abs', 'negate', 'sign', 'copy', 'real', 'imag'):
        for t in COMPLEX:
            out = t if op in ('negate', 'sign', 'copy') else dict(c64='f32', c128='f64')[t]
            yield unary(op, t, fit(complex_points(op, t), dims()), out, compare=ulp(4, t) if op in ('abs', 'sign') else 'exact')
    for t in SIGNED + UNSIGNED + SMALL_INTS:
        x = np.concatenate([int_specials(t), ints(t, 200, t)]) if t not in SMALL_INTS else all_codes(t)
        for op in ('abs', 'sign', 'negate', 'not', 'popcnt', 'count-leading-zeros', 'copy'):
            if op in ('abs', 'sign') and t[0] == 'u': continue
            if op in ('popcnt', 'count-leading-zeros') and t in SMALL_INTS: continue
            yield unary(op, t, fit(x, dims() if t not in SMALL_INTS else (5, 5)))
    for t in SMALL_INTS:
        for op, f in (('popcnt', lambda v, w: bin(v & (1 << w) - 1).count('1')), ('count-leading-zeros', lambda v, w: w - (v & (1 << w) - 1).bit_length())):
            w = int(t[1:]); x = all_codes(t)
            yield unary(op, t, x, expect=lambda ins, f=f, w=w, t=t: [np.array([f(int(v), w) for v in ins[0]]).astype(np.int8).astype(DT[t])], by='definition',
                        note='at the width of the type')
    yield unary('not', 'pred', fit(np.array([True, False, True]), (3, 3, 5)))
    # functions of two arguments
    for t in SIGNED + UNSIGNED:
        sp = int_specials(t); a, b = pairs(sp, ints(t + 'a', 77, t), ints(t + 'b', 77, t))
        for op in ('add', 'subtract', 'multiply', 'divide', 'remainder', 'maximum', 'minimum', 'and', 'or', 'xor', 'shift-left', 'shift-right-logical', 'shift-right-arithmetic'):
            yield binary(op, t, a, b)
        lo = -3 if t[0] == 's' else 0; e = np.tile(np.arange(lo, 9), 9).astype(DT[t]); base = np.repeat(np.arange(lo, lo + 9), 9 + 3 if t[0] == 's' else 9).astype(DT[t])
        yield binary('power', t, base, e)
    for t in SMALL_INTS:
        c = all_codes(t); a, b = pairs(c, c, c)
        for op in ('add', 'subtract', 'multiply', 'divide', 'remainder', 'maximum', 'minimum', 'and', 'or', 'xor', 'shift-left', 'shift-right-logical', 'shift-right-arithmetic'):
            yield binary(op, t, a, b)
    p, q = pairs(np.array([True, False]), ints('p', 31, 'pred'), ints('q', 31, 'pred'))
    for op in ('add', 'multiply', 'maximum', 'minimum', 'and', 'or', 'xor'): yield binary(op, 'pred', p, q)
    for t in FLOATS:
        sp = float_specials(t, False); a, b = pairs(sp, real_points('a' + t, t)[:71], real_points('b' + t, t)[71:142])
        for op in ('add', 'subtract', 'multiply', 'divide', 'remainder', 'maximum', 'minimum'):
            yield binary(op, t, a, b, compare='exact' if op not in ('multiply', 'divide') else ulp(0, t))
        r = seed_of(VARIANT.seed, 'power' + t); pa = np.concatenate([np.repeat(sp, len(sp)), np.abs(r.standard_normal(98)).astype(DT[t]) * DT[t].type(3)])
        pb = np.concatenate([np.tile(sp, len(sp)), (r.standard_normal(98) * 3).astype(DT[t])])
        yield binary('power', t, pa, pb, compare=measured_ulp(2 if t in ('f16', 'bf16') else 4, ('power', t)))
        yield binary('atan2', t, a, b, compare=measured_ulp(2 if t in ('f16', 'bf16') else 4, ('atan2', t)))
        sub = float_specials(t); a, b = pairs(sub[-2:], sub, np.roll(sub, 3))
        for op in ('add', 'subtract', 'maximum', 'minimum'):
            yield binary(op, t, a, b, tag='_subnormal', compare=close(abs=2 * MIN_NORMAL[t]), note='subnormal operands and results may be flushed to zero')
    for t in COMPLEX:
        a, b = complex_points('a', t), np.roll(complex_points('b', t), 7)
        for op in ('add', 'subtract', 'multiply', 'divide', 'power', 'atan2'):
            if op in ('divide', 'power', 'atan2'): b = np.where(np.abs(b) < 0.1, b + 1, b).astype(DT[t])
            if op == 'atan2': a, b = a[25:], b[25:]
            if op == 'power': a = np.where(a == 0, 1, a).astype(DT[t]); b = (b * 0.3).astype(DT[t])
            yield binary(op, t, a, b, compare='exact' if op in ('add', 'subtract') else close(400 * EPS[t], 400 * EPS[t]))
    for t, c in (('f32', 'c64'), ('f64', 'c128')):
        sp = float_specials(t, False); a, b = pairs(sp, real_points('re', t), real_points('im', t))
        yield binary('complex', t, a, b, out=c)
    # select, clamp
    for n, t in enumerate(['pred'] + SMALL_INTS + SIGNED + UNSIGNED + FLOATS + COMPLEX + ['f8e5m2', 'f8e4m3fn', 'f4e2m1fn']):
        d = DIMS[n % len(DIMS)]
        sp = float_specials(t) if t in FLOATS else int_specials(t) if t in SIGNED + UNSIGNED else all_codes(t) if t in SMALL_INTS + F8 + ['f4e2m1fn'] else data('sel', 60, t)
        a, b = fit(sp, d), fit(data('selb', 300, t), d); c = fit(ints('selp', 259, 'pred'), d)
        yield H(f'select_{t}', program(f'p = {shp("pred", d)} parameter(0)\nx = {shp(t, d)} parameter(1)\ny = {shp(t, d)} parameter(2)\nr = {shp(t, d)} select(p, x, y)'), c, a, b)
        if n % 3 == 0:
            yield H(f'select_scalar_{t}', program(f'p = pred[] parameter(0)\nx = {shp(t, d)} parameter(1)\ny = {shp(t, d)} parameter(2)\nr = {shp(t, d)} select(p, x, y)'), np.bool_(n % 2), a, b)
        if t in COMPLEX or t == 'pred' or t in ('f8e5m2', 'f8e4m3fn', 'f4e2m1fn'): continue
        x = fit(np.concatenate([sp, data('clx', 200, t)]), d); lo, hi = fit(data('cll', 259, t), d), fit(data('clh', 259, t), d)
        yield H(f'clamp_{t}', program(f'l = {shp(t, d)} parameter(0)\nx = {shp(t, d)} parameter(1)\nh = {shp(t, d)} parameter(2)\nr = {shp(t, d)} clamp(l, x, h)'), lo, x, hi)
        one = np.asarray(1).astype(DT[t]); two = np.asarray(-2 if t[0] != 'u' else 0).astype(DT[t])
        yield H(f'clamp_scalar_{t}', program(f'l = {t}[] parameter(0)\nx = {shp(t, d)} parameter(1)\nh = {t}[] parameter(2)\nr = {shp(t, d)} clamp(l, x, h)'), two, x, one)
    for t in ('f32', 'f64', 'bf16'):
        v = np.array([np.nan, 1, -1, np.inf, -np.inf, 0.0, 5], DT[t]); l, x = pairs(v, v[:0], v[:0]); h = np.full_like(l, 2); h[::5] = np.nan
        yield H(f'clamp_nan_{t}', program(f'l = {shp(t, l.shape)} parameter(0)\nx = {shp(t, l.shape)} parameter(1)\nh = {shp(t, l.shape)} parameter(2)\nr = {shp(t, l.shape)} clamp(l, x, h)'), l, x, h)
    # 8-bit and 4-bit floats: every bit pattern, several operations a case
    groups = dict(exact=['abs', 'negate', 'sign', 'ceil', 'floor', 'round-nearest-afz', 'round-nearest-even', 'is-finite', 'copy'],
                  transcendental=['exponential', 'exponential-minus-one', 'log', 'log-plus-one', 'sine', 'cosine', 'tan', 'tanh', 'sqrt', 'rsqrt', 'cbrt', 'logistic', 'erf'])
    for t in f8_types():
        x = all_codes(t); n = len(x)
        for g, ops in groups.items():
            ops = [o for o in ops if not (t == 'f8e8m0fnu' and o in ('negate', 'sign'))]
            out = lambda o: shp('pred' if o == 'is-finite' else t, [n])
            body = f'x = {shp(t, [n])} parameter(0)\n' + '\n'.join(f'r{i} = {out(o)} {o}(x)' for i, o in enumerate(ops))
            body += f"\nROOT t = ({', '.join(out(o) for o in ops)}) tuple({', '.join(f'r{i}' for i in range(len(ops)))})"
            yield H(f'unary_{g}_{t}', program(body), x, compare='exact' if g == 'exact' else ulp(1), note='outputs: ' + ' '.join(ops))
        r = seed_of(VARIANT.seed, 'f8' + t); a, b = (x, x) if n > 16 else (x, x); a = np.concatenate([np.repeat(x, 3), r.permutation(x)]); b = np.concatenate([np.tile(r.permutation(x), 3), r.permutation(x)])
        if n == 16: a, b = pairs(x, x, x)
        m = len(a); ops = ['add', 'subtract', 'multiply', 'divide', 'maximum', 'minimum', 'remainder']
        body = f'x = {shp(t, [m])} parameter(0)\ny = {shp(t, [m])} parameter(1)\n' + '\n'.join(f'r{i} = {shp(t, [m])} {o}(x, y)' for i, o in enumerate(ops))
        body += f"\nROOT t = ({', '.join(shp(t, [m]) for o in ops)}) tuple({', '.join(f'r{i}' for i in range(len(ops)))})"
        yield H(f'binary_{t}', program(body), a, b, compare=[ulp(0)] * 3 + [ulp(1)] + [ulp(0)] * 2 + [ulp(1)], note='outputs: ' + ' '.join(ops))
    # shapes at the edges
    for d in [(), (0,), (3, 0, 2), (1,), (1, 1, 1, 1, 1), (2, 3, 1, 4, 5)]:
        tag = 'x'.join(map(str, d)) or 'scalar'
        x, y = normal(('e', d), d), normal(('f', d), d)
        yield H(f'shape_{tag}', program(f'x = {shp("f32", d)} parameter(0)\ny = {shp("f32", d)} parameter(1)\na = {shp("f32", d)} add(x, y)\nm = {shp("f32", d)} maximum(a, x)\nn = {shp("f32", d)} negate(y)\nROOT r = ({shp("f32", d)}, {shp("f32", d)}) tuple(m, n)'), x, y)
    for l in [(0, 1, 2), (1, 0, 2), (2, 0, 1)]:
        d = (3, 5, 4); L = list(l)
        yield H('layout_' + ''.join(map(str, l)), program(f'x = {shp("f32", d, L)} parameter(0)\ny = {shp("f32", d)} parameter(1)\nz = {shp("f32", d, L)} copy(y)\nr = {shp("f32", d, L)} subtract(x, z)'), normal('l1', d), normal('l2', d))
    yield H('fused_chain', program('''x = f32[6,11]{1,0} parameter(0)
        one = f32[] constant(1)
        b = f32[6,11]{1,0} broadcast(one), dimensions={}
        a = f32[6,11]{1,0} abs(x)
        s = f32[6,11]{1,0} add(a, b)
        d = f32[6,11]{1,0} divide(x, s)
        t = f32[6,11]{1,0} tanh(d)
        l = f32[6,11]{1,0} log(s)
        ROOT r = (f32[6,11]{1,0}, f32[6,11]{1,0}) tuple(t, l)'''), normal('chain', (6, 11)), compare='auto')
    yield H('stochastic_convert', program('''x = f32[64]{0} parameter(0)
        u = u32[64]{0} parameter(1)
        r = s32[64]{0} stochastic-convert(x, u)'''), normal('sc', 64, scale=4.0), ints('scu', 64, 'u32'),
        expect=lambda i: [stochastic(i[0], i[1], np.int32)], by='definition')
    a, b = pairs(int_specials('s32'), ints('mh', 40), ints('mi', 40))
    hi = lambda i, s: [(np.array([(int(x) * int(y)) >> 32 for x, y in zip(*i)], dtype=object) & 0xffffffff).astype(np.uint32).view(s)]
    yield binary('mulhi', 's32', a, b, expect=lambda i: hi(i, np.int32), by='definition')
    a, b = pairs(int_specials('u32'), ints('mh', 40, 'u32'), ints('mi', 40, 'u32'))
    yield binary('mulhi', 'u32', a, b, expect=lambda i: hi(i, np.uint32), by='definition')

def stochastic(x, u, t):
    out = []
    for v, r in zip(x.astype(np.float64), u):
        a = abs(v); w = int(np.floor(a)); f = a - w
        if int(r) < int(f * 2.0**32): w += 1
        out.append(-w if v < 0 else w)
    return np.array(out).astype(t)
