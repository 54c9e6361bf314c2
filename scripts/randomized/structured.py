"""Operations that combine elements: folds, windows, scatters, and orders."""
from movement import batch_of, batched, indices_of, mapped_of, placed
from values import WIDE_FLOATS, bits_of, braced, text_of

FOLDS = {'pred': ['and', 'or', 'xor'], 'float': ['maximum', 'minimum', 'add'], 'complex': ['add'],
         'signed': ['add', 'maximum', 'minimum', 'multiply', 'and', 'or', 'xor'],
         'unsigned': ['add', 'maximum', 'minimum', 'multiply', 'and', 'or', 'xor']}

def fold_for(c, v):
    """An operation, and whether its results are approximate."""
    op = c.choice.choice(FOLDS[v.kind])
    if op == 'add' and v.type in ('bf16', 'f16') and c.settings.peer: op = 'maximum'  # XLA rounds after each step
    return op, op == 'add' and v.kind in ('float', 'complex')

def foldable(v):
    """Not what is so coarse that the order of a sum decides everything."""
    return v.rank and (v.kind != 'float' or v.type in WIDE_FLOATS)

def dims_gone(c, v):
    return sorted(c.choice.sample(range(v.rank), c.choice.randint(1, v.rank)))

def reduce(c):
    v = c.pick(foldable, empty=True)
    if not v: return
    gone, (op, noisy) = dims_gone(c, v), fold_for(c, v)
    dims = [size for d, size in enumerate(v.dims) if d not in gone]
    if c.choice.random() < .2: c.choice.shuffle(gone)
    c.add(v.type, dims, f'reduce({v.name}, {c.neutral(v.type, op).name}), dimensions={braced(gone)}, '
          f'to_apply={c.combiner(v.type, op)}', noisy=noisy)

def several(c, v):
    """`v` and others of its dims, each with an operation to fold it with."""
    # XLA computes elements of less than a byte side by side in some other way.
    types = [t for t in c.types if t[0] in 'su' and (bits_of(t) >= 8 or not c.settings.peer)]
    values = [v] + [c.like(c.choice.choice(types), v.dims) for _ in range(c.choice.choice([1, 1, 2]))]
    return values, [fold_for(c, x) for x in values]

def variadic(c, name, values, folds, dims, text):
    starts = [c.neutral(v.type, op) for v, (op, _) in zip(values, folds)]
    both = c.combiners([v.type for v in values], [op for op, _ in folds])
    c.add_tuple([(v.type, dims) for v in values], f"{name}({', '.join(x.name for x in [*values, *starts])}), {text}, to_apply={both}",
                noisy=any(noisy for _, noisy in folds))

def reduce_several(c):
    v = c.pick(foldable, empty=True)
    if not v: return
    values, folds = several(c, v)
    gone = dims_gone(c, v)
    variadic(c, 'reduce', values, folds, [size for d, size in enumerate(v.dims) if d not in gone], f'dimensions={braced(gone)}')

def arg_extreme(c):
    v = c.pick(lambda v: v.rank and v.exact and v.kind not in ('pred', 'complex'))
    if not v: return
    along, best = c.choice.randrange(v.rank), c.choice.choice(['GT', 'LT', 'GE', 'LE'])
    # JAX lets not-a-numbers win; where none can be, it leaves that out.
    nan = '  not_one = pred[] compare(a, a), direction=NE\n  better = pred[] or(more, not_one)\n' if v.kind == 'float' else '  better = pred[] copy(more)\n'
    combiner = c.called(f'arg_{best}_{v.type}', f'''  a = {v.type}[] parameter(0)
  i = s32[] parameter(1)
  b = {v.type}[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction={best[0]}T
{nan}  same = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, j), direction=LT
  first = pred[] and(same, before)
  wins = pred[] or(better, first)
  x = {v.type}[] select({'better' if best[1] == 'E' else 'wins'}, a, b)
  y = s32[] select(wins, i, j)
  ROOT r = ({v.type}[], s32[]) tuple(x, y)
''')
    places = c.add('s32', v.dims, f'iota(), iota_dimension={along}', hidden=True)
    init, zero = c.neutral(v.type, 'maximum' if best[0] == 'G' else 'minimum'), c.add('s32', (), 'constant(0)', hidden=True)
    dims = v.dims[:along] + v.dims[along + 1:]
    c.add_tuple([(v.type, dims), ('s32', dims)],
                f'reduce({v.name}, {places.name}, {init.name}, {zero.name}), dimensions={{{along}}}, to_apply={combiner}')

