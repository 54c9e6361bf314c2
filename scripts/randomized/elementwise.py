"""Operations by element, and conversions."""
from values import COMPLEX, FLOATS, WIDE_FLOATS, bits_of, braced

UNARY = {'pred': ['not'], 'signed': ['negate', 'abs', 'not', 'sign', 'popcnt', 'count-leading-zeros'],
         'unsigned': ['not', 'popcnt', 'count-leading-zeros', 'negate'],
         'float': ['negate', 'abs', 'sign', 'floor', 'ceil', 'round-nearest-even', 'round-nearest-afz'], 'complex': ['negate']}
STEPS = ['sign', 'floor', 'ceil', 'round-nearest-even', 'round-nearest-afz']
FUNCTIONS = ['tanh', 'exponential-minus-one', 'exponential', 'log', 'log-plus-one', 'logistic', 'sine', 'cosine', 'tan', 'sqrt', 'rsqrt',
             'cbrt', 'erf']
UNCOMMON = ['acos', 'acosh', 'asin', 'asinh', 'atanh', 'cosh', 'sinh']  # which XLA's CPU backend has not
INTEGER_BINARY = ['add', 'subtract', 'multiply', 'maximum', 'minimum', 'and', 'or', 'xor', 'divide', 'remainder',
                  'shift-left', 'shift-right-logical', 'shift-right-arithmetic']
BINARY = {'pred': ['and', 'or', 'xor', 'maximum', 'minimum', 'add', 'multiply'], 'signed': INTEGER_BINARY, 'unsigned': INTEGER_BINARY,
          'float': ['add', 'subtract', 'multiply', 'maximum', 'minimum', 'divide'], 'complex': ['add', 'subtract', 'multiply']}
DIRECTIONS = ['EQ', 'NE', 'LT', 'LE', 'GT', 'GE']

def unary(c):
    v = c.pick(empty=True)
    op = c.choice.choice(UNARY[v.kind])
    if op in STEPS and not v.exact: op = 'negate'
    # XLA counts bits of what is narrower in bytes, and the zeros before signed numbers in 32 bits.
    if c.settings.peer and (op == 'count-leading-zeros' and v.kind == 'signed' or op == 'popcnt' and bits_of(v.type) < 8): op = 'not'
    if c.settings.peer and op == 'count-leading-zeros' and bits_of(v.type) < 8: op = 'not'
    c.add(v.type, v.dims, f'{op}({v.name})')

def function(c):
    v = c.pick(lambda v: v.kind == 'float' and v.exact and v.type in WIDE_FLOATS)
    if v: c.add(v.type, v.dims, f'{c.choice.choice(FUNCTIONS + UNCOMMON * (not c.settings.peer))}({v.name})', noisy=True)

def function_of_two(c):
    v = c.pick(lambda v: v.kind == 'float' and v.exact and v.type in WIDE_FLOATS)
    if not v: return
    op = c.choice.choice(['power', 'atan2', 'remainder'])
    # What is left of a division by zero is a NaN, whose sign is free and decides where it is sorted to.
    c.add(v.type, v.dims, f'{op}({v.name}, {c.like(v.type, v.dims, exact=True).name})', noisy=True)

def is_finite(c):
    v = c.pick(lambda v: v.kind == 'float' and v.exact)
    if v: c.add('pred', v.dims, f'is-finite({v.name})')

def complex_parts(c):
    v = c.pick(lambda v: v.kind == 'complex' or v.type in ('f32', 'f64'))
    if not v: return
    real = {'c64': 'f32', 'c128': 'f64'}.get(v.type)
    if real and c.choice.random() < .3: c.add(real, v.dims, f'abs({v.name})', noisy=True)
    elif real: c.add(real, v.dims, f"{c.choice.choice(['real', 'imag'])}({v.name})")
    else: c.add({'f32': 'c64', 'f64': 'c128'}[v.type], v.dims, f'complex({v.name}, {c.like(v.type, v.dims).name})')

