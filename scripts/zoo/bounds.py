"""Whether results of one module agree: arrays held against what rounding may do to them (judge.py states the law)."""
import dataclasses

import numpy as np

UNITS = {'bf16': 2 ** -7, 'f16': 2 ** -10, 'f32': 2 ** -23, 'f64': 2 ** -52}
NATIVE = {2: 'f16', 4: 'f32', 8: 'f64'}
FACTOR = 4          # times what noise does
PLAIN_UNITS = 4     # so close that nothing needs to be measured: units in the last place of the array's root mean square,
PLAIN_LARGEST = 16  # and of its largest element
SAYS_NOTHING = .5   # where noise moves an array by that part of itself

def plain(array):
    """Numbers that NumPy can compute with, in one dimension, and their unit; 0 for integers and truth values."""
    array = array.reshape(-1)
    if array.dtype.kind == 'V' and array.dtype.itemsize == 2:  # bf16, of which NumPy knows the bits
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32), UNITS['bf16']
    if array.dtype.kind == 'V' or array.dtype.name == 'bfloat16': return array.astype(np.float32), UNITS['bf16']
    if array.dtype.kind == 'c': return array.view(array.real.dtype), UNITS[NATIVE[array.dtype.itemsize // 2]]
    if array.dtype.kind == 'f': return array, UNITS[NATIVE[array.dtype.itemsize]]
    return array, 0

@dataclasses.dataclass
class Size:
    """Of differences: their root mean square, and the largest."""
    mean: float = 0
    largest: float = 0

    def most(self, other): return Size(max(self.mean, other.mean), max(self.largest, other.largest))
    def within(self, bound, factor): return self.mean <= factor * bound.mean and self.largest <= factor * bound.largest
    def parts_of(self, bound): return max((d / b if b else np.inf for d, b in ((self.mean, bound.mean), (self.largest, bound.largest)) if d), default=0.)

def size(differences):
    if not differences.size: return Size()
    wide = np.abs(differences, dtype=np.float64) if differences.dtype != np.float64 else np.abs(differences)
    return Size(float(np.sqrt(np.mean(np.square(wide)))), float(wide.max()))

@dataclasses.dataclass
class Distance:
    """Of two arrays: of the elements that are finite in both; elsewhere (and for integers) how many are not the same."""
    size: Size
    others: int

def distance(a, b):
    if a.dtype.kind != 'f': return Distance(Size(), int(np.count_nonzero(a != b)))
    with np.errstate(all='ignore'):
        finite = np.isfinite(a) & np.isfinite(b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if finite.all(): return Distance(size(a.astype(np.float64) - b), 0)
        return Distance(size(a[finite].astype(np.float64) - b[finite]), int(np.count_nonzero(~finite & ~same)))

def extent(array, unit):
    """What rounding the array itself may do."""
    finite = array[np.isfinite(array)] if array.dtype.kind == 'f' else array[:0]
    whole = size(finite)
    return Size(unit * whole.mean, unit * whole.largest), whole

@dataclasses.dataclass
class Finding:
    """Of one array: `ok`, what part of the bound its difference is, how much noise it takes in; `silent`: too much to tell."""
    ok: bool
    part: float = 0
    amplified: float = 0
    silent: bool = False
    why: str = ''

def is_plain(actual, expected):
    """So close that no implementation can be asked for better."""
    (a, unit), (b, unit_b) = plain(actual), plain(expected)
    if a.shape != b.shape: return False
    found = distance(a, b)
    own, _ = extent(b, max(unit, unit_b))
    return found.others == 0 and found.size.mean <= PLAIN_UNITS * own.mean and found.size.largest <= PLAIN_LARGEST * own.largest

class Bound:
    """The law for one array: `quiet` is the module without noise where `noisy` are its results with it."""

    def __init__(self, expected, quiet, noisy):
        (self.expected, self.unit), quiet = plain(expected), plain(quiet)[0]
        self.moved, self.others = Size(), 0
        for array in noisy:
            by = distance(plain(array)[0], quiet)
            self.moved, self.others = self.moved.most(by.size), max(self.others, by.others)

    def find(self, actual):
        (a, unit), b = plain(actual), self.expected
        if a.shape != b.shape: return Finding(False, why=f'{a.shape} elements, expected {b.shape}')
        found, moved, others = distance(a, b), self.moved, self.others
        own, whole = extent(b, max(unit, self.unit))
        bound = Size(moved.mean + own.mean, moved.largest + own.largest)
        silent = others > len(b) / 2 or bool(whole.mean) and moved.mean > SAYS_NOTHING * whole.mean
        part = max(found.size.parts_of(bound), found.others / others if others else (np.inf if found.others else 0.)) / FACTOR
        amplified = moved.mean / own.mean if own.mean else 0.
        ok = found.size.within(bound, FACTOR) and found.others <= FACTOR * others
        return Finding(ok, float(part), float(amplified), bool(silent), '' if ok else told(found, moved, others, whole))

def find(actual, expected, quiet, noisy): return Bound(expected, quiet, noisy).find(actual)

def told(found, moved, others, whole):
    said = []
    if found.others > FACTOR * others: said.append(f'{found.others} elements are others, with noise {others}')
    said.append(f'root mean square {found.size.mean:.2g} away of {whole.mean:.2g}, noise moves it by {moved.mean:.2g}; largest {found.size.largest:.2g} of {whole.largest:.2g}, noise {moved.largest:.2g}')
    return '; '.join(said)
