"""Operations that combine elements, and control flow."""
from elementwise import OPS as BY_ELEMENT
from elementwise import placed
from values import braced

REDUCING = {'pred': ['and', 'or'], 'float': ['maximum', 'minimum', 'add'],
            'signed': ['add', 'maximum', 'minimum', 'multiply', 'and', 'or', 'xor'],
            'unsigned': ['add', 'maximum', 'minimum', 'multiply', 'and', 'or', 'xor']}

def reducing(c, type_or_value):
    return c.combiner(type_or_value.type, c.choice.choice(REDUCING[type_or_value.kind]))

def reduce(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    gone = sorted(c.choice.sample(range(v.rank), c.choice.randint(1, v.rank)))
    dims = [size for d, size in enumerate(v.dims) if d not in gone]
    c.add(v.type, dims, f'reduce({v.name}, {c.constant(v.type).name}), dimensions={braced(gone)}, to_apply={reducing(c, v)}')

def arg_extreme(c):
    v = c.pick(lambda v: v.rank and v.kind != 'pred')
    if not v: return
    along, best = c.choice.randrange(v.rank), c.choice.choice(['GT', 'LT'])
    combiner = c.called(f'arg_{best}_{v.type}', f'''  a = {v.type}[] parameter(0)
  i = s32[] parameter(1)
  b = {v.type}[] parameter(2)
  j = s32[] parameter(3)
  better = pred[] compare(a, b), direction={best}
  same = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, j), direction=LT
  first = pred[] and(same, before)
  wins = pred[] or(better, first)
  x = {v.type}[] select(wins, a, b)
  y = s32[] select(wins, i, j)
  ROOT r = ({v.type}[], s32[]) tuple(x, y)
''')
    places = c.add('s32', v.dims, f'iota(), iota_dimension={along}', hidden=True)
    init, zero = c.constant(v.type), c.add('s32', (), 'constant(0)', hidden=True)
    dims = v.dims[:along] + v.dims[along + 1:]
    c.add_tuple([(v.type, dims), ('s32', dims)],
                f'reduce({v.name}, {places.name}, {init.name}, {zero.name}), dimensions={{{along}}}, to_apply={combiner}')

def window(c, dims, plain=False):
    """(result dims, sizes, strides, text)"""
    rows = []
    for size in dims:
        taps, stride, dilation = c.choice.choice([1, 1, 2, 3, 5]), c.choice.choice([1, 1, 2, 3]), c.choice.choice([1, 1, 2])
        low, high, base = c.choice.choice([0, 0, 1, 2]), c.choice.choice([0, 0, 1, 3]), c.choice.choice([1, 1, 1, 2])
        if plain: low, high, base, dilation = 0, 0, 1, 1
        span = (size - 1) * base + 1 + low + high
        if (taps - 1) * dilation + 1 > span: taps = 1
        rows.append(((span - (taps - 1) * dilation - 1) // stride + 1, taps, stride, f'{low}_{high}', base, dilation))
    result, sizes, strides, pads, bases, dilations = map(list, zip(*rows))
    row = lambda name, values: f"{name}={'x'.join(map(str, values))}"
    text = ' '.join([row('size', sizes), row('stride', strides)])
    if not plain: text += ' ' + ' '.join([row('pad', pads), row('lhs_dilate', bases), row('rhs_dilate', dilations)])
    return result, sizes, strides, text

def reduce_window(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    dims, _, _, text = window(c, v.dims)
    if c.fits(dims): c.add(v.type, dims, f'reduce-window({v.name}, {c.constant(v.type).name}), window={{{text}}}, to_apply={reducing(c, v)}')

def scan(c):
    v = c.pick(lambda v: v.rank)
    if not v: return
    along, back = c.choice.randrange(v.rank), c.choice.random() < .3
    sizes = 'x'.join(str(n if d == along else 1) for d, n in enumerate(v.dims))
    reach = v.dims[along] - 1
    pads = 'x'.join((f'0_{reach}' if back else f'{reach}_0') if d == along else '0_0' for d in range(v.rank))
    c.add(v.type, v.dims, f'reduce-window({v.name}, {c.constant(v.type).name}), window={{size={sizes} pad={pads}}}, to_apply={reducing(c, v)}')

def select_and_scatter(c):
    v = c.pick(lambda v: v.rank and v.kind in ('signed', 'unsigned'))
    if not v: return
    dims, _, _, text = window(c, v.dims, plain=True)
    source, zero = c.like(v.type, dims), c.add(v.type, (), 'constant(0)')
    c.add(v.type, v.dims, f"select-and-scatter({v.name}, {source.name}, {zero.name}), window={{{text}}}, "
          f"select={c.comparator(v.type, 'GE')}, scatter={c.combiner(v.type, 'add')}")

def sort(c):
    v = c.pick(lambda v: v.rank and v.kind != 'pred')
    if not v: return
    along, direction = c.choice.randrange(v.rank), c.choice.choice(['LT', 'GT'])
    payloads = [c.pick(lambda w: w.dims == v.dims) for _ in range(c.choice.choice([0, 0, 1, 2]))]
    order = c.comparator(v.type, direction, [p.type for p in payloads])
    text = f"sort({', '.join(x.name for x in [v, *payloads])}), dimensions={{{along}}}, is_stable=true, to_apply={order}"
    if payloads: c.add_tuple([(x.type, x.dims) for x in [v, *payloads]], text)
    else: c.add(v.type, v.dims, text)

def scatter(c):
    v = c.pick(lambda v: v.rank and v.kind != 'float')  # whose order of additions is not given
    if not v: return
    inserted = [d for d in range(v.rank) if c.choice.random() < .5]
    window_dims = [d for d in range(v.rank) if d not in inserted]
    mapped = c.choice.sample(range(v.rank), c.choice.randint(1, v.rank))
    batch = [c.choice.choice([1, 2, 3, 8, 40]) for _ in range(c.choice.choice([0, 1, 1, 2]))]
    indices = c.like('s32', batch + [len(mapped)])
    sizes = [c.choice.choice([v.dims[d], c.choice.randint(1, v.dims[d])]) for d in window_dims]
    places = sorted(c.choice.sample(range(len(batch) + len(sizes)), len(sizes)))
    dims = placed(batch, places, sizes)
    if not c.fits(dims): return
    c.add(v.type, v.dims, f'scatter({v.name}, {indices.name}, {c.like(v.type, dims).name}), update_window_dims={braced(places)}, '
          f'inserted_window_dims={braced(inserted)}, scatter_dims_to_operand_dims={braced(mapped)}, '
          f'index_vector_dim={len(batch)}, to_apply={reducing(c, v)}')

def dot(c):
    v = c.pick(lambda v: v.rank and v.type in ('s8', 'u8', 's16', 's32', 'u32', 's64', 'f32', 'bf16', 'f16'))
    if not v: return
    order = c.choice.sample(range(v.rank), v.rank)
    batches = min(c.choice.choice([0, 0, 1]), v.rank - 1)
    summed = c.choice.randint(1, min(2, v.rank - batches))
    free = [c.choice.choice([1, 3, 8, 16, 33]) for _ in range(c.choice.choice([0, 1, 1, 2]))]
    left_batch, left_summed = order[:batches], order[batches:batches + summed]
    roles = [('batch', d) for d in left_batch] + [('summed', d) for d in left_summed] + [('free', size) for size in free]
    c.choice.shuffle(roles)
    dims = [size if role == 'free' else v.dims[size] for role, size in roles]
    result = ([v.dims[d] for d in left_batch] + [v.dims[d] for d in range(v.rank) if d not in left_batch + left_summed]
              + [size for role, size in roles if role == 'free'])
    if not c.fits(dims, 1) or not c.fits(result): return
    type = 's32' if v.type in ('s8', 'u8', 's16') and c.choice.random() < .7 else v.type
    c.add(type, result, f'dot({v.name}, {c.like(v.type, dims).name}), lhs_batch_dims={braced(left_batch)}, '
          f"rhs_batch_dims={braced([roles.index(('batch', d)) for d in left_batch])}, lhs_contracting_dims={braced(left_summed)}, "
          f"rhs_contracting_dims={braced([roles.index(('summed', d)) for d in left_summed])}")

def convolution(c):
    floats = any(v.kind == 'float' for v in c.values)
    type = c.choice.choice(['f32', 'bf16'] if floats else ['s8', 'u8', 's16', 's32'])
    spatial, groups, images = c.choice.choice([1, 2, 2, 3]), c.choice.choice([1, 1, 1, 2, 4]), c.choice.choice([1, 2, 4])
    inputs, outputs = c.choice.choice([1, 2, 3, 8, 17]), c.choice.choice([1, 2, 5, 8, 33]) * groups
    image_groups = images if groups == 1 and c.choice.random() < .3 else 1
    outputs *= image_groups
    sizes = [c.choice.choice([3, 5, 8, 12]) for _ in range(spatial)]
    places, taps, _, text = window(c, sizes)
    if c.choice.random() < .2: text += ' rhs_reversal=' + 'x'.join(c.choice.choice('01') for _ in sizes)
    numbers = '012'[:spatial]
    labels = [''.join(c.choice.sample(names + numbers, spatial + 2)) for names in ('bf', 'io', 'bf')]
    extents = [{'b': images, 'f': inputs * groups, **dict(zip(numbers, sizes))},
               {'i': inputs, 'o': outputs, **dict(zip(numbers, taps))},
               {'b': images // image_groups, 'f': outputs, **dict(zip(numbers, places))}]
    left, right, dims = ([extent[name] for name in label] for extent, label in zip(extents, labels))
    if not all(map(c.fits, (left, right, dims))): return
    c.add(type if floats else 's32', dims, f'convolution({c.like(type, left).name}, {c.like(type, right).name}), window={{{text}}}, '
          f'dim_labels={labels[0]}_{labels[1]}->{labels[2]}, feature_group_count={groups}, batch_group_count={image_groups}')

def some(c, count, ops=None):
    ops = ops or OPS
    for op in c.choice.choices([op for op, _ in ops], [weight for _, weight in ops], k=count): op(c)

def loop(c):
    if c.own or c.loops == 0: return
    c.loops -= 1
    carried = [c.pick() for _ in range(c.choice.choice([1, 2, 3]))]
    shape = f"(s32[], {', '.join(v.shape for v in carried)})"
    body = c.nested()
    body.lines.append(f'  state = {shape} parameter(0)')
    number = body.add('s32', (), 'get-tuple-element(state), index=0')
    before = [body.add(v.type, v.dims, f'get-tuple-element(state), index={i + 1}') for i, v in enumerate(carried)]
    some(body, c.choice.choice([2, 4, 6]))
    after = [body.pick(lambda w, v=v: w.type == v.type and w.dims == v.dims) for v in before]
    one = body.add('s32', (), 'constant(1)', hidden=True)
    following = body.add('s32', (), f'add({number.name}, {one.name})', hidden=True)
    name = c.fresh('body')
    c.computations[name] = body.text(name, f"r = {shape} tuple({', '.join(x.name for x in [following, *after])})")
    condition = c.called(f'until_{name}', f'''  state = {shape} parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant({c.choice.choice([0, 1, 2, 5, 20])})
  ROOT r = pred[] compare(i, n), direction=LT
''')
    zero, start = c.add('s32', (), 'constant(0)', hidden=True), c.fresh()
    c.lines.append(f"  {start} = {shape} tuple({', '.join(x.name for x in [zero, *carried])})")
    c.add_tuple([('s32', ())] + [(v.type, v.dims) for v in carried], f'while({start}), condition={condition}, body={name}')

def conditional(c):
    if c.own or c.loops == 0: return
    c.loops -= 1
    v, chosen, names = c.pick(), c.like('pred', ()), []
    for _ in range(2):
        branch = c.nested()
        given = branch.add(v.type, v.dims, 'parameter(0)')
        some(branch, 3)
        result = branch.pick(lambda w: w.type == given.type and w.dims == given.dims)
        names.append(c.fresh('branch'))
        c.computations[names[-1]] = branch.text(names[-1], f'r = {v.shape} copy({result.name})')
    c.add(v.type, v.dims, f'conditional({chosen.name}, {v.name}, {v.name}), true_computation={names[0]}, false_computation={names[1]}')

OPS = BY_ELEMENT + [(reduce, 3), (arg_extreme, 1), (reduce_window, 1), (scan, 1), (select_and_scatter, 1), (sort, 1), (scatter, 1),
                    (dot, 2), (convolution, 1), (loop, 1), (conditional, 1)]
