"""Programs that compare a value with itself through different consumers; each returns how many elements differ."""
import math
import random

FLOATS = ['f32', 'f32', 'f64', 'bf16', 'f16']
SIZES = [*range(1, 20), 24, 31, 32, 33, 40, 48, 63, 64, 65, 77, 96, 100]
FUNCTIONS = ['exponential', 'tanh', 'logistic', 'sine', 'cosine', 'sqrt', 'rsqrt', 'cbrt', 'log', 'log-plus-one', 'exponential-minus-one',
             'erf', 'negate', 'abs', 'tan', 'floor']
SCALARS = {'add': '0', 'multiply': '1', 'maximum': '-inf', 'minimum': 'inf'}

class Program:
    """Lines of the entry, and the scalar computations that they call."""

    def __init__(self, seed):
        self.choice = random.Random(f'one value {seed}')
        self.name, self.lines, self.helpers, self.parameters = f'one_value_{seed}', [], {}, 0
        self.type = self.choice.choice(FLOATS)

    def add(self, dims, op, type=None, attrs=''):
        name = f'v{len(self.lines)}'
        self.lines.append(f'  {name} = {self.shape(dims, type)} {op}{attrs}')
        return name

    def shape(self, dims, type=None):
        return f"{type or self.type}[{','.join(map(str, dims))}]"

    def parameter(self, dims, type=None):
        self.parameters += 1
        return self.add(dims, f'parameter({self.parameters - 1})', type)

    def constant(self, value, type=None):
        return self.add((), f"constant({f'({value}, 0)' if (type or self.type) == 'c64' else value})", type)

    def spread(self, scalar, dims, type=None, along=()):
        return self.add(dims, f"broadcast({scalar}), dimensions={{{','.join(map(str, along))}}}", type)

    def helper(self, op, type=None):
        type = type or self.type
        name = f'{op}_{type}'
        self.helpers[name] = (f'{name} {{ a = {type}[] parameter(0)  b = {type}[] parameter(1)  '
                              f'ROOT r = {type}[] {op}(a, b) }}\n')
        return name

    def reduce(self, x, dims, over, op, type=None):
        init = self.constant({'or': 'false', 'and': 'true'}.get(op, SCALARS.get(op)), type)
        kept = tuple(d for i, d in enumerate(dims) if i not in over)
        return self.add(kept, f"reduce({x}, {init}), dimensions={{{','.join(map(str, over))}}}, to_apply={self.helper(op, type)}", type), kept

    def differences(self, x, y, dims):
        """How many elements of x and y differ; NaN equals NaN."""
        differ = self.add(dims, f'compare({x}, {y}), direction=NE', 'pred')
        numbers = [self.add(dims, f'compare({v}, {v}), direction=EQ', 'pred') for v in (x, y)]
        either = self.add(dims, f'or({numbers[0]}, {numbers[1]})', 'pred')
        return self.count(self.add(dims, f'and({differ}, {either})', 'pred'), dims)

    def count(self, pred, dims):
        numbers = self.add(dims, f'convert({pred})', 's32')
        return self.reduce(numbers, dims, range(len(dims)), 'add', 's32')[0] if dims else numbers

    def text(self, root):
        self.lines.append(f'  ROOT result = s32[] add({root}, {root})')
        body = '\n'.join(self.lines)
        return f"HloModule {self.name}\n\n{''.join(self.helpers.values())}ENTRY e {{\n{body}\n}}\n"

# What is compared: functions of a program that return a value and its dimensions.

def elementwise(p, x, dims):
    for _ in range(p.choice.randint(1, 4)):
        kind = p.choice.randrange(4)
        if kind < 2: x = p.add(dims, f'{p.choice.choice(FUNCTIONS)}({x})')
        elif kind == 2:
            y = p.spread(p.constant(p.choice.choice(['0.3', '1.7', '-2.1'])), dims)
            x = p.add(dims, f"{p.choice.choice(['multiply', 'add', 'divide', 'subtract', 'maximum', 'power'])}({x}, {y})")
        else:
            y = p.parameter(dims)
            z = p.add(dims, f'multiply({x}, {y})')
            x = p.add(dims, f'add({z}, {p.choice.choice([x, y])})')
    return x, dims

def dims_of(p, ranks=(1, 2, 2, 3), most=40000):
    while True:
        dims = tuple(p.choice.choice(SIZES) for _ in range(p.choice.choice(ranks)))
        if math.prod(dims) <= most: return dims

def function(p): return elementwise(p, p.parameter(dims := dims_of(p)), dims)

