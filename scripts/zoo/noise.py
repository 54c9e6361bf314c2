"""A module whose arithmetic rounds at random: what its results then differ by is what rounding may do to them.

Every instruction that rounds is followed by a multiplication with 1 + a (r + c): r is drawn for each element, c for the
whole array, both between -1 and 1; a is one unit in the last place of the type. Of sums of n terms (dots, convolutions,
reductions) results and operands also have sqrt(n) units of the type that sums are kept in, f32 at least: in another order
they may differ by so much. What moves or chooses values, or does not depend on a float among the arguments, stays exact.
Draws follow from `rng`, so that `hlo-run --rng-seed` makes others of the same code.
"""
import math
import re

UNITS = {'bf16': 2 ** -7, 'f16': 2 ** -10, 'f32': 2 ** -23, 'f64': 2 ** -52}
# Exact, or exact in what they are handed on.
EXACT = frozenset('''abs after-all all-gather all-to-all bitcast broadcast call ceil clamp collective-permute concatenate conditional constant
    copy custom-call domain dynamic-reshape dynamic-slice dynamic-update-slice floor gather get-tuple-element iota maximum minimum negate
    optimization-barrier pad parameter partition-id real imag complex reduce-precision replica-id reshape reverse rng rng-bit-generator
    round-nearest-afz round-nearest-even select sign slice sort transpose tuple while bitcast-convert'''.split())
SUMS = {'dot', 'convolution', 'reduce', 'reduce-window', 'select-and-scatter', 'scatter'}
SCATTERED = 16  # terms of a scattered sum, at least
INSTRUCTION = re.compile(r'^(\s+)(ROOT )?%([\w.\-]+) = (\(.*?\)|(\w+)\[([\d,]*)\](?:\{[^}]*\})?) ([a-z][a-z0-9\-]*)\((.*)$')
COMPUTATION = re.compile(r'^(?:ENTRY )?%([\w.\-]+) \(.*\{\s*$')
CALLED = re.compile(r'to_apply=%([\w.\-]+)|(?:scatter|select)=%([\w.\-]+)|calls=%([\w.\-]+)')
OPERAND = re.compile(r'%([\w.\-]+)')

def dims_of(text): return [int(x) for x in text.split(',') if x]

def blocks(lines):
    """Spans of computations: name, first line and the one after the last."""
    name = first = None
    for number, line in enumerate(lines):
        if (found := COMPUTATION.match(line)): name, first = found[1], number
        elif line.startswith('}') and name is not None:
            yield name, first, number + 1
            name = None

def inner(lines):
    """Computations that are applied to scalars or fused, and whose root adds: neither gets noise inside."""
    applied = set()
    for line in lines:
        found = INSTRUCTION.match(line)
        if not found or found[7] == 'call': continue
        applied |= {name for names in CALLED.findall(line) for name in names if name}
    return applied

def sums(lines):
    """Names of computations whose root rounds."""
    names = set()
    for name, first, end in blocks(lines):
        for line in lines[first:end]:
            found = INSTRUCTION.match(line)
            if found and found[2] and found[7] not in EXACT: names.add(name)
    return names

