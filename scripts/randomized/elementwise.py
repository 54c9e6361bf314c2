"""Operations by element, and those that move elements."""
import math

from values import FLOATS, braced

UNARY = {'pred': ['not'], 'signed': ['negate', 'abs', 'not', 'sign', 'popcnt', 'count-leading-zeros'],
         'unsigned': ['not', 'popcnt', 'count-leading-zeros', 'negate'],
         'float': ['negate', 'abs', 'sign', 'floor', 'ceil', 'tanh', 'exponential-minus-one', 'round-nearest-even']}
INTEGER_BINARY = ['add', 'subtract', 'multiply', 'maximum', 'minimum', 'and', 'or', 'xor', 'divide', 'remainder',
                  'shift-left', 'shift-right-logical', 'shift-right-arithmetic']
BINARY = {'pred': ['and', 'or', 'xor'], 'signed': INTEGER_BINARY, 'unsigned': INTEGER_BINARY,
          'float': ['add', 'subtract', 'multiply', 'maximum', 'minimum']}
DIRECTIONS = ['EQ', 'NE', 'LT', 'LE', 'GT', 'GE']

def unary(c):
    v = c.pick()
    c.add(v.type, v.dims, f'{c.choice.choice(UNARY[v.kind])}({v.name})')

def binary(c):
    v = c.pick()
    c.add(v.type, v.dims, f'{c.choice.choice(BINARY[v.kind])}({v.name}, {c.like(v.type, v.dims).name})')

def compare(c):
    v = c.pick()
    c.add('pred', v.dims, f'compare({v.name}, {c.like(v.type, v.dims).name}), direction={c.choice.choice(DIRECTIONS)}')

def select(c):
    v = c.pick()
    c.add(v.type, v.dims, f"select({c.like('pred', v.dims).name}, {v.name}, {c.like(v.type, v.dims).name})")

def clamp(c):
    v = c.pick(lambda v: v.kind != 'pred')
    if v: c.add(v.type, v.dims, f'clamp({c.constant(v.type).name}, {v.name}, {c.parameter(v.type, ()).name})')

def convert(c):
    v, type = c.pick(), c.choice.choice(c.types)
    # What a float outside of an integer's range becomes is another matter.
    if v.kind != 'float' or type in FLOATS or type == 'pred': c.converted(v, type)

def bitcast_convert(c):
    v = c.pick(lambda v: v.kind in ('signed', 'unsigned') and v.type[1:] != '4')
    if v: c.add(('u' if v.kind == 'signed' else 's') + v.type[1:], v.dims, f'bitcast-convert({v.name})')

def broadcast(c):
    v = c.pick(lambda v: v.rank < 4)
    if not v: return
    rank = v.rank + c.choice.choice([1, 1, 2])
    places = sorted(c.choice.sample(range(rank), v.rank))
    dims = [c.choice.choice([1, 2, 3, 5, 8, 16, 33]) for _ in range(rank)]
    for place, size in zip(places, v.dims): dims[place] = size
    if c.fits(dims): c.add(v.type, dims, f'broadcast({v.name}), dimensions={braced(places)}')

def reshape(c):
    v = c.pick()
    dims, rest, factor = [1] * c.choice.choice([1, 2, 3, 4]), math.prod(v.dims), 2
    while rest > 1:
        if rest % factor: factor += 1
        else:
            dims[c.choice.randrange(len(dims))] *= factor
            rest //= factor
    c.add(v.type, dims, f'reshape({v.name})')

def transpose(c):
    v = c.pick(lambda v: v.rank > 1)
    if not v: return
    order = c.choice.sample(range(v.rank), v.rank)
    c.add(v.type, [v.dims[i] for i in order], f'transpose({v.name}), dimensions={braced(order)}')

def reverse(c):
    v = c.pick(lambda v: v.rank)
    if v: c.add(v.type, v.dims, f'reverse({v.name}), dimensions={braced(sorted(c.choice.sample(range(v.rank), c.choice.randint(1, v.rank))))}')

