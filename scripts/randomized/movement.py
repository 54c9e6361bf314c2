"""Operations that move elements, and those that index."""
import math

from values import braced

def broadcast(c):
    v = c.pick(lambda v: v.rank < 5, empty=True)
    if not v: return
    rank = v.rank + c.choice.choice([1, 1, 2])
    places = c.choice.sample(range(rank), v.rank)
    if c.choice.random() < .8: places.sort()
    dims = [c.choice.choice([1, 2, 3, 5, 8, 16, 33]) for _ in range(rank)]
    for place, size in zip(places, v.dims): dims[place] = size
    if c.fits(dims): c.add(v.type, dims, f'broadcast({v.name}), dimensions={braced(places)}')

def reshape(c):
    v = c.pick()
    if not v: return
    dims, rest, factor = [1] * c.choice.choice([1, 2, 3, 4, 6]), math.prod(v.dims), 2
    while rest > 1:
        if rest % factor: factor += 1
        else:
            dims[c.choice.randrange(len(dims))] *= factor
            rest //= factor
    # XLA has bitcasts of its own making only.
    op = 'bitcast' if c.choice.random() < .1 and not v.layout and not c.settings.peer else 'reshape'
    c.add(v.type, dims, f'{op}({v.name})')

def transpose(c):
    v = c.pick(lambda v: v.rank > 1, empty=True)
    if not v: return
    order = c.choice.sample(range(v.rank), v.rank)
    c.add(v.type, [v.dims[i] for i in order], f'transpose({v.name}), dimensions={braced(order)}')

def reverse(c):
    v = c.pick(lambda v: v.rank, empty=True)
    if v: c.add(v.type, v.dims, f'reverse({v.name}), dimensions={braced(sorted(c.choice.sample(range(v.rank), c.choice.randint(1, v.rank))))}')

