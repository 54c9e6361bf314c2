"""What models are made of, on arrays of their sizes: sums over rows and columns, layers out of stacked arrays, softmax,
normalised rows, embeddings, heads."""
from values import WIDE_FLOATS, braced

def type_of(c):
    return c.choice.choice(['f32', 'f32', 'f32', 'f64', 'bf16', 'f16'] if c.settings.floats else ['s32', 'u8', 's16'])

def array(c, ranks=(2, 3, 4)):
    """A float array, or an integer one where there are no floats, of at least two dimensions."""
    while True:
        dims = tuple(c.dims())
        if len(dims) in ranks and dims[-1] > 1: return c.parameter(type_of(c), dims)

def folded(c, v, gone, op='add'):
    dims = [size for d, size in enumerate(v.dims) if d not in gone]
    start = c.constant(v.type, hidden=True, text={'add': '0', 'maximum': '-8'}[op] if v.type != 'u8' else '0')
    return c.add(v.type, dims, f'reduce({v.name}, {start.name}), dimensions={braced(gone)}, to_apply={c.combiner(v.type, op)}',
                 noisy=op == 'add' and v.type in WIDE_FLOATS)

def spread(c, v, like, along):
    return c.add(v.type, like.dims, f'broadcast({v.name}), dimensions={braced(along)}', hidden=True)

def layer_of_stack(c):
    """Rows of an array and of one layer of several, added and folded."""
    x = array(c)
    whole = c.parameter(x.type, (c.choice.choice([2, 4]), *x.dims))
    if not c.fits(whole.dims): return
    zero = c.constant('s32', hidden=True, text='0')
    at = c.parameter('s32', ())
    layer = c.add(x.type, (1, *x.dims), f"dynamic-slice({', '.join([whole.name, at.name] + [zero.name] * x.rank)}), "
                                        f'dynamic_slice_sizes={braced([1, *x.dims])}', hidden=True)
    flat = c.add(x.type, x.dims, f'reshape({layer.name})', hidden=True)
    total = c.add(x.type, x.dims, f"{c.choice.choice(['add', 'multiply', 'maximum'])}({x.name}, {flat.name})")
    if c.choice.random() < .8: folded(c, total, [x.rank - 1], c.choice.choice(['add', 'maximum']))

def sum_of_batches(c):
    """As gradients of biases and scales: over leading dimensions."""
    x = array(c)
    if c.choice.random() < .5:
        y = c.like(x.type, x.dims)
        x = c.add(x.type, x.dims, f'multiply({x.name}, {y.name})', hidden=True)
    folded(c, x, list(range(c.choice.randint(1, x.rank - 1))))

def softmax(c):
    x = array(c)
    if x.type not in WIDE_FLOATS: return
    last, rows = x.rank - 1, list(range(x.rank - 1))
    most = spread(c, folded(c, x, [last], 'maximum'), x, rows)
    e = c.add(x.type, x.dims, f"exponential({c.add(x.type, x.dims, f'subtract({x.name}, {most.name})', hidden=True).name})", hidden=True, noisy=True)
    c.add(x.type, x.dims, f'divide({e.name}, {spread(c, folded(c, e, [last]), x, rows).name})', noisy=True)

def normalised(c):
    """Rows by their largest magnitude, or pixels by that of their channel."""
    x = array(c)
    if x.type not in WIDE_FLOATS: return
    gone = [x.rank - 1] if c.choice.random() < .6 else list(range(x.rank - 1))
    size = c.add(x.type, x.dims, f'abs({x.name})', hidden=True)
    most = folded(c, size, gone, 'maximum')
    one = c.constant(x.type, hidden=True, text='1')
    least = c.add(x.type, most.dims, f'maximum({most.name}, {spread(c, one, most, []).name})', hidden=True)
    c.add(x.type, x.dims, f'divide({x.name}, {spread(c, least, x, [d for d in range(x.rank) if d not in gone]).name})', noisy=True)

def embedding(c):
    """Rows of a table, and what is added to them."""
    table = array(c, (2,))
    count = c.choice.choice([7, 49, 197, 577])
    if not c.fits((count, table.dims[1])): return
    ids = c.parameter('s32', (count, 1))
    c.add(table.type, (count, table.dims[1]), f'gather({table.name}, {ids.name}), offset_dims={{1}}, collapsed_slice_dims={{0}}, '
          f'start_index_map={{0}}, index_vector_dim=1, slice_sizes={braced([1, table.dims[1]])}')

def heads(c):
    """[batch, sequence, features] as heads that go before the sequence."""
    x = array(c, (3,))
    b, s, f = x.dims
    count = c.choice.choice([n for n in (1, 2, 3, 4, 7, 8, 12, 16) if f % n == 0])
    split = c.add(x.type, (b, s, count, f // count), f'reshape({x.name})', hidden=True)
    order = c.choice.choice([(0, 2, 1, 3), (0, 2, 3, 1)])
    c.add(x.type, [split.dims[d] for d in order], f'transpose({split.name}), dimensions={braced(order)}')

OPS = [(layer_of_stack, 3), (sum_of_batches, 3), (softmax, 1), (normalised, 1), (embedding, 1), (heads, 1)]