def power(c):
    v = c.pick(lambda v: v.integral)
    if not v: return
    if c.settings.peer:  # XLA takes exponents modulo 64
        few = c.constant(v.type, text=str(c.choice.choice([0, 1]) if v.type == 's2' else c.choice.choice([0, 1, 2, 3])), hidden=True)
        other = c.add(v.type, v.dims, f'broadcast({few.name}), dimensions={{}}', hidden=True)
    else: other = c.like(v.type, v.dims)
    c.add(v.type, v.dims, f'power({v.name}, {other.name})')

def binary(c):
    v = c.pick(empty=True)
    op = c.choice.choice(BINARY[v.kind])
    # Which complex number is larger hangs on the last bit, and XLA looks at real parts only.
    if v.kind == 'complex' and v.exact and not c.settings.peer and c.choice.random() < .4:
        op = c.choice.choice(['maximum', 'minimum'])
        return c.add(v.type, v.dims, f'{op}({v.name}, {c.like(v.type, v.dims, exact=True).name})')
    if op in ('multiply', 'divide') and v.type in FLOATS and v.type not in WIDE_FLOATS: op = 'maximum'
    # Quotients of quotients are rounded once, and XLA contracts products and sums.
    noisy = op == 'divide' or op == 'multiply' and (v.kind == 'complex' or c.settings.peer)
    c.add(v.type, v.dims, f'{op}({v.name}, {c.like(v.type, v.dims).name})', noisy=noisy)

def compare(c):
    v = c.pick(lambda v: v.exact)
    if not v: return
    direction = c.choice.choice(DIRECTIONS[:2] if v.kind == 'complex' else DIRECTIONS)
    order = ', type=TOTALORDER' if v.kind == 'float' and not c.settings.peer and c.choice.random() < .3 else ''
    c.add('pred', v.dims, f'compare({v.name}, {c.like(v.type, v.dims, exact=True).name}), direction={direction}{order}')

def select(c):
    v = c.pick(empty=True)
    dims = () if c.choice.random() < .15 else v.dims
    c.add(v.type, v.dims, f"select({c.like('pred', dims).name}, {v.name}, {c.like(v.type, v.dims).name})")

def clamp(c):
    v = c.pick(lambda v: v.kind not in ('pred', 'complex'))
    if not v: return
    low = c.constant(v.type) if c.choice.random() < .7 else c.like(v.type, v.dims)
    high = c.parameter(v.type, ()) if c.choice.random() < .7 else c.like(v.type, v.dims)
    # Bounds are both scalars or both arrays in XLA.
    if c.settings.peer and (low.dims == ()) != (high.dims == ()): low, high = c.constant(v.type), c.like(v.type, ())
    c.add(v.type, v.dims, f'clamp({low.name}, {v.name}, {high.name})')

def convert(c):
    v, type = c.pick(empty=True), c.choice.choice(c.types)
    if c.convertible(v, type): c.converted(v, type)

def bitcast_convert(c):
    v = c.pick(lambda v: v.integral)
    if v: c.add(('u' if v.kind == 'signed' else 's') + v.type[1:], v.dims, f'bitcast-convert({v.name})')

def bits_of_float(c):
    """Those of whole numbers: how a NaN looks is free."""
    v = c.pick(lambda v: v.type in ('s8', 'u8', 's4', 'u4', 'pred'))
    types = [t for t in c.types if t in WIDE_FLOATS]
    if not v or not types: return
    number = c.converted(v, c.choice.choice(types))
    c.add(f"{c.choice.choice('su')}{bits_of(number.type)}", v.dims, f'bitcast-convert({number.name})')