def slice_(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    dims, ranges = [], []
    for size in v.dims:
        begin = c.choice.randrange(size)
        end, stride = c.choice.randint(begin + (c.choice.random() < .98), size), c.choice.choice([1, 1, 1, 2, 3])
        if c.choice.random() < .4: begin, end, stride = 0, size, 1
        dims.append(-(-(end - begin) // stride))
        ranges.append(f'[{begin}:{end}:{stride}]')
    c.add(v.type, dims, f'slice({v.name}), slice={braced(ranges)}')

def pad(c):
    v = c.pick(lambda v: v.rank, empty=True)
    if not v: return
    dims, padding = [], []
    for size in v.dims:
        low, high, inner = c.choice.choice([0, 0, 1, 2, -1, 5, -3]), c.choice.choice([0, 0, 1, 3, -1, 17]), c.choice.choice([0, 0, 0, 1, 2])
        if size + low + high + (size - 1) * inner <= 0: low = high = inner = 0
        dims.append(size + low + high + max(size - 1, 0) * inner)
        padding.append(f'{low}_{high}_{inner}' if c.choice.random() < .7 or inner else f'{low}_{high}')
    value = c.constant(v.type) if c.choice.random() < .5 else c.parameter(v.type, ())
    if c.fits(dims): c.add(v.type, dims, f"pad({v.name}, {value.name}), padding={'x'.join(padding)}")

def concatenate(c):
    v = c.pick(lambda v: v.rank, empty=True)
    if not v: return
    along = c.choice.randrange(v.rank)
    rest = lambda w: w.dims[:along] + w.dims[along + 1:]
    parts = [v]
    for _ in range(c.choice.choice([0, 1, 1, 2, 4, 9])):
        fitting = c.pick(lambda w: w.type == v.type and w.rank == v.rank and rest(w) == rest(v), empty=True)
        parts.append(c.like(v.type, v.dims) if c.choice.random() < .3 else fitting)
    dims = list(v.dims)
    dims[along] = sum(part.dims[along] for part in parts)
    if c.fits(dims): c.add(v.type, dims, f"concatenate({', '.join(p.name for p in parts)}), dimensions={{{along}}}")

def part_of(c, v):
    return [c.choice.randint(1, size) if c.choice.random() < .7 else size for size in v.dims]

def dynamic_slice(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    dims = part_of(c, v)
    c.add(v.type, dims, f"dynamic-slice({', '.join(x.name for x in [v, *c.starts(v.rank)])}), dynamic_slice_sizes={braced(dims)}")

def dynamic_update_slice(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    dims = part_of(c, v)
    c.add(v.type, v.dims, f"dynamic-update-slice({', '.join(x.name for x in [v, c.like(v.type, dims), *c.starts(v.rank)])})")

def placed(whole, places, some):
    """`some` at `places` of a list, `whole` in order at the others."""
    rest = iter(whole)
    at = dict(zip(places, some))
    return [at[i] if i in at else next(rest) for i in range(len(whole) + len(places))]

def indices_of(c, dims, reach):
    """Indices of these dims: in bounds as arguments are, or what is there, or spread over `reach` and beyond."""
    type = c.choice.choice(['s32', 's32', 's32', 'u32', 's64', 'u8', 's8', 'u16', 'u64'])
    luck = c.choice.random()
    if luck < .4 or c.own: return c.like(type, dims)
    if luck < .6: return c.parameter(type, dims)
    raw, limit = c.parameter(type, dims), min(reach + 3, 100)
    bound = c.add(type, dims, f'broadcast({c.constant(type, text=str(limit), hidden=True).name}), dimensions={{}}', hidden=True)
    return c.add(type, dims, f'remainder({raw.name}, {bound.name})', hidden=True)

def batched(c, v):
    """Dimensions of a gather's or scatter's operand that correspond to such of the indices."""
    return sorted(c.choice.sample(range(v.rank), c.choice.randint(1, min(2, v.rank - 1)))) if v.rank > 1 and c.choice.random() < .25 else []

def mapped_of(c, free):
    """Dimensions that a vector of indices is for; none at times."""
    return c.choice.sample(free, c.choice.randint(c.choice.random() < .95, len(free)))

def batch_of(c, common, sizes):
    """(sizes, places of the common ones): dimensions of the indices but their vector, in any order."""
    batch = [(d, size) for d, size in zip(common, sizes)] + [(None, c.choice.choice([1, 2, 3, 8, 17])) for _ in range(c.choice.choice([0, 1, 1, 2]))]
    c.choice.shuffle(batch)
    dims = [d for d, _ in batch]
    return [size for _, size in batch], [dims.index(d) for d in common]

def gather(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    common = batched(c, v)
    free = [d for d in range(v.rank) if d not in common]
    mapped = mapped_of(c, free)
    sizes = [1 if d in common else c.choice.choice([1, size, c.choice.randint(1, size)]) for d, size in enumerate(v.dims)]
    collapsed = [d for d in free if sizes[d] == 1 and c.choice.random() < .7]
    batch, shared = batch_of(c, common, [v.dims[d] for d in common])
    vector = c.choice.randint(0, len(batch))
    index_dims = batch[:vector] + [len(mapped)] + batch[vector:]
    if len(mapped) == 1 and c.choice.random() < .4: index_dims, vector = batch, len(batch)
    if not c.fits(index_dims, 1): return
    indices = indices_of(c, index_dims, max(v.dims))
    offsets = [sizes[d] for d in free if d not in collapsed]
    places = sorted(c.choice.sample(range(len(batch) + len(offsets)), len(offsets)))
    dims = placed(batch, places, offsets)
    at = [i + (i >= vector and len(index_dims) > len(batch)) for i in shared]
    both = f'operand_batching_dims={braced(common)}, start_indices_batching_dims={braced(at)}, ' if common else ''
    if c.fits(dims):
        c.add(v.type, dims, f'gather({v.name}, {indices.name}), offset_dims={braced(places)}, collapsed_slice_dims={braced(collapsed)}, '
              f'start_index_map={braced(mapped)}, {both}index_vector_dim={vector}, slice_sizes={braced(sizes)}')

OPS = [(broadcast, 2), (reshape, 2), (transpose, 2), (reverse, 1), (slice_, 2), (pad, 2), (concatenate, 2), (dynamic_slice, 1),
       (dynamic_update_slice, 2), (gather, 2)]