def terms(kind, rest, shapes):
    """How many terms an element of a sum has."""
    operands = OPERAND.findall(rest.split(')')[0])
    if kind == 'dot':
        places = re.search(r'lhs_contracting_dims=\{([\d,]*)\}', rest)
        return math.prod(shapes[operands[0]][1][i] for i in dims_of(places[1])) if places else 1
    if kind == 'convolution':
        labels = re.search(r'dim_labels=\w+_(\w+)->', rest)[1]
        dims = shapes[operands[1]][1]
        return math.prod(dims) // max(dims[labels.index('o')], 1)
    if kind == 'reduce':
        dims = shapes[operands[0]][1]
        return math.prod(dims[i] for i in dims_of(re.search(r'dimensions=\{([\d,]*)\}', rest)[1]))
    if kind == 'scatter':
        count = lambda name: math.prod(shapes[name][1])
        return max(SCATTERED, count(operands[-1]) // max(count(operands[0]), 1))
    window = re.search(r'window=\{size=([\dx]+)', rest)
    return math.prod(int(x) for x in window[1].split('x')) if window else 1

class Noise:
    def __init__(self, text):
        self.lines = text.split('\n')
        self.inner, self.sums = inner(self.lines), sums(self.lines)
        self.makers, self.sites, self.added = {}, 0, []

    def module(self):
        """The text with noise."""
        out, after = [], 0
        for name, first, end in blocks(self.lines):
            out += self.lines[after:first]
            out += self.lines[first:end] if name in self.inner else self.computation(first, end)
            after = end
        out += self.lines[after:]
        head = next(i for i, line in enumerate(out) if COMPUTATION.match(line))
        return '\n'.join(out[:head] + list(self.makers.values()) + out[head:])

    def computation(self, first, end):
        out, shapes, tainted = [self.lines[first]], {}, set()
        for line in self.lines[first + 1:end]:
            found = INSTRUCTION.match(line)
            if not found:
                out.append(line)
                continue
            indent, root, name, _, element, dims, kind, rest = found.groups()
            shapes[name] = (element, dims_of(dims) if element else None)
            operands = OPERAND.findall(rest.split(')')[0])
            is_float = element in UNITS
            # Of integers and truth values is taken that they come out the same.
            if (is_float or not element) and (kind == 'parameter' or any(x in tainted for x in operands)): tainted.add(name)
            units = self.units(kind, element, rest, shapes, operands) if is_float and name in tainted else None
            if units is None:
                out.append(line)
                continue
            own, of_operands = units
            before, rest = self.noisy_operands(kind, rest, operands, shapes, of_operands)
            out += before
            out.append(f'{indent}%{name}.exact = {line.split(" = ", 1)[1].split(kind + "(")[0]}{kind}({rest}')
            out += self.noisy(f'{root or ""}%{name}', f'{name}.exact', element, dims, own)
        return out

    def units(self, kind, element, rest, shapes, operands):
        """Relative noise of the result and, of sums, of operands; None where nothing rounds."""
        if kind in EXACT: return None
        unit = UNITS[element]
        if kind == 'convert' and UNITS.get(shapes[operands[0]][0], 0) >= unit: return None
        if kind == 'convert' and shapes[operands[0]][0] not in UNITS: return None
        if kind not in SUMS: return unit, 0
        if kind not in ('dot', 'convolution') and not any(n in self.sums for names in CALLED.findall(rest) for n in names if n): return None
        kept = min(unit, UNITS['f32']) * math.sqrt(terms(kind, rest, shapes))
        return unit + kept, kept if kind in ('dot', 'convolution', 'reduce') else 0

    def noisy_operands(self, kind, rest, operands, shapes, units):
        """Of sums in full precision, operands too: where terms cancel, it is they who say what rounding may do."""
        count = 1 if kind == 'reduce' else 2
        lines, changed = [], {}
        for name in dict.fromkeys(operands[:count]):
            element, dims = shapes[name]
            if not units or element not in ('f32', 'f64'): continue
            fresh = f'{name}.term{self.sites}'
            lines += self.noisy(f'%{fresh}', name, element, ','.join(map(str, dims)), units)
            changed[name] = fresh
        if not changed: return lines, rest
        inside, rest = rest.split(')', 1)
        return lines, OPERAND.sub(lambda m: '%' + changed.get(m[1], m[1]), inside) + ')' + rest

    def noisy(self, result, name, element, dims, units):
        """Lines that give `result`, the array `name` with noise."""
        self.sites += 1
        at = f'noise.{self.sites}'
        return [f'  %{at}.least = f32[] constant(-{units:.6g})', f'  %{at}.most = f32[] constant({units:.6g})',
                f'  %{at}.common = f32[] rng(%{at}.least, %{at}.most), distribution=rng_uniform',
                f'  %{at}.own = f32[{dims}] rng(%{at}.least, %{at}.most), distribution=rng_uniform',
                f'  {result} = {element}[{dims}] call(%{name}, %{at}.own, %{at}.common), to_apply=%{self.maker(element, dims)}']

    def maker(self, element, dims):
        name = f'noise.{element}_{dims.replace(",", "_") or "scalar"}'
        if name not in self.makers: self.makers[name] = maker_text(name, element, dims)
        return name

def maker_text(name, element, dims):
    """The computation x, r, c -> x (1 + r + c)."""
    wide = 'f64' if element == 'f64' else 'f32'
    array, number = f'{element}[{dims}]', f'{wide}[{dims}]'
    widened = '' if wide == element else f'  %wide = {number} convert(%x)\n'
    product = f'  ROOT %result = {array} multiply(%x, %factor)' if wide == element else f'''  %product = {number} multiply(%wide, %factor)
  ROOT %result = {array} convert(%product)'''
    return f'''%{name} (x: {array}, r: f32[{dims}], c: f32[]) -> {array} {{
  %x = {array} parameter(0)
  %r = f32[{dims}] parameter(1)
  %c = f32[] parameter(2)
{widened}  %cs = f32[{dims}] broadcast(%c), dimensions={{}}
  %both = f32[{dims}] add(%r, %cs)
  %move = {number} convert(%both)
  %one = {wide}[] constant(1)
  %ones = {number} broadcast(%one), dimensions={{}}
  %factor = {number} add(%ones, %move)
{product}
}}
'''

def with_noise(text): return Noise(text).module()
