"""Arrays whose sizes are known late: what lies behind them is seen by nobody."""
from values import braced

class Bounded:
    """An array of dimensions `late` of which have sizes of their own."""

    def __init__(self, c, type, dims, late, text):
        self.c, self.type, self.dims, self.late, self.name = c, type, tuple(dims), frozenset(late), c.fresh('d')
        c.lines.append(f'  {self.name} = {self.shape} {text}')

    @property
    def shape(self):
        return f"{self.type}[{','.join(('<=' if d in self.late else '') + str(size) for d, size in enumerate(self.dims))}]"

    def then(self, text, dims=None, late=None):
        return Bounded(self.c, self.type, self.dims if dims is None else dims, self.late if late is None else late, text)

def size_within(c, bound):
    """A number from 0 to the bound."""
    number = c.add('s32', (), f"convert({c.like('u8', ()).name})", hidden=True)
    above = c.add('s32', (), f'constant({bound + 1})', hidden=True)
    return c.add('s32', (), f'remainder({number.name}, {above.name})', hidden=True)

def combine(c, x):
    return x.then(f"{c.choice.choice(['add', 'subtract', 'xor', 'maximum', 'multiply'])}({x.name}, {x.name})")

def transpose(c, x):
    order = c.choice.sample(range(len(x.dims)), len(x.dims))
    return x.then(f'transpose({x.name}), dimensions={braced(order)}', [x.dims[d] for d in order], [i for i, d in enumerate(order) if d in x.late])

def broadcast(c, x):
    places = sorted(c.choice.sample(range(len(x.dims) + 1), len(x.dims)))
    dims = [3] * (len(x.dims) + 1)
    for place, size in zip(places, x.dims): dims[place] = size
    return x.then(f'broadcast({x.name}), dimensions={braced(places)}', dims, [places[d] for d in x.late]) if c.fits(dims) else x

def reverse(c, x):
    return x.then(f'reverse({x.name}), dimensions={{{c.choice.randrange(len(x.dims))}}}')

def concatenate(c, x):
    along, parts = c.choice.randrange(len(x.dims)), [x.name, x.name]
    if x.late == {along}:
        parts[c.choice.randrange(2)] = c.like(x.type, x.dims).name
        if c.choice.random() < .5: parts.append(x.name)
    dims = [size * len(parts) if d == along else size for d, size in enumerate(x.dims)]
    return x.then(f"concatenate({', '.join(parts)}), dimensions={{{along}}}", dims) if c.fits(dims) else x

def pad(c, x):
    rows = [(c.choice.choice([0, 1, 3]), c.choice.choice([0, 0, 2]), c.choice.choice([0, 0, 1])) for _ in x.dims]
    dims = [size + low + high + max(size - 1, 0) * inner for size, (low, high, inner) in zip(x.dims, rows)]
    text = 'x'.join(f'{low}_{high}_{inner}' for low, high, inner in rows)
    return x.then(f'pad({x.name}, {c.constant(x.type).name}), padding={text}', dims) if c.fits(dims) else x

def sort(c, x):
    order = c.comparator(x.type, c.choice.choice(['LT', 'GT']))
    return x.then(f'sort({x.name}), dimensions={{{c.choice.randrange(len(x.dims))}}}, is_stable=true, to_apply={order}')

def fold(c, x):
    gone = c.choice.randrange(len(x.dims))
    if len(x.dims) == 1 or x.late == {gone}: return x
    op = c.choice.choice(['add', 'maximum', 'xor', 'and'])
    left = [d for d in range(len(x.dims)) if d != gone]
    return x.then(f'reduce({x.name}, {c.constant(x.type).name}), dimensions={{{gone}}}, to_apply={c.combiner(x.type, op)}',
                  [x.dims[d] for d in left], [i for i, d in enumerate(left) if d in x.late])

def dot(c, x):
    summed, columns = c.choice.randrange(len(x.dims)), c.choice.choice([1, 3, 16])
    left = [d for d in range(len(x.dims)) if d != summed]
    if not left or x.late == {summed}: return x
    other = c.like(x.type, (x.dims[summed], columns))
    return x.then(f'dot({x.name}, {other.name}), lhs_contracting_dims={{{summed}}}, rhs_contracting_dims={{0}}',
                  [x.dims[d] for d in left] + [columns], [i for i, d in enumerate(left) if d in x.late])

def again(c, x):
    along = c.choice.randrange(len(x.dims))
    if along in x.late: return x
    return x.then(f'set-dimension-size({x.name}, {size_within(c, x.dims[along]).name}), dimensions={{{along}}}', late=x.late | {along})

STEPS = [combine, transpose, broadcast, reverse, concatenate, pad, sort, fold, dot, again]

def dynamic_sizes(c):
    v = c.pick(lambda v: v.rank and v.rank < 5 and v.integral and not c.settings.peer)
    if not v: return
    along = c.choice.randrange(v.rank)
    x = Bounded(c, v.type, v.dims, {along}, f'set-dimension-size({v.name}, {size_within(c, v.dims[along]).name}), dimensions={{{along}}}')
    for _ in range(c.choice.choice([0, 1, 2, 4])): x = c.choice.choice(STEPS)(c, x)
    for d in sorted(x.late): c.add('s32', (), f'get-dimension-size({x.name}), dimensions={{{d}}}')
    left = [size for d, size in enumerate(x.dims) if d not in x.late]
    op = c.choice.choice(['add', 'maximum', 'minimum', 'xor', 'multiply', 'or'])
    c.add(v.type, left, f'reduce({x.name}, {c.constant(v.type).name}), dimensions={braced(sorted(x.late))}, to_apply={c.combiner(v.type, op)}')

OPS = [(dynamic_sizes, .7)]