def slice_(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    dims, ranges = [], []
    for size in v.dims:
        begin = c.choice.randrange(size)
        end, stride = c.choice.randint(begin + 1, size), c.choice.choice([1, 1, 1, 2, 3])
        if c.choice.random() < .4: begin, end, stride = 0, size, 1
        dims.append(-(-(end - begin) // stride))
        ranges.append(f'[{begin}:{end}:{stride}]')
    c.add(v.type, dims, f'slice({v.name}), slice={braced(ranges)}')

def pad(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    dims, padding = [], []
    for size in v.dims:
        low, high, inner = c.choice.choice([0, 0, 1, 2, -1, 5]), c.choice.choice([0, 0, 1, 3, -1, 17]), c.choice.choice([0, 0, 0, 1, 2])
        if size + low + high + (size - 1) * inner <= 0: low = high = inner = 0
        dims.append(size + low + high + (size - 1) * inner)
        padding.append(f'{low}_{high}_{inner}')
    value = c.constant(v.type) if c.choice.random() < .5 else c.parameter(v.type, ())
    if c.fits(dims): c.add(v.type, dims, f"pad({v.name}, {value.name}), padding={'x'.join(padding)}")

def concatenate(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    along = c.choice.randrange(v.rank)
    rest = lambda w: w.dims[:along] + w.dims[along + 1:]
    parts = [v]
    for _ in range(c.choice.choice([1, 1, 2, 4])):
        fitting = c.pick(lambda w: w.type == v.type and w.rank == v.rank and rest(w) == rest(v))
        parts.append(c.like(v.type, v.dims) if c.choice.random() < .3 else fitting)
    dims = list(v.dims)
    dims[along] = sum(part.dims[along] for part in parts)
    if c.fits(dims): c.add(v.type, dims, f"concatenate({', '.join(p.name for p in parts)}), dimensions={{{along}}}")

def iota(c):
    dims, type = c.dims(), c.choice.choice([t for t in c.types if t != 'pred'])
    if dims: c.add(type, dims, f'iota(), iota_dimension={c.choice.randrange(len(dims))}')

def part_of(c, v):
    return [c.choice.randint(1, size) if c.choice.random() < .7 else size for size in v.dims]

def dynamic_slice(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    dims = part_of(c, v)
    starts = ', '.join(c.start().name for _ in dims)
    c.add(v.type, dims, f'dynamic-slice({v.name}, {starts}), dynamic_slice_sizes={braced(dims)}')

def dynamic_update_slice(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    dims = part_of(c, v)
    update, starts = c.like(v.type, dims), ', '.join(c.start().name for _ in dims)
    c.add(v.type, v.dims, f'dynamic-update-slice({v.name}, {update.name}, {starts})')

def placed(whole, places, some):
    """`some` at `places` of a list, `whole` in order at the others."""
    rest = iter(whole)
    at = dict(zip(places, some))
    return [at[i] if i in at else next(rest) for i in range(len(whole) + len(places))]

def gather(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    mapped = c.choice.sample(range(v.rank), c.choice.randint(1, v.rank))
    sizes = [c.choice.choice([1, size, c.choice.randint(1, size)]) for size in v.dims]
    collapsed = [d for d in range(v.rank) if sizes[d] == 1 and c.choice.random() < .7]
    batch = [c.choice.choice([1, 2, 3, 8, 17]) for _ in range(c.choice.choice([0, 1, 1, 2]))]
    vector = c.choice.randint(0, len(batch))
    index_dims = batch[:vector] + [len(mapped)] + batch[vector:]
    if len(mapped) == 1 and c.choice.random() < .4: index_dims, vector = batch, len(batch)
    indices = c.like(c.choice.choice(['s32', 's32', 'u32', 's64', 'u8']), index_dims)
    offsets = [sizes[d] for d in range(v.rank) if d not in collapsed]
    places = sorted(c.choice.sample(range(len(batch) + len(offsets)), len(offsets)))
    dims = placed(batch, places, offsets)
    if c.fits(dims):
        c.add(v.type, dims, f'gather({v.name}, {indices.name}), offset_dims={braced(places)}, collapsed_slice_dims={braced(collapsed)}, '
              f'start_index_map={braced(mapped)}, index_vector_dim={vector}, slice_sizes={braced(sizes)}')

OPS = [(unary, 2), (binary, 4), (compare, 1), (select, 2), (clamp, 1), (convert, 1), (bitcast_convert, 1), (broadcast, 2),
       (reshape, 2), (transpose, 2), (reverse, 1), (slice_, 2), (pad, 2), (concatenate, 2), (iota, 1), (dynamic_slice, 1),
       (dynamic_update_slice, 2), (gather, 2)]