def reduction(p):
    dims = dims_of(p, (2, 2, 3, 4))
    x = p.parameter(dims)
    if p.choice.random() < .6: x, _ = elementwise(p, x, dims)
    over = sorted(p.choice.sample(range(len(dims)), p.choice.randint(1, len(dims) - 1)))
    return p.reduce(x, dims, over, p.choice.choice(['add', 'add', 'add', 'multiply', 'maximum']))

def product(p):
    sizes = p.choice.choice([SIZES, SIZES[:19], SIZES[:19], SIZES[:24]])
    m, k, n = (p.choice.choice(sizes) for _ in range(3))
    batch = p.choice.choice([(), (), (), (p.choice.randint(1, 6),)])
    flipped = [p.choice.random() < .4 for _ in range(2)]
    left = batch + ((k, m) if flipped[0] else (m, k))
    right = batch + ((n, k) if flipped[1] else (k, n))
    vector = p.choice.random() < .25
    if vector: right = batch + (k,)
    x, y = p.parameter(left), p.parameter(right)
    if p.type != 'c64' and p.choice.random() < .3: x, _ = elementwise(p, x, left)
    b = len(batch)
    batches = f', lhs_batch_dims={{0}}, rhs_batch_dims={{0}}' if batch else ''
    dims = batch + ((m,) if vector else (m, n))
    dot = p.add(dims, f'dot({x}, {y}){batches}, lhs_contracting_dims={{{b if flipped[0] else b + 1}}}, '
                      f'rhs_contracting_dims={{{b if vector or not flipped[1] else b + 1}}}')
    return dot, dims

def windows(p):
    dims = dims_of(p, (1, 2, 2, 3), 5000)
    sizes = [min(d, p.choice.choice([1, 2, 3, 5, 9])) for d in dims]
    x = p.parameter(dims)
    op = p.choice.choice(['add', 'add', 'maximum'])
    kept = tuple(d - s + 1 for d, s in zip(dims, sizes))
    value = p.add(kept, f"reduce-window({x}, {p.constant(SCALARS[op])}), window={{size={'x'.join(map(str, sizes))}}}, to_apply={p.helper(op)}")
    return value, kept

def convolution(p):
    size, ci, co, taps = p.choice.randint(3, 20), p.choice.randint(1, 9), p.choice.randint(1, 9), p.choice.randint(1, 3)
    x, w = p.parameter((2, size, ci)), p.parameter((taps, ci, co))
    dims = (2, size - taps + 1, co)
    return p.add(dims, f'convolution({x}, {w}), window={{size={taps}}}, dim_labels=b0f_0io->b0f'), dims

def running(p):
    rows, n = p.choice.choice(SIZES), p.choice.choice(SIZES)
    x = p.parameter((rows, n))
    return p.add((rows, n), f"reduce-window({x}, {p.constant('0')}), window={{size=1x{n} pad=0_0x{n - 1}_0}}, to_apply={p.helper('add')}"), (rows, n)

def softmax(p):
    dims = dims_of(p, (2, 2, 3))
    last = len(dims) - 1
    x = p.parameter(dims)
    m, kept = p.reduce(x, dims, [last], 'maximum')
    e = p.add(dims, f"exponential({p.add(dims, f'subtract({x}, {p.spread(m, dims, along=range(last))})')})")
    s, _ = p.reduce(e, dims, [last], 'add')
    return p.add(dims, f'divide({e}, {p.spread(s, dims, along=range(last))})'), dims

def variance(p):
    dims = dims_of(p, (2, 2, 3))
    last = len(dims) - 1
    x = p.parameter(dims)
    s, kept = p.reduce(x, dims, [last], 'add')
    mean = p.add(kept, f'multiply({s}, {p.spread(p.constant(1 / dims[last]), kept)})')
    d = p.add(dims, f'subtract({x}, {p.spread(mean, dims, along=range(last))})')
    v, _ = p.reduce(p.add(dims, f'multiply({d}, {d})'), dims, [last], 'add')
    if p.choice.random() < .5: return v, kept
    r = p.add(kept, f'rsqrt({v})')
    return p.add(dims, f'multiply({d}, {p.spread(r, dims, along=range(last))})'), dims

# How it is compared: functions of a program, a value and its dimensions, that return how many elements differ.

