"""Suite of the accuracy of functions."""
import numpy as np
import ml_dtypes
import run as R
from generator.machinery import COMPLEX, Case, DT, EPS, FLOATS, VARIANT, execute, seed_of, store, suite, ulp
from generator.data import program, shp

# --------------------------------------------------------------------------- accuracy of transcendental functions
ACCURACY = {   # opcode -> (mpmath name or function, domain, interesting points)
    'exponential': ('exp', (-750, 750), [0, 1, -1]), 'exponential-minus-one': ('expm1', (-750, 750), [0, .5, -.5]), 'log': ('log', (0, None), [1, 2]), 'log-plus-one': ('log1p', (-1, None), [0]), 'sine': ('sin', None, [0, np.pi, np.pi / 2, 1e5]), 'cosine': ('cos', None, [0, np.pi / 2, 1e5]),
    'tan': ('tan', None, [0, np.pi / 2, np.pi / 4]), 'tanh': ('tanh', None, [0, 1]), 'sqrt': ('sqrt', (0, None), [1]), 'rsqrt': (lambda mp, x: 1 / mp.sqrt(x), (0, None), [1]), 'cbrt': (lambda mp, x: mp.cbrt(x) if x >= 0 else -mp.cbrt(-x), None, [1]), 'logistic': (lambda mp, x: 1 / (1 + mp.exp(-x)), (-700, None), [0]), 'erf': ('erf', None, [0, 1]),
    'acos': ('acos', (-1, 1), [0, 1, -1]), 'asin': ('asin', (-1, 1), [0, 1, -1]), 'acosh': ('acosh', (1, None), [1]), 'asinh': ('asinh', None, [0]), 'atanh': ('atanh', (-1, 1), [0, 1, -1]), 'cosh': ('cosh', (-750, 750), [0]), 'sinh': ('sinh', (-750, 750), [0])}

