"""Input data and pieces of HLO text."""
import numpy as np
import ml_dtypes
import run as R
from generator.machinery import COMPLEX, DT, VARIANT, seed_of

def normal(key, shape, t='f32', scale=1.0):
    r = seed_of(VARIANT.seed, key)
    if t in COMPLEX: return (scale * (r.standard_normal(shape) + 1j * r.standard_normal(shape))).astype(DT[t])
    return np.asarray(scale * r.standard_normal(shape)).astype(DT[t])

def uniform(key, shape, t='f32', lo=0.0, hi=1.0): return np.asarray(seed_of(VARIANT.seed, key).uniform(lo, hi, shape)).astype(DT[t])

def ints(key, shape, t='s32', lo=None, hi=None):
    """Uniform integers in [lo, hi), default the whole type."""
    r = seed_of(VARIANT.seed, key)
    if t == 'pred': return r.integers(0, 2, shape).astype(bool)
    bits = R.RAW_INT.get(t) or DT[t].itemsize * 8
    if lo is None: lo, hi = (0, 1 << bits) if t[0] == 'u' else (-(1 << bits - 1), 1 << bits - 1)
    a = r.integers(lo, hi, shape, dtype=np.uint64 if lo >= 0 and hi > 1 << 62 else np.int64)
    return np.asarray(a).astype(DT[t])

def data(key, shape, t):
    """Plain values of any type."""
    if t == 'pred' or t in R.RAW_INT or t[0] in 'su': return ints(key, shape, t)
    return normal(key, shape, t)

def all_codes(t):
    """Every bit pattern of a type of at most 16 bits."""
    if t in ('f16', 'bf16'): return np.arange(1 << 16, dtype=np.uint16).view(DT[t])
    bits = R.RAW_INT.get(t) or R.RAW_FLOAT.get(t, (8,))[0]
    a = np.arange(1 << bits, dtype=np.uint8)
    if t in R.RAW_INT and t[0] == 's': return a.astype(np.int8).astype(DT[t]) if bits == 8 else np.where(a >> (bits - 1), a.astype(np.int8) - (1 << bits), a).astype(np.int8).astype(DT[t])
    if t in R.RAW_INT: return a.astype(DT[t])
    return a.view(DT[t])

INT_EDGES = lambda t: [-(1 << b - 1) if t[0] == 's' else 0 for b in [int(t[1:])]] + [(1 << int(t[1:]) - (t[0] == 's')) - 1]

def int_specials(t):
    lo, hi = INT_EDGES(t); w = int(t[1:])
    v = [lo, lo + 1, hi, hi - 1, 0, 1, 2, 3, 7, w - 1, w, w + 1, hi // 2, hi // 3] + ([-1, -2, -3, -7, -w, lo // 2] if t[0] == 's' else [])
    return np.array([min(max(x, lo), hi) for x in v], dtype=object).astype(DT[t])

def float_specials(t, subnormal=True):
    f = ml_dtypes.finfo(DT[t])
    v = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 1.5, -1.5, 2, -2, 2.5, -2.5, 3, -3, 10, -10, float(f.max), float(f.min), float(f.tiny), -float(f.tiny)]
    if subnormal: v += [float(f.smallest_subnormal), -float(f.smallest_subnormal)]
    return np.array(v).astype(DT[t])

def pairs(sp, more_a, more_b):
    """All pairs of the special values followed by further pairs."""
    a = np.concatenate([np.repeat(sp, len(sp)), more_a]); b = np.concatenate([np.tile(sp, len(sp)), more_b])
    return a, b

def shp(t, dims, layout=None):
    dims = list(dims); l = layout if layout is not None else list(range(len(dims)))[::-1]
    return f"{t}[{','.join(map(str, dims))}]" + (f"{{{','.join(map(str, l))}}}" if dims else '')

def program(body, root=None, name='m', comps=''):
    """Module text from the lines of the entry computation."""
    lines = [l.strip() for l in body.strip().split('\n') if l.strip()]
    if not any(l.startswith('ROOT') for l in lines): lines[-1] = 'ROOT ' + lines[-1]
    return f'HloModule {name}\n\n{comps}\nENTRY main {{\n' + '\n'.join('  ' + l for l in lines) + '\n}\n'

def reducer(op, t, name=None):
    return f'{name or op} {{\n  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n  ROOT r = {t}[] {op}(a, b)\n}}\n'