def largest(p, v, dims):
    """In each row some element is the largest."""
    over = sorted(p.choice.sample(range(len(dims)), p.choice.randint(1, len(dims))))
    op = p.choice.choice(['maximum', 'minimum'])
    m, kept = p.reduce(v, dims, over, op)
    all = p.spread(m, dims, along=[d for d in range(len(dims)) if d not in over])
    same = p.add(dims, f'compare({v}, {all}), direction=EQ', 'pred')
    found, _ = p.reduce(same, dims, over, 'or', 'pred')
    number = p.add(kept, f'compare({m}, {m}), direction=EQ', 'pred')
    return p.count(p.add(kept, f"and({number}, {p.add(kept, f'not({found})', 'pred')})", 'pred'), kept)

def one_of_row(p, v, dims):
    """An element that a sum of zeros and it finds is that which a slice finds."""
    last = len(dims) - 1
    start = p.parameter((), 's32')
    at = p.add((), f"clamp({p.constant(0, 's32')}, {start}, {p.constant(dims[last] - 1, 's32')})", 's32')
    iota = p.add(dims, f'iota(), iota_dimension={last}', 's32')
    hit = p.add(dims, f"compare({iota}, {p.spread(at, dims, 's32')}), direction=EQ", 'pred')
    zero = p.spread(p.constant('0'), dims)
    picked, kept = p.reduce(p.add(dims, f'select({hit}, {v}, {zero})'), dims, [last], 'add')
    zeros = p.constant(0, 's32')
    sizes = dims[:last] + (1,)
    starts = ', '.join([zeros] * last + [at])
    sliced = p.add(sizes, f"dynamic-slice({v}, {starts}), dynamic_slice_sizes={{{','.join(map(str, sizes))}}}")
    return p.differences(picked, p.add(kept, f'reshape({sliced})'), kept)

def stored(p, v, dims):
    """What a barrier lets through."""
    kept = p.add(dims, f'opt-barrier({v})')
    y, _ = elementwise(p, v, dims) if p.type != 'c64' and p.choice.random() < .3 else (v, dims)
    if y == v: return p.differences(v, kept, dims)
    op = p.choice.choice(['multiply', 'add'])
    return p.differences(p.add(dims, f'{op}({y}, {v})'), p.add(dims, f'{op}({y}, {kept})'), dims)

def sorted_last(p, v, dims):
    """The last of a sorted row without NaN is its largest."""
    last = len(dims) - 1
    p.helpers['less'] = (f'less_{p.type} {{ a = {p.type}[] parameter(0)  b = {p.type}[] parameter(1)  '
                         'ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER }\n')
    s = p.add(dims, f'sort({v}), dimensions={{{last}}}, to_apply=less_{p.type}')
    ranges = ', '.join([f'[0:{d}]' for d in dims[:last]] + [f'[{dims[last] - 1}:{dims[last]}]'])
    kept = dims[:last]
    top = p.add(kept, f"reshape({p.add(kept + (1,), f'slice({s}), slice={{{ranges}}}')})")
    m, _ = p.reduce(v, dims, [last], 'maximum')
    number = p.add(kept, f'compare({m}, {m}), direction=EQ', 'pred')
    differ = p.add(kept, f'compare({top}, {m}), direction=NE', 'pred')
    return p.count(p.add(kept, f'and({differ}, {number})', 'pred'), kept)

def exponentials(p, v, dims):
    """The largest of exp(v - max v) is one."""
    last = len(dims) - 1
    m, kept = p.reduce(v, dims, [last], 'maximum')
    d = p.add(dims, f'subtract({v}, {p.spread(m, dims, along=range(last))})')
    top, _ = p.reduce(d, dims, [last], 'maximum')
    wrong = p.add(kept, f"compare({top}, {p.spread(p.constant('0'), kept)}), direction=NE", 'pred')
    number = p.add(kept, f"compare({p.add(kept, f'subtract({m}, {m})')}, {p.spread(p.constant('0'), kept)}), direction=EQ", 'pred')
    return p.count(p.add(kept, f'and({wrong}, {number})', 'pred'), kept)