def accuracy_points(key, t, domain, near):
    r = seed_of(VARIANT.seed, 'acc', key, t); f = ml_dtypes.finfo(DT[t]); lo, hi = np.log2(float(f.tiny)) + 1, np.log2(float(f.max)); n = dict(f32=900, f64=800, f16=600, bf16=600)[t]
    sign = lambda m: r.choice([-1.0, 1.0], m)
    v = [r.uniform(-10, 10, n), r.uniform(-1, 1, n), sign(n) * np.exp2(r.uniform(lo, hi, n)), sign(n // 2) * np.exp2(r.uniform(-12, 10, n // 2)), r.uniform(-90, 90, n // 2)] + [p + sign(n // 4) * np.exp2(r.uniform(-30, -1, n // 4)) for p in near]
    v = np.concatenate(v).astype(DT[t]); w = v.astype(np.float64)
    if domain:
        if domain[0] is not None: v = v[w > domain[0]]; w = v.astype(np.float64)
        if domain[1] is not None: v = v[w < domain[1]]
    return v[np.isfinite(v.astype(np.float64))]

PRECISION = dict(f32=24, f64=53, f16=11, bf16=8)
def rounded(mp, values, t):
    """mpmath values correctly rounded to a type (results in the normal range)."""
    out = []
    with mp.workprec(PRECISION[t]):
        for y in values: out.append(float(+y))
    return np.array(out).astype(DT[t])

def accuracy_case(op, t, x, f, *more):
    """Inputs whose exact result is a normal number; expectation correctly rounded; XLA's own error recorded."""
    import mpmath; mp = mpmath.mp; mp.prec = 160
    ins = [x, *more]; ys = [f(mp, *[mp.mpf(float(a)) for a in v]) for v in zip(*[a.astype(np.float64) for a in ins])]
    fi = ml_dtypes.finfo(DT[t]); ok = np.array([mp.isfinite(y) and 4 * float(fi.tiny) <= abs(y) <= float(fi.max) * 0.99 for y in ys], bool)
    ins = [a[ok] for a in ins]; want = rounded(mp, [y for y, k in zip(ys, ok) if k], t); n = len(want)
    decl = ''.join(f'x{k} = {shp(t, (n,))} parameter({k})\n' for k in range(len(ins))); text = program(decl + f"r = {shp(t, (n,))} {op}({', '.join(f'x{k}' for k in range(len(ins)))})", name=f'{op}_{t}'.replace('-', '_'))
    try:
        got = execute(text, ins)[0]; d = np.abs(R.ordinal(t, store(t, want)) - R.ordinal(t, store(t, got))); bad = ~np.isfinite(got.astype(np.float64)); worst = float('inf') if bad.any() else float(d.max()); i = int(np.argmax(np.where(bad, 1 << 40, d)))
        extra = dict(xla_max_ulp=worst if np.isfinite(worst) else 'inf', xla_worst_at=[float(a[i]) for a in ins])
    except Exception: worst, extra = None, dict(xla_max_ulp=None)
    bound = 2.5 if worst is None else min(worst, 2.5)
    if op != 'sqrt': bound = max(bound, 1.0)         # one ULP is a faithful result: XLA's 0 on these points is no promise
    extra['max_ulp'] = bound
    return Case(f'{op}_{t}'.replace('-', '_'), text=text, inputs=ins, compare=ulp(bound, t), expect=lambda i: [want], by='mpmath, correctly rounded', extra=extra)

COMPLEX_ACCURACY = {'exponential': 'exp', 'log': 'log', 'sqrt': 'sqrt', 'rsqrt': lambda mp, z: 1 / mp.sqrt(z), 'sine': 'sin', 'cosine': 'cos', 'tan': 'tan', 'tanh': 'tanh', 'log-plus-one': lambda mp, z: mp.log(1 + z), 'exponential-minus-one': 'expm1', 'logistic': lambda mp, z: 1 / (1 + mp.exp(-z))}
def complex_accuracy_case(op, t, f):
    import mpmath; mp = mpmath.mp; mp.prec = 200
    r = seed_of(VARIANT.seed, 'cacc', op, t); n = 900; mag = np.exp2(r.uniform(-8, 4, n)); z = np.concatenate([(r.uniform(-6, 6, n) + 1j * r.uniform(-6, 6, n)), mag * np.exp(2j * np.pi * r.uniform(0, 1, n))]).astype(DT[t])
    ys = [f(mp, mp.mpc(complex(v))) for v in z]; want = np.array([complex(y) for y in ys]); ok = np.isfinite(want) & (np.abs(want) > 1e-30) & (np.abs(want) < 1e30); z, want = z[ok], want[ok].astype(DT[t]); n = len(z)
    text = program(f'x = {shp(t, (n,))} parameter(0)\nr = {shp(t, (n,))} {op}(x)', name=f'{op}_{t}'.replace('-', '_')); u = 2 * EPS[t]
    got = execute(text, [z])[0]; d = np.abs(got.astype(np.complex128) - want.astype(np.complex128)) / (np.abs(want.astype(np.complex128)) * u); worst = float(np.nanmax(np.where(np.isfinite(d), d, np.inf))); i = int(np.argmax(d))
    bound = float(f'{max(1.5, min(worst * 1.25, 8.0)):.3g}')
    return Case(f'{op}_{t}'.replace('-', '_'), text=text, inputs=[z], compare=dict(mode='norm', ulp=bound), expect=lambda i: [want], by='mpmath, rounded', extra=dict(xla_max_ulp=float(f'{worst:.4g}') if np.isfinite(worst) else 'inf', max_ulp=bound, xla_worst_at=[[float(z[i].real), float(z[i].imag)]]), note='error measured as |actual - expected| in units of 2u|expected|')

class Lazy(Case):
    """A case whose making is itself expensive: built in the worker."""
    def __init__(self, name, make): self.name, self.make = name, make

@suite('accuracy')
def accuracy():
    for op, (f, domain, near) in ACCURACY.items():
        g = (lambda mp, x, f=f: getattr(mp, f)(x)) if isinstance(f, str) else f
        for t in FLOATS: yield Lazy(f'{op}_{t}'.replace('-', '_'), lambda op=op, t=t, g=g, domain=domain, near=near: accuracy_case(op, t, accuracy_points(op, t, domain, near), g))
    for t in FLOATS:
        def power(t=t):
            r = seed_of(VARIANT.seed, 'pw', t); n = 1500; b = np.exp2(np.concatenate([r.uniform(-3, 3, n), r.normal(0, .01, n)])).astype(DT[t]); e = np.concatenate([r.uniform(-9, 9, n), r.uniform(-200, 200, n)]).astype(DT[t]); return accuracy_case('power', t, b, lambda mp, x, y: mp.power(x, y), e)
        def atan2(t=t):
            r = seed_of(VARIANT.seed, 'at', t); n = 3000; s = lambda: (r.choice([-1., 1.], n) * np.exp2(r.uniform(-9, 9, n))).astype(DT[t]); return accuracy_case('atan2', t, s(), lambda mp, y, x: mp.atan2(y, x), s())
        yield Lazy(f'power_{t}', power); yield Lazy(f'atan2_{t}', atan2)
    for op, f in COMPLEX_ACCURACY.items():
        g = (lambda mp, x, f=f: getattr(mp, f)(x)) if isinstance(f, str) else f
        for t in COMPLEX: yield Lazy(f'{op}_{t}'.replace('-', '_'), lambda op=op, t=t, g=g: complex_accuracy_case(op, t, g))