def window(c, dims, plain=False, cut=False, dense=False):
    """(result dims, sizes, text); `plain`: nothing but sizes and strides, `dense`: and paddings, `cut`: which may be negative."""
    rows = []
    for size in dims:
        taps, stride, dilation = c.choice.choice([1, 1, 2, 3, 5, 9]), c.choice.choice([1, 1, 2, 3, 7]), c.choice.choice([1, 1, 2, 3])
        low, high, base = c.choice.choice([0, 0, 1, 2, 5, 11]), c.choice.choice([0, 0, 1, 3, 8]), c.choice.choice([1, 1, 1, 2, 3])
        if cut and c.choice.random() < .1: low = c.choice.choice([-1, -2])
        if cut and c.choice.random() < .1: high = c.choice.choice([-1, -3])
        if plain: low, high = 0, 0
        if plain or dense: base, dilation = 1, 1
        if (size - 1) * base + 1 + low + high < 1: low = high = 0
        span = (size - 1) * base + 1 + low + high
        if (taps - 1) * dilation + 1 > span: taps = 1
        rows.append(((span - (taps - 1) * dilation - 1) // stride + 1, taps, stride, f'{low}_{high}', base, dilation))
    result, sizes, strides, pads, bases, dilations = map(list, zip(*rows))
    row = lambda name, values: f"{name}={'x'.join(map(str, values))}"
    text = ' '.join([row('size', sizes), row('stride', strides)])
    if not plain: text += ' ' + ' '.join([row('pad', pads), row('lhs_dilate', bases), row('rhs_dilate', dilations)])
    return result, sizes, text

def reduce_window(c):
    v = c.pick(lambda v: foldable(v) and v.rank < 6)
    if not v: return
    (dims, _, text), (op, noisy) = window(c, v.dims, cut=True), fold_for(c, v)
    if c.fits(dims):
        c.add(v.type, dims, f'reduce-window({v.name}, {c.neutral(v.type, op).name}), window={{{text}}}, '
              f'to_apply={c.combiner(v.type, op)}', noisy=noisy)

def reduce_window_several(c):
    v = c.pick(lambda v: foldable(v) and v.rank < 5)
    if not v: return
    values, folds = several(c, v)
    dims, _, text = window(c, v.dims)
    if c.fits(dims): variadic(c, 'reduce-window', values, folds, dims, f'window={{{text}}}')

def scan(c):
    v = c.pick(foldable)
    if not v: return
    along, back = c.choice.randrange(v.rank), c.choice.random() < .3
    sizes = 'x'.join(str(n if d == along else 1) for d, n in enumerate(v.dims))
    reach = v.dims[along] - 1
    pads = 'x'.join((f'0_{reach}' if back else f'{reach}_0') if d == along else '0_0' for d in range(v.rank))
    op, noisy = fold_for(c, v)
    c.add(v.type, v.dims, f'reduce-window({v.name}, {c.neutral(v.type, op).name}), window={{size={sizes} pad={pads}}}, '
          f'to_apply={c.combiner(v.type, op)}', noisy=noisy)

def carried_scan(c):
    v = c.pick(lambda v: v.rank and v.integral and not c.settings.peer)
    if not v: return
    along = c.choice.randrange(v.rank)
    rest = v.dims[:along] + v.dims[along + 1:]
    row = text_of(v.type, rest)
    first, second = c.choice.choice(['add', 'xor', 'maximum']), c.choice.choice(['add', 'subtract', 'multiply'])
    step = c.called(c.fresh('step'), f'''  x = {row} parameter(0)
  s = {row} parameter(1)
  y = {row} {first}(x, s)
  z = {row} {second}(x, s)
  ROOT r = ({row}, {row}) tuple(y, z)
''')
    back = 'is_reverse=true, ' if c.choice.random() < .5 else ''
    c.add_tuple([(v.type, v.dims), (v.type, rest)],
                f'scan({v.name}, {c.like(v.type, rest).name}), dimensions={{{along}}}, {back}num_carries=1, to_apply={step}')

def select_and_scatter(c):
    v = c.pick(lambda v: v.rank and v.rank < 6 and v.exact and v.kind not in ('pred', 'complex') and (v.integral or foldable(v)))
    if not v: return
    # XLA takes the elements of padded windows in an order of its own.
    dims, _, text = window(c, v.dims, plain=c.settings.peer, dense=True)
    if not c.fits(dims): return
    source, zero = c.like(v.type, dims), c.constant(v.type, text='0')
    c.add(v.type, v.dims, f"select-and-scatter({v.name}, {source.name}, {zero.name}), window={{{text}}}, "
          f"select={greater(c, v.type)}, scatter={c.combiner(v.type, 'add')}", noisy=not v.integral)

def greater(c, type):
    direction = c.choice.choice(['GE', 'LE', 'GT'])
    return c.called(f'picks_{direction}_{type}', f'  a = {type}[] parameter(0)\n  b = {type}[] parameter(1)\n'
                                                 f'  ROOT r = pred[] compare(a, b), direction={direction}\n')

def jax_order(c, type, payloads):
    """JAX's comparator of floats: zeros are merged and not-a-numbers last."""
    bits = {'f64': 's64', 'f32': 's32', 'f16': 's16', 'bf16': 's16'}[type]
    lines = [f'  {x} = {type}[] parameter({i})' for i, x in enumerate('ab')]
    for i, payload in enumerate(payloads):
        lines += [f'  p{i} = {payload}[] parameter({2 * i + 2})', f'  q{i} = {payload}[] parameter({2 * i + 3})']
    lines += [f'  zero = {type}[] constant(0)', f'  no_number = {type}[] constant(nan)']
    for x in 'ab':
        lines += [f'  is_zero_{x} = pred[] compare({x}, zero), direction=EQ', f'  merged_{x} = {type}[] select(is_zero_{x}, zero, {x})',
                  f'  is_nan_{x} = pred[] compare({x}, {x}), direction=NE', f'  key_{x} = {type}[] select(is_nan_{x}, no_number, merged_{x})']
    lines.append('  ROOT r = pred[] compare(key_a, key_b), direction=LT, type=TOTALORDER\n')
    return c.called('_'.join(['jax', bits, type, *payloads]), '\n'.join(lines))

def sortable(c, v):
    # Elements of less than a byte XLA leaves in some order.
    return v.rank and v.exact and v.kind not in ('pred', 'complex') and (bits_of(v.type) >= 8 or not c.settings.peer)

def sort(c):
    v = c.pick(lambda v: sortable(c, v))
    if not v: return
    along, direction = c.choice.randrange(v.rank), c.choice.choice(['LT', 'GT'])
    payloads = [c.pick(lambda w: w.dims == v.dims) for _ in range(c.choice.choice([0, 0, 1, 2]))]
    types = [p.type for p in payloads]
    if v.type in ('f64', 'f32', 'f16', 'bf16') and c.choice.random() < .5: order = jax_order(c, v.type, types)
    else: order = c.comparator(v.type, direction, types)
    stable = 'true' if payloads or c.choice.random() < .8 else 'false'
    text = f"sort({', '.join(x.name for x in [v, *payloads])}), dimensions={{{along}}}, is_stable={stable}, to_apply={order}"
    if payloads: c.add_tuple([(x.type, x.dims) for x in [v, *payloads]], text)
    else: c.add(v.type, v.dims, text)

def sort_two_keys(c):
    v = c.pick(lambda v: sortable(c, v) and v.integral)
    if not v: return
    w = c.like(c.choice.choice([t for t in c.types if t[0] in 'su']), v.dims)
    order = c.called(f'both_{v.type}_{w.type}', f'''  a = {v.type}[] parameter(0)
  b = {v.type}[] parameter(1)
  x = {w.type}[] parameter(2)
  y = {w.type}[] parameter(3)
  less = pred[] compare(a, b), direction=LT
  same = pred[] compare(a, b), direction=EQ
  then = pred[] compare(x, y), direction=GT
  both = pred[] and(same, then)
  ROOT r = pred[] or(less, both)
''')
    along = c.choice.randrange(v.rank)
    c.add_tuple([(v.type, v.dims), (w.type, w.dims)], f'sort({v.name}, {w.name}), dimensions={{{along}}}, is_stable=true, to_apply={order}')

def top_k(c):
    v = c.pick(lambda v: v.rank and v.exact and v.kind not in ('pred', 'complex'))
    if not v: return
    k = c.choice.choice([1, v.dims[-1], c.choice.randint(0, v.dims[-1]), min(8, v.dims[-1])])
    dims = (*v.dims[:-1], k)
    largest = 'true' if c.choice.random() < .7 else 'false'
    c.add_tuple([(v.type, dims), ('s32', dims)], f'topk({v.name}), k={k}, largest={largest}')

def scatter(c):
    v = c.pick(lambda v: v.rank and v.integral or v.rank and v.kind == 'pred')  # the order of additions of floats is not given
    if not v: return
    common = batched(c, v)
    free = [d for d in range(v.rank) if d not in common]
    inserted = [d for d in free if c.choice.random() < .5]
    window_dims = [d for d in free if d not in inserted]
    mapped = mapped_of(c, free)
    batch, shared = batch_of(c, common, [v.dims[d] for d in common])
    vector = c.choice.randint(0, len(batch))
    index_dims = batch[:vector] + [len(mapped)] + batch[vector:]
    if len(mapped) == 1 and c.choice.random() < .4: index_dims, vector = batch, len(batch)
    if not c.fits(index_dims, 1): return
    at = [i + (i >= vector and len(index_dims) > len(batch)) for i in shared]
    both = f'input_batching_dims={braced(common)}, scatter_indices_batching_dims={braced(at)}, ' if common else ''
    sizes = [c.choice.choice([v.dims[d], c.choice.randint(1, v.dims[d])]) for d in window_dims]
    places = sorted(c.choice.sample(range(len(batch) + len(sizes)), len(sizes)))
    dims = placed(batch, places, sizes)
    if not c.fits(dims): return
    indices = indices_of(c, index_dims, max(v.dims))
    values = [v]
    if c.choice.random() < .15:
        other = c.like(c.choice.choice([t for t in c.types if t[0] in 'su']), v.dims)
        # XLA takes one operand given twice for one result.
        if other is not v or not c.settings.peer: values.append(other)
    ops = [fold_for(c, x)[0] for x in values]
    text = (f'update_window_dims={braced(places)}, inserted_window_dims={braced(inserted)}, scatter_dims_to_operand_dims={braced(mapped)}, '
            f'{both}index_vector_dim={vector}')
    operands = ', '.join(x.name for x in [*values, indices, *[c.like(x.type, dims) for x in values]])
    if len(values) == 1: c.add(v.type, v.dims, f'scatter({operands}), {text}, to_apply={setter(c, v, ops[0])}')
    else: c.add_tuple([(x.type, x.dims) for x in values], f'scatter({operands}), {text}, to_apply={c.combiners([x.type for x in values], ops)}')

def setter(c, v, op):
    """What a scatter does with its updates: as often as not it stores them."""
    if c.choice.random() < .5: return c.combiner(v.type, op)
    return c.called(f'set_{v.type}', f'  a = {v.type}[] parameter(0)\n  ROOT b = {v.type}[] parameter(1)\n')

OPS = [(reduce, 3), (reduce_several, 1), (arg_extreme, 1), (reduce_window, 1), (reduce_window_several, .5), (scan, 1), (carried_scan, .5),
       (select_and_scatter, 1), (sort, 1), (sort_two_keys, .5), (top_k, .7), (scatter, 1.5)]