def regroup_bits(c):
    """To elements of another width."""
    v = c.pick(lambda v: v.integral and bits_of(v.type) > 2)
    if not v: return
    # XLA folds constants of less than a byte to others.
    bits, other = bits_of(v.type), c.choice.choice([8, 16, 32, 64] + [2, 4] * (not c.settings.peer))
    if c.settings.peer and bits < 8: return
    type = f"{c.choice.choice('su')}{other}"
    if other < bits and c.fits((*v.dims, bits // other)): c.add(type, (*v.dims, bits // other), f'bitcast-convert({v.name})')
    elif other > bits and v.rank and v.dims[-1] == other // bits: c.add(type, v.dims[:-1], f'bitcast-convert({v.name})')

def reduce_precision(c):
    v = c.pick(lambda v: v.type in WIDE_FLOATS and v.exact)
    if not v: return
    exponent, mantissa = c.choice.choice([2, 4, 5, 8]), c.choice.choice([1, 3, 7, 10])
    c.add(v.type, v.dims, f'reduce-precision({v.name}), exponent_bits={exponent}, mantissa_bits={mantissa}')

def stochastic_convert(c):
    v = c.pick(lambda v: v.type in ('f32', 'f16', 'bf16') and v.exact)
    if not v: return
    bits = c.like(f'u{bits_of(v.type)}', v.dims)
    c.add(c.choice.choice(['s8', 's16', 's32']), v.dims, f'stochastic-convert({v.name}, {bits.name})')

def map_(c):
    v = c.pick(lambda v: v.exact and v.kind != 'complex')
    if not v: return
    count = c.choice.choice([1, 2, 2, 3])
    first = ['maximum', 'minimum'] if v.kind == 'float' else ['xor', 'and', 'or']
    then = ['and', 'or'] if v.kind == 'pred' else ['maximum', 'minimum', 'add']
    lines = [f'a{i} = {v.type}[] parameter({i})' for i in range(count)]
    lines += [f'k = {v.type}[] constant({c.some_number(v.type)})', f'm0 = {v.type}[] {c.choice.choice(first)}(a0, k)']
    lines += [f'm{i} = {v.type}[] {c.choice.choice(then)}(m{i - 1}, a{i})' for i in range(1, count)]
    lines.append(f'ROOT r = {v.type}[] copy(m{count - 1})')
    body = c.called(c.fresh('mapped'), ''.join(f'  {line}\n' for line in lines))
    operands = ', '.join([v.name] + [c.like(v.type, v.dims).name for _ in range(count - 1)])
    c.add(v.type, v.dims, f"map({operands}), dimensions={braced(range(v.rank))}, to_apply={body}")

def copy(c):
    v = c.pick(empty=True)
    c.add(v.type, v.dims, f'copy({v.name})')

def barrier(c):
    some = [c.pick(empty=True) for _ in range(c.choice.choice([1, 2, 3]))]
    shape = f"({', '.join(v.shape for v in some)})"
    name = c.fresh()
    c.lines.append(f"  {name} = {shape} tuple({', '.join(v.name for v in some)})")
    c.add_tuple([(v.type, v.dims) for v in some], f'opt-barrier({name})', noisy=not all(v.exact for v in some))

def iota(c):
    dims, type = c.dims(), c.choice.choice([t for t in c.types if t != 'pred'])
    if dims: c.add(type, dims, f'iota(), iota_dimension={c.choice.randrange(len(dims))}')

def constant_array(c):
    """Written in the text."""
    dims = [c.choice.choice([1, 2, 3, 5]) for _ in range(c.choice.choice([1, 2, 3]))]
    type = c.choice.choice([t for t in c.types if t not in COMPLEX])
    def text(dims):
        if not dims: return c.some_number(type)
        return '{' + ', '.join(text(dims[1:]) for _ in range(dims[0])) + '}'
    c.add(type, dims, f'constant({text(dims)})')

OPS = [(unary, 2), (function, 1), (function_of_two, .5), (is_finite, .3), (complex_parts, .5), (power, .5), (binary, 4), (compare, 1), (select, 2),
       (clamp, 1), (convert, 1), (bitcast_convert, 1), (bits_of_float, .3), (regroup_bits, .5), (reduce_precision, .5), (stochastic_convert, .3),
       (map_, .5), (copy, .5), (barrier, .3), (iota, 1), (constant_array, .5)]