def pieces(p, v, dims):
    """Slices that are put together again another way round."""
    d = p.choice.randrange(len(dims))
    cut = p.choice.randint(0, dims[d])
    if cut in (0, dims[d]): return stored(p, v, dims)
    parts = []
    for low, high in ((0, cut), (cut, dims[d])):
        ranges = ', '.join(f'[{low}:{high}]' if i == d else f'[0:{n}]' for i, n in enumerate(dims))
        parts.append(p.add(dims[:d] + (high - low,) + dims[d + 1:], f'slice({v}), slice={{{ranges}}}'))
    shift = p.add(dims, f'concatenate({parts[1]}, {parts[0]}), dimensions={{{d}}}')
    # Sums of both: of numbers that are the same in another order along a dimension that is not folded.
    back = [p.add(dims[:d] + (n,) + dims[d + 1:],
                  f"slice({shift}), slice={{{', '.join(f'[{low}:{low + n}]' if i == d else f'[0:{m}]' for i, m in enumerate(dims))}}}")
            for low, n in ((dims[d] - cut, cut), (0, dims[d] - cut))]
    again = p.add(dims, f'concatenate({back[0]}, {back[1]}), dimensions={{{d}}}')
    return p.differences(v, p.add(dims, f'opt-barrier({again})'), dims)

def turned(p, v, dims):
    """The transposed value, whose rows are others."""
    order = list(range(len(dims)))
    p.choice.shuffle(order)
    there = tuple(dims[i] for i in order)
    t = p.add(there, f"transpose({v}), dimensions={{{','.join(map(str, order))}}}")
    y = p.parameter(there)
    moved = p.add(there, f'multiply({t}, {y})')
    back = [order.index(i) for i in range(len(dims))]
    z = p.add(dims, f"transpose({p.add(there, f'opt-barrier({moved})')}), dimensions={{{','.join(map(str, back))}}}")
    w = p.add(dims, f"transpose({y}), dimensions={{{','.join(map(str, back))}}}")
    return p.differences(p.add(dims, f'multiply({v}, {w})'), z, dims)

def widened(p, v, dims):
    """What a wider type holds is what was rounded, not what it was rounded from."""
    kept = p.add(dims, f'opt-barrier({v})')
    wide = 'f64' if p.type in ('f32', 'f64') else 'f32'
    return p.differences(p.add(dims, f'convert({v})', wide), p.add(dims, f'convert({kept})', wide), dims)

def gradient_of_largest(p, v, dims):
    """Where an element is the largest there is a one, and their sum over a row is not zero."""
    last = len(dims) - 1
    m, kept = p.reduce(v, dims, [last], 'maximum')
    hit = p.add(dims, f"compare({v}, {p.spread(m, dims, along=range(last))}), direction=EQ", 'pred')
    ones, _ = p.reduce(p.add(dims, f'convert({hit})'), dims, [last], 'add')
    none = p.add(kept, f"compare({ones}, {p.spread(p.constant('0'), kept)}), direction=EQ", 'pred')
    number = p.add(kept, f'compare({m}, {m}), direction=EQ', 'pred')
    return p.count(p.add(kept, f'and({none}, {number})', 'pred'), kept)

def top(p, v, dims):
    """The first of the largest elements is the largest."""
    last = len(dims) - 1
    k = p.choice.randint(1, dims[last])
    largest = dims[:last] + (k,)
    p.lines.append(f"  both{len(p.lines)} = ({p.shape(largest)}, {p.shape(largest, 's32')}) topk({v}), k={k}, largest=true")
    values = p.add(largest, f'get-tuple-element(both{len(p.lines) - 1}), index=0')
    ranges = ', '.join([f'[0:{d}]' for d in dims[:last]] + ['[0:1]'])
    kept = dims[:last]
    first = p.add(kept, f"reshape({p.add(kept + (1,), f'slice({values}), slice={{{ranges}}}')})")
    m, _ = p.reduce(v, dims, [last], 'maximum')
    number = p.add(kept, f'compare({m}, {m}), direction=EQ', 'pred')
    return p.count(p.add(kept, f"and({p.add(kept, f'compare({first}, {m}), direction=NE', 'pred')}, {number})", 'pred'), kept)

VALUES = [function, reduction, reduction, reduction, product, product, product, windows, convolution, running, softmax, variance]
COMPARISONS = [largest, largest, one_of_row, stored, sorted_last, exponentials, pieces, turned, widened, gradient_of_largest, top]
# Complex numbers have no order that all of these know.
UNORDERED = [one_of_row, stored, pieces, turned]

def program(seed):
    """The text of a program whose result is 0."""
    p = Program(seed)
    if p.choice.random() < .06: p.type = 'c64'
    ordered = p.type != 'c64'
    v, dims = p.choice.choice(VALUES if ordered else [product, running, convolution])(p)
    comparisons = COMPARISONS if ordered else UNORDERED
    counts = [compare(p, v, dims) for compare in p.choice.sample(comparisons, p.choice.choice([1, 1, 2, 3]))]
    total = counts[0]
    for count in counts[1:]: total = p.add((), f'add({total}, {count})', 's32')
    return p.text(total)
