"""Products of matrices, and convolutions."""
from structured import foldable, window
from values import bits_of, braced

def dot_type(c, v):
    """What sums of products of `v` may be."""
    if v.type in ('s8', 'u8', 's16') and c.choice.random() < .7: return 's32'
    if v.type in ('bf16', 'f16') and c.choice.random() < .5: return 'f32'
    return v.type

def dot(c):
    v = c.pick(foldable, empty=True)
    if not v: return
    order = c.choice.sample(range(v.rank), v.rank)
    batches = min(c.choice.choice([0, 0, 1, 2]), v.rank - 1)
    summed = c.choice.randint(c.choice.random() < .95, min(2, v.rank - batches))
    free = [c.choice.choice([1, 3, 8, 16, 33]) for _ in range(c.choice.choice([0, 1, 1, 2]))]
    left_batch, left_summed = order[:batches], order[batches:batches + summed]
    roles = [('batch', d) for d in left_batch] + [('summed', d) for d in left_summed] + [('free', size) for size in free]
    c.choice.shuffle(roles)
    dims = [size if role == 'free' else v.dims[size] for role, size in roles]
    result = ([v.dims[d] for d in left_batch] + [v.dims[d] for d in range(v.rank) if d not in left_batch + left_summed]
              + [size for role, size in roles if role == 'free'])
    if not c.fits(dims, 1) or not c.fits(result): return
    type = dot_type(c, v)
    other = c.choice.choice(['s8', 'u8']) if type == 's32' and v.type in ('s8', 'u8') else v.type
    c.add(type, result, f'dot({v.name}, {c.like(other, dims).name}), lhs_batch_dims={braced(left_batch)}, '
          f"rhs_batch_dims={braced([roles.index(('batch', d)) for d in left_batch])}, lhs_contracting_dims={braced(left_summed)}, "
          f"rhs_contracting_dims={braced([roles.index(('summed', d)) for d in left_summed])}", noisy=True)

CONVOLVED = {False: ['s8', 'u8', 's16', 's32', 'u32', 's64', 'pred'], True: ['f32', 'f32', 'bf16', 'f16', 'f64', 'c64']}

def convolution(c):
    floats = c.settings.floats and c.choice.random() < .8
    type = c.choice.choice(CONVOLVED[floats])
    spatial, groups, images = c.choice.choice([0, 1, 1, 2, 2, 2, 2, 3]), c.choice.choice([1, 1, 1, 2, 4, 8]), c.choice.choice([1, 2, 4])
    inputs, outputs = c.choice.choice([1, 2, 3, 8, 17]), c.choice.choice([1, 2, 5, 8, 33]) * groups
    if groups > 1 and c.choice.random() < .4: inputs, outputs = 1, groups  # each feature on its own
    image_groups = images if groups == 1 and c.choice.random() < .3 else 1
    outputs *= image_groups
    sizes = [c.choice.choice([3, 5, 8, 12, 20]) for _ in range(spatial)]
    places, taps, text = window(c, sizes, cut=True) if spatial else ([], [], '')
    if spatial and c.choice.random() < .2: text += ' rhs_reversal=' + 'x'.join(c.choice.choice('01') for _ in sizes)
    numbers = '012'[:spatial]
    labels = [''.join(c.choice.sample(names + numbers, spatial + 2)) for names in ('bf', 'io', 'bf')]
    if c.choice.random() < .4:
        features_last = c.choice.random() < .6
        labels = [f'b{numbers}f', f'{numbers}io', f'b{numbers}f'] if features_last else [f'bf{numbers}', f'oi{numbers}', f'bf{numbers}']
    extents = [{'b': images, 'f': inputs * groups, **dict(zip(numbers, sizes))},
               {'i': inputs, 'o': outputs, **dict(zip(numbers, taps))},
               {'b': images // image_groups, 'f': outputs, **dict(zip(numbers, places))}]
    left, right, dims = ([extent[name] for name in label] for extent, label in zip(extents, labels))
    if not all(map(c.fits, (left, right, dims))): return
    result = type if type not in ('s8', 'u8', 's16') or c.choice.random() < .3 else 's32'
    other = type
    if not c.settings.peer and c.choice.random() < .25:
        other = c.choice.choice([t for t in CONVOLVED[floats] if (t[0] == 'c') == (type[0] == 'c')])
        result = c.choice.choice([t for t in CONVOLVED[floats] if bits_of(t) >= max(bits_of(type), bits_of(other)) and (t[0] == 'c') == (type[0] == 'c')])
    window_text = f'window={{{text}}}, ' if spatial else ''
    # Padding times what is not finite is NaN in XLA.
    kernel = c.parameter(type, right) if c.settings.peer else c.like(other, right)
    c.add(result, dims, f'convolution({c.like(type, left).name}, {kernel.name}), {window_text}'
          f'dim_labels={labels[0]}_{labels[1]}->{labels[2]}, feature_group_count={groups}, batch_group_count={image_groups}', noisy=True)

OPS = [(dot, 2), (convolution, 1)]
