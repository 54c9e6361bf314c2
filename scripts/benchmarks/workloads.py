"""The workloads of scripts/bench: each a small HLO text made from a table, with what it costs at least."""
import dataclasses, math
import limits

BITS = {'pred': 8, 's4': 4, 'u4': 4, 's8': 8, 'f8e4m3fn': 8, 'f8e5m2': 8, 'bf16': 16, 'f16': 16, 's32': 32, 'u32': 32,
        'f32': 32, 'u64': 64, 's64': 64, 'f64': 64, 'c64': 64}
Ki, Mi = 1 << 10, 1 << 20

@dataclasses.dataclass
class Workload:
    number: int
    name: str
    text: str
    flops: float = 0       # multiplications and additions
    special: float = 0     # transcendentals
    bytes: float = 0       # compulsory: each argument read and each result written once
    peak: str = 'f32'      # the element type whose peak counts
    sweeps: int = 1        # times that all bytes go through the memory
    steps: float = 0       # of a loop, each waiting for the one before
    chain: dict = dataclasses.field(default_factory=dict)  # operations from one step to the next, one after the other
    divisions: float = 0   # of numbers that differ
    updates: float = 0     # of counters, in order
    random_words: float = 0  # of 32 bits, by Philox
    reads: tuple = ()      # (elements read at random places, bytes of the array in which they lie)
    sort_rows: tuple = ()  # (rows, keys of 32 bits in each, bytes of what moves with a key)
    compiles: bool = False  # measures compilation: running it takes next to nothing
    contended: bool = False

def S(type, *dims):
    return f'{type}[{",".join(map(str, dims))}]'

def dims_of(shape):
    inner = shape[shape.index('[') + 1:shape.index(']')]
    return [int(d) for d in inner.split(',')] if inner else []

def bytes_of(shape):
    return math.prod(dims_of(shape)) * BITS[shape[:shape.index('[')]] / 8

class Module:
    """Writes the text of a module, instruction by instruction."""
    def __init__(self):
        self.lines, self.computations, self.bytes, self.shapes = [], {}, 0, {}

    def parameter(self, shape):
        number = sum('parameter(' in line for line in self.lines)
        self.bytes += bytes_of(shape)
        return self('parameter', shape, str(number))

    def __call__(self, opcode, shape, *operands, attributes=''):
        name = f'i{len(self.lines)}'
        self.lines.append(f'{name} = {shape} {opcode}({", ".join(operands)}){", " + attributes if attributes else ""}')
        self.shapes[name] = shape
        return name

    def constant(self, type, value):
        return self('constant', S(type), str(value))

    def scalar(self, type, value, *dims):
        """A constant in all elements."""
        return self('broadcast', S(type, *dims), self.constant(type, value), attributes='dimensions={}')

    def along(self, x, shape, *dimensions):
        return self('broadcast', shape, x, attributes=f'dimensions={{{",".join(map(str, dimensions))}}}')

    def combiner(self, opcode, type):
        name = f'{opcode}_{type}'
        self.computations[name] = (f'{name} {{\n  a = {type}[] parameter(0)\n  b = {type}[] parameter(1)\n'
                                   f'  ROOT r = {type}[] {opcode}(a, b)\n}}\n')
        return name

    def reduce(self, x, shape, opcode, init, *dimensions):
        type = shape[:shape.index('[')]
        return self('reduce', shape, x, self.constant(type, init), attributes=
                    f'dimensions={{{",".join(map(str, dimensions))}}}, to_apply={self.combiner(opcode, type)}')

    def computation(self, text):
        self.computations[text.split(' ', 1)[0]] = text

    def dot(self, a, b, shape, lhs=(1,), rhs=(0,), batch=()):
        fmt = lambda d: '{' + ','.join(map(str, d)) + '}'
        attributes = f'lhs_contracting_dims={fmt(lhs)}, rhs_contracting_dims={fmt(rhs)}'
        if batch: attributes = f'lhs_batch_dims={fmt(batch)}, rhs_batch_dims={fmt(batch)}, ' + attributes
        return self('dot', shape, a, b, attributes=attributes)

    def make(self, number, name, root=None, **costs):
        lines = list(self.lines)
        at = len(lines) - 1 if root is None else next(i for i, l in enumerate(lines) if l.startswith(root + ' = '))
        shape = lines[at].split(' = ', 1)[1]
        self.bytes += sum(bytes_of(part) for part in split_shapes(shape))
        lines[at] = 'ROOT ' + lines[at]
        body = ''.join(f'  {line}\n' for line in lines)
        text = f'HloModule w{number}_{"".join(c if c.isalnum() else "_" for c in name)}\n\n' + \
               '\n'.join(self.computations.values()) + f'\nENTRY e {{\n{body}}}\n'
        return Workload(number, name, text, **({'bytes': self.bytes} | costs))

def split_shapes(text):
    """The array shapes a line's result consists of."""
    import re
    head = text[:text.index(')')] if text.startswith('(') else text.split(' ', 1)[0]
    return re.findall(r'[a-z]+[0-9]*[a-z0-9]*\[[0-9,]*\]', head)

def elementwise():
    for label, n in (('1 Ki', Ki), ('64 Ki', 64 * Ki), ('64 Mi', 64 * Mi)):
        m = Module(); f = S('f32', n)
        m('add', f, m.parameter(f), m.parameter(f))
        yield m.make(1, f'add f32 {label}')
    m = Module(); f = S('f32', 64 * Mi); x, y = m.parameter(f), m.parameter(f)
    for op in ('add', 'multiply', 'subtract', 'maximum', 'add', 'multiply', 'minimum', 'subtract'): x = m(op, f, x, y)
    yield m.make(2, '8-op chain 64 Mi')
    m = Module(); f = S('f32', 4096, 768)
    y = m('add', f, m.parameter(f), m.along(m.parameter(S('f32', 768)), f, 1))
    half, one, scale = (m.scalar('f32', c, 4096, 768) for c in (0.5, 1, 0.70710678))
    erf = m('erf', f, m('multiply', f, y, scale))
    m('multiply', f, m('multiply', f, half, y), m('add', f, one, erf))
    yield m.make(3, 'bias+GELU 4096x768', special=4096 * 768)
    for op in ('exponential', 'tanh', 'log', 'erf', 'sine', 'power'):
        m = Module(); f = S('f32', 64 * Ki)
        m(op, f, *(m.parameter(f) for _ in range(2 if op == 'power' else 1)))
        # A power is a logarithm in two words, products with it and an exponential: three functions.
        yield m.make(4, f'{op} 64 Ki', special=64 * Ki * (3 if op == 'power' else 1))
    n = 16 * Mi
    m = Module(); b = S('bf16', n); m('add', b, m.parameter(b), m.parameter(b)); yield m.make(5, 'add bf16 16 Mi')
    for source, target in (('f32', 'bf16'), ('f32', 's8'), ('f8e4m3fn', 'f32'), ('s4', 'f32')):
        m = Module(); m('convert', S(target, n), m.parameter(S(source, n)))
        yield m.make(5, f'{source} to {target} 16 Mi')

def reductions():
    for type in ('f32', 'bf16'):
        m = Module(); m.reduce(m.parameter(S(type, 32 * Mi)), S(type), 'add', 0, 0); yield m.make(6, f'sum {type} 32 Mi')
    for number, dims, axis in ((7, (4096, 1024), 1), (7, (Mi, 8), 1), (8, (4096, 4096), 0), (8, (128, 128, 128), 0)):
        m = Module(); out = [d for i, d in enumerate(dims) if i != axis]
        m.reduce(m.parameter(S('f32', *dims)), S('f32', *out), 'add', 0, axis)
        yield m.make(number, f'sum {"x".join(map(str, dims))} axis {axis}')
    m = Module()
    m.computation('''argmax {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(v, w), direction=GT
  eq = pred[] compare(v, w), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  c = pred[] or(gt, tie)
  x = f32[] select(c, v, w)
  k = s32[] select(c, i, j)
  ROOT t = (f32[], s32[]) tuple(x, k)
}
''')
    x = m.parameter(S('f32', 1024, 50000)); i = m('iota', S('s32', 1024, 50000), attributes='iota_dimension=1')
    m('reduce', '(f32[1024], s32[1024])', x, i, m.constant('f32', '-inf'), m.constant('s32', 0),
      attributes='dimensions={1}, to_apply=argmax')
    yield m.make(9, 'argmax 1024x50000')

def softmax(m, x, rows, n, type='f32', prefix=()):
    f, r = S(type, *prefix, rows, n), S(type, *prefix, rows); axis = len(prefix) + 1; keep = range(axis)
    top = m.along(m.reduce(x, r, 'maximum', '-inf', axis), f, *keep)
    e = m('exponential', f, m('subtract', f, x, top))
    return m('divide', f, e, m.along(m.reduce(e, r, 'add', 0, axis), f, *keep))

def layer_norm(m, x, rows, n):
    f, r = S('f32', rows, n), S('f32', rows)
    mean = m('divide', r, m.reduce(x, r, 'add', 0, 1), m.scalar('f32', n, rows))
    d = m('subtract', f, x, m.along(mean, f, 0))
    var = m('divide', r, m.reduce(m('multiply', f, d, d), r, 'add', 0, 1), m.scalar('f32', n, rows))
    scale = m('rsqrt', r, m('add', r, var, m.scalar('f32', 1e-5, rows)))
    return m('multiply', f, d, m.along(scale, f, 0))

def normalisation():
    for rows, n in ((8192, 4096), (1024, 1024)):
        m = Module(); softmax(m, m.parameter(S('f32', rows, n)), rows, n)
        yield m.make(10, f'softmax {rows}x{n}', special=rows * n)
    for type in ('f32', 'bf16'):
        m = Module(); x = m.parameter(S(type, 4096, 768)); f = S('f32', 4096, 768)
        if type != 'f32': x = m('convert', f, x)
        y = layer_norm(m, x, 4096, 768)
        if type != 'f32': m('convert', S(type, 4096, 768), y)
        yield m.make(11, f'layer-norm 4096x768 {type}')

def movement():
    for type, dims, order in (('f32', (4096, 4096), (1, 0)), ('bf16', (4096, 4096), (1, 0)), ('f32', (16, 512, 32, 64), (0, 2, 1, 3))):
        m = Module()
        m('transpose', S(type, *(dims[i] for i in order)), m.parameter(S(type, *dims)), attributes=f'dimensions={{{",".join(map(str, order))}}}')
        yield m.make(12, f'transpose {type} {"x".join(map(str, dims))} {"".join(map(str, order))}')
    f = S('f32', 2048, 4096)
    m = Module(); m('concatenate', S('f32', 2048, 8192), m.parameter(f), m.parameter(f), attributes='dimensions={1}'); yield m.make(13, 'concatenate 2048x4096')
    m = Module(); m('pad', S('f32', 2050, 4100), m.parameter(f), m.constant('f32', 0), attributes='padding=1_1x2_2'); yield m.make(13, 'pad 2048x4096')
    m = Module(); m('slice', S('f32', 2046, 2047), m.parameter(f), attributes='slice={[1:2047], [1:4095:2]}'); yield m.make(13, 'slice 2048x4096 stride 2')
    m = Module(); m('reverse', f, m.parameter(f), attributes='dimensions={1}'); yield m.make(13, 'reverse 2048x4096')
    m = Module(); x = m.parameter(f)
    m('concatenate', f, m('slice', S('f32', 2048, 96), x, attributes='slice={[0:2048], [4000:4096]}'),
      m('slice', S('f32', 2048, 4000), x, attributes='slice={[0:2048], [0:4000]}'), attributes='dimensions={1}')
    yield m.make(13, 'roll 2048x4096')
    m = Module(); f = S('f32', 2048, 2048); x = m.parameter(f)
    def rolled(axis, seam):
        parts = [m('slice', S('f32', *(end - begin if d == axis else 2048 for d in (0, 1))), x, attributes='slice={' + ', '.join(f'[{begin}:{end}]' if d == axis else '[0:2048]' for d in (0, 1)) + '}')
                 for begin, end in ((seam, 2048), (0, seam))]
        return m('concatenate', f, *parts, attributes=f'dimensions={{{axis}}}')
    a, b, c, d = (rolled(axis, seam) for axis in (0, 1) for seam in (1, 2047))
    m('add', f, x, m('multiply', f, m('add', f, m('add', f, a, b), m('add', f, c, d)), m.scalar('f32', 0.1, 2048, 2048)))
    yield m.make(13, 'neighbours on a ring 2048x2048')
    m = Module()
    m('gather', S('f32', Mi, 64), m.parameter(S('f32', 64 * Ki, 64)), m.parameter(S('s32', Mi, 1)), attributes=
      'offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}')
    yield m.make(14, 'gather 1 Mi rows of 64')
    m = Module()
    m('gather', S('f32', Mi), m.parameter(S('f32', Mi)), m.parameter(S('s32', Mi, 1)), attributes=
      'offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}')
    yield m.make(14, 'gather 1 Mi elements', reads=(Mi, 4 * Mi))
    m = Module()
    m('scatter', S('f32', 64 * Ki, 64), m.parameter(S('f32', 64 * Ki, 64)), m.parameter(S('s32', 256 * Ki, 1)), m.parameter(S('f32', 256 * Ki, 64)),
      attributes='update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=' + m.combiner('add', 'f32'))
    yield m.make(15, 'scatter-add 256 Ki rows')
    m = Module()
    m('scatter', S('s32', Ki), m.scalar('s32', 0, Ki), m.parameter(S('s32', 16 * Mi, 1)), m.scalar('s32', 1, 16 * Mi),
      attributes='update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=' + m.combiner('add', 's32'))
    yield m.make(15, 'histogram 16 Mi to 1 Ki', updates=16 * Mi)

def window(m, x, shape, opcode, init, attributes):
    return m('reduce-window', shape, x, m.constant(shape[:shape.index('[')], init), attributes=f'window={{{attributes}}}, to_apply={m.combiner(opcode, "f32")}')

def windows():
    for dims, axis in (((16 * Mi,), 0), ((65536, 1024), 0), ((65536, 1024), 1)):
        m = Module(); f = S('f32', *dims)
        size = 'x'.join(str(d if i == axis else 1) for i, d in enumerate(dims))
        pad = 'x'.join(f'{d - 1}_0' if i == axis else '0_0' for i, d in enumerate(dims))
        window(m, m.parameter(f), f, 'add', 0, f'size={size} pad={pad}')
        yield m.make(16, f'cumsum {"x".join(map(str, dims))} axis {axis}')
    f, g = S('f32', 16, 112, 112, 64), S('f32', 16, 56, 56, 64); form = 'size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0'
    m = Module(); window(m, m.parameter(f), g, 'maximum', '-inf', form); yield m.make(17, 'max pool 16x112x112x64')
    m = Module(); window(m, m.parameter(f), g, 'add', 0, form); yield m.make(17, 'sum pool 16x112x112x64')
    m = Module()
    m.computation('ge {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=GE\n}\n')
    m('select-and-scatter', f, m.parameter(f), m.parameter(g), m.constant('f32', 0), attributes=f'window={{{form}}}, select=ge, scatter={m.combiner("add", "f32")}')
    yield m.make(17, 'select-and-scatter 16x112x112x64')

def sorting():
    def less(*types):
        lines = [f'  {"ab"[i]}{k} = {t}[] parameter({2 * k + i})\n' for k, t in enumerate(types) for i in (0, 1)]
        return 'less {\n' + ''.join(lines) + '  ROOT r = pred[] compare(a0, b0), direction=LT, type=TOTALORDER\n}\n'
    for dims, axis in (((Mi,), 0), ((1024, 4096), 1)):
        m = Module(); m.computation(less('f32')); f = S('f32', *dims)
        m('sort', f, m.parameter(f), attributes=f'dimensions={{{axis}}}, to_apply=less')
        yield m.make(18, f'sort {"x".join(map(str, dims))}', sort_rows=(math.prod(dims[:-1]), dims[-1], 4))
    m = Module(); m.computation(less('f32', 's32')); f, i = S('f32', Mi), S('s32', Mi)
    m('sort', f'({f}, {i})', m.parameter(f), m('iota', i, attributes='iota_dimension=0'), attributes='dimensions={0}, is_stable=true, to_apply=less')
    yield m.make(19, 'stable argsort 1 Mi', sort_rows=(1, Mi, 8))
    m = Module(); m('topk', '(f32[64,10], s32[64,10])', m.parameter(S('f32', 64, 50000)), attributes='k=10, largest=true')
    yield m.make(20, 'top 10 of 64x50000')
    m = Module(); m('rng-bit-generator', f'(u64[2], {S("u32", 16 * Mi)})', m.parameter(S('u64', 2)), attributes='algorithm=rng_philox')
    yield m.make(21, 'random bits 16 Mi u32', random_words=16 * Mi)

def cube(number, name, m_, n, k, type='f32', out=None, **more):
    m = Module(); m.dot(m.parameter(S(type, m_, k)), m.parameter(S(type, k, n)), S(out or type, m_, n))
    return m.make(number, name, flops=2 * m_ * n * k, peak=type, **more)

def dots():
    for n in (64, 512, 2048): yield cube(22, f'dot f32 {n}', n, n, n)
    for n in (128, 1024):
        yield cube(23, f'dot bf16 {n}', n, n, n, 'bf16', 'f32')
        yield cube(23, f'dot s8 {n}', n, n, n, 's8', 's32')
    for type in ('f32', 'bf16'):
        m = Module(); m.dot(m.parameter(S(type, 4096)), m.parameter(S(type, 4096, 4096)), S(type, 4096), lhs=(0,))
        yield m.make(24, f'GEMV 4096 {type}', flops=2 * 4096 * 4096)
    m = Module(); w = m('convert', S('f32', 4096, 4096), m.parameter(S('s4', 4096, 4096)))
    m.dot(m.parameter(S('f32', 4096)), w, S('f32', 4096), lhs=(0,)); yield m.make(24, 'GEMV 4096 s4', flops=2 * 4096 * 4096)
    for a, b, c in ((8, 1024, 1024), (32, 1024, 1024), (10, 10, 100000)): yield cube(25, f'dot {a}x{b}x{c}', a, b, c)
    for batch, a, b, c, type in ((1000, 6, 6, 6, 'f64'), (64, 32, 32, 32, 'f32'), (96, 128, 128, 64, 'f32')):
        m = Module(); m.dot(m.parameter(S(type, batch, a, c)), m.parameter(S(type, batch, c, b)), S(type, batch, a, b), (2,), (1,), (0,))
        yield m.make(26, f'batch {batch} of {a}x{b}x{c} {type}', flops=2 * batch * a * b * c, peak=type)
    m = Module(); f = S('f32', 512, 3072)
    y = m('add', f, m.dot(m.parameter(S('f32', 512, 768)), m.parameter(S('f32', 768, 3072)), f), m.along(m.parameter(S('f32', 3072)), f, 1))
    half, one, scale = (m.scalar('f32', c, 512, 3072) for c in (0.5, 1, 0.70710678))
    g = m('multiply', f, m('multiply', f, half, y), m('add', f, one, m('erf', f, m('multiply', f, y, scale))))
    m('add', f, g, m.parameter(f))
    yield m.make(27, 'dot+bias+GELU+residual 512x3072x768', flops=2 * 512 * 3072 * 768, special=512 * 3072)
    for type in ('f32', 'bf16'):
        m = Module(); q, k, v = (m.parameter(S(type, 12, 512, 64)) for _ in range(3)); f = S('f32', 12, 512, 512)
        s = m.dot(q, k, f, (2,), (2,), (0,))
        i, j = (m('iota', S('s32', 12, 512, 512), attributes=f'iota_dimension={d}') for d in (1, 2))
        masked = m('select', f, m('compare', S('pred', 12, 512, 512), i, j, attributes='direction=GE'), s, m.scalar('f32', -1e9, 12, 512, 512))
        p = softmax(m, masked, 512, 512, 'f32', (12,))
        if type != 'f32': p = m('convert', S(type, 12, 512, 512), p)
        m.dot(p, v, S(type, 12, 512, 64), (2,), (1,), (0,))
        yield m.make(28, f'attention 12x512x64 {type} causal', flops=4 * 12 * 512 * 512 * 64, special=12 * 512 * 512, peak=type)

def convolve(m, x, w, n, size, stride, ci, co, type='f32', groups=1, labels='b01f_01io->b01f', window_more='', out=None, pad=None):
    low = (size - 1) // 2 if pad is None else pad
    out = out or (n + 2 * low - size) // stride + 1
    shape = S(type, 1, out, out, co) if labels.endswith('b01f') else S(type, 1, co, out, out)
    groups_text = f', feature_group_count={groups}' if groups > 1 else ''
    return m('convolution', shape, x, w, attributes=f'window={{size={size}x{size} stride={stride}x{stride} pad={low}_{low}x{low}_{low}{window_more}}}, dim_labels={labels}{groups_text}'), out

def convolutions():
    table = (('7x7/2 3 to 64', 224, 7, 2, 3, 64), ('1x1 64 to 256', 56, 1, 1, 64, 256), ('3x3 64', 56, 3, 1, 64, 64), ('3x3 512', 7, 3, 1, 512, 512))
    for type in ('f32', 'bf16'):
        for name, n, size, stride, ci, co in table:
            m = Module()
            _, out = convolve(m, m.parameter(S(type, 1, n, n, ci)), m.parameter(S(type, size, size, ci, co)), n, size, stride, ci, co, type)
            yield m.make(29, f'conv {type} {name}, {n}x{n}', flops=2 * out * out * co * ci * size * size, peak=type)
    m = Module(); convolve(m, m.parameter(S('f32', 1, 112, 112, 96)), m.parameter(S('f32', 3, 3, 1, 96)), 112, 3, 1, 96, 96, groups=96)
    yield m.make(30, 'conv depthwise 96, 112x112', flops=2 * 112 * 112 * 96 * 9)
    m = Module(); convolve(m, m.parameter(S('f32', 1, 56, 56, 64)), m.parameter(S('f32', 3, 3, 64, 64)), 56, 3, 1, 64, 64, window_more=' rhs_dilate=2x2', pad=2, out=56)
    yield m.make(30, 'conv dilated 64, 56x56', flops=2 * 56 * 56 * 64 * 64 * 9)
    m = Module(); convolve(m, m.parameter(S('f32', 1, 28, 28, 64)), m.parameter(S('f32', 3, 3, 64, 64)), 28, 3, 1, 64, 64, window_more=' lhs_dilate=2x2', pad=1, out=55)
    yield m.make(30, 'conv input gradient 64, 28x28', flops=2 * 28 * 28 * 64 * 64 * 9)
    m = Module(); convolve(m, m.parameter(S('f32', 1, 64, 56, 56)), m.parameter(S('f32', 64, 64, 3, 3)), 56, 3, 1, 64, 64, labels='bf01_oi01->bf01')
    yield m.make(30, 'conv NCHW 64, 56x56', flops=2 * 56 * 56 * 64 * 64 * 9)

def eigenvalues(n):
    """jax.numpy.linalg.eigh: of the symmetric part, NaN where LAPACK fails."""
    m = Module(); f, v = S('f32', n, n), S('f32', n)
    x = m.parameter(f)
    symmetric = m('multiply', f, m('add', f, x, m('transpose', f, x, attributes='dimensions={1,0}')), m.scalar('f32', 0.5, n, n))
    call = m('custom-call', f'({f}{{0,1}}, {v}{{0}}, s32[])', symmetric, attributes=
             'custom_call_target="lapack_ssyevd_ffi", operand_layout_constraints={' + f + '{0,1}}, output_to_operand_aliasing={{0}: (0, {})}, '
             'api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : ui8, uplo = 76 : ui8}')
    vectors, values, info = (m('get-tuple-element', shape, call, attributes=f'index={i}') for i, shape in enumerate((f + '{0,1}', v, 's32[]')))
    good = m('compare', 'pred[]', info, m.constant('s32', 0), attributes='direction=EQ')
    results = [m('select', shape, m('broadcast', S('pred', *dims_of(shape)), good, attributes='dimensions={}'), y, m.scalar('f32', 'nan', *dims_of(shape)))
               for shape, y in ((v, values), (f, vectors))]
    m('tuple', f'({v}, {f})', *results)
    # Reduction to three diagonals, divide and conquer without deflation, back transformation.
    return m.make(31, f'eigh {n}', flops=n**3 * (4 / 3 + 4 / 3 + 2))

def linear_algebra():
    for batch, n in ((1, 512), (1000, 8)):
        f = S('f32', batch, n, n)
        def positive(m):  # x x^T / n + 2 I
            x = m.parameter(f); p = m('multiply', f, m.dot(x, x, f, (2,), (2,), (0,)), m.scalar('f32', 1 / n, batch, n, n))
            i, j = (m('iota', S('s32', batch, n, n), attributes=f'iota_dimension={d}') for d in (1, 2))
            eye = m('convert', f, m('compare', S('pred', batch, n, n), i, j, attributes='direction=EQ'))
            return m('add', f, p, m('multiply', f, eye, m.scalar('f32', 2, batch, n, n)))
        m = Module(); m('cholesky', f, positive(m), attributes='lower=true')
        yield m.make(31, f'cholesky {batch} x {n}', flops=batch * (n**3 / 3 + 2 * n**3))
        m = Module(); m('triangular-solve', f, positive(m), m.parameter(f), attributes='left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE')
        yield m.make(31, f'triangular-solve {batch} x {n}', flops=batch * 3 * n**3)
    yield eigenvalues(512)
    for n in (Ki, 64 * Ki, Mi):
        m = Module(); c = S('c64', n); m('fft', c, m.parameter(c), attributes=f'fft_type=FFT, fft_length={{{n}}}')
        yield m.make(32, f'fft c64 {n}', flops=5 * n * math.log2(n), sweeps=limits.sweeps_of_transform(n, 8))

def loop(state, init, body, steps):
    """A while loop from 0 to `steps`; `body` has lines that end in one for each `nextK`."""
    types = ', '.join(state); elements = ''.join(f'  x{k} = {t} get-tuple-element(s), index={k}\n' for k, t in enumerate(state))
    names = ', '.join(['j'] + [f'next{k}' for k in range(1, len(state))])
    return f'''HloModule loop

add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}

condition {{
  s = ({types}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({steps})
  ROOT r = pred[] compare(i, n), direction=LT
}}

body {{
  s = ({types}) parameter(0)
{elements}  one = s32[] constant(1)
  j = s32[] add(x0, one)
{body}  ROOT t = ({types}) tuple({names})
}}

ENTRY e {{
{init}  zero = s32[] constant(0)
  t = ({types}) tuple(zero, {", ".join(f"p{k}" for k in range(1, len(state)))})
  w = ({types}) while(t), condition=condition, body=body
  ROOT r = {state[1]} get-tuple-element(w), index=1
}}
'''

# Sums of three products, one of another element, and tanh: the square, a fraction of polynomials of which the longer
# has seven terms, times the argument, divided.
STEP_OF_SCAN = {'multiply': 1 + 2, 'fma': 2 + 6, 'add': 1, 'divide': 1}

def loops():
    yield Workload(33, 'scan 2000x3', loop(['s32[]', 'f32[3]', 'f32[2000,3]', 'f32[3,3]'],
        '  p1 = f32[3] parameter(0)\n  p2 = f32[2000,3] parameter(1)\n  p3 = f32[3,3] parameter(2)\n',
        '''  z = s32[] constant(0)
  d = f32[1,3] dynamic-slice(x2, x0, z), dynamic_slice_sizes={1,3}
  u = f32[3] reshape(d)
  v = f32[3] dot(x3, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  w = f32[3] add(u, v)
  next1 = f32[3] tanh(w)
  next2 = f32[2000,3] copy(x2)
  next3 = f32[3,3] copy(x3)
''', 2000), steps=2000, chain=STEP_OF_SCAN)
    yield Workload(33, 'while of 4 Mi scalar steps', loop(['s32[]', 'f32[]'], '  p1 = f32[] parameter(0)\n',
        '  c = f32[] constant(0.999)\n  m = f32[] multiply(x1, c)\n  f = f32[] convert(x0)\n  next1 = f32[] add(m, f)\n', 4 * Mi), steps=4 * Mi, chain={'multiply': 1, 'add': 1})
    n = 400000
    yield Workload(34, 'loop that writes 1 of 400 k', loop(['s32[]', f'f32[{n}]'], f'  p1 = f32[{n}] parameter(0)\n',
        f'  v = f32[] convert(x0)\n  u = f32[1] reshape(v)\n  next1 = f32[{n}] dynamic-update-slice(x1, u, x0)\n', n), bytes=8 * n, steps=n, chain={'integer': 1})
    m = Module(); f = S('f64', 6, 6); x, w = m.parameter(f), m.parameter(f)
    for _ in range(100): x = m('add', f, m.dot(x, w, f), w)
    yield m.make(35, '200 chained 6x6 f64 ops', flops=100 * 2 * 216, peak='f64', steps=100, chain={'multiply': 1, 'fma': 5, 'add': 1})
    m = Module(); f = S('f32', 64); level = [m.parameter(f) for _ in range(8)]
    for step in range(2 * Ki): level = [m(('add', 'multiply', 'subtract', 'maximum')[(step + i) % 4], f, level[i], level[(i + step) % 8]) for i in range(8)]
    m('tuple', '(' + ', '.join([f] * 8) + ')', *level); yield m.make(35, '16 Ki nodes of 64 elements', flops=16 * Ki * 64)
    n = 16 * Ki; m = Module(); f, r = S('f32', n, n), S('f32', n); x, y = m.parameter(r), m.parameter(r)
    d = m('subtract', f, m.along(x, f, 0), m.along(y, f, 1))
    q = m('add', f, m('multiply', f, d, d), m.scalar('f32', 0.01, n, n))
    m.reduce(m('divide', f, d, q), r, 'add', 0, 1); yield m.make(36, 'N-body reduce 16 Ki', flops=5 * n * n, divisions=n * n)

def resnet(batch):
    m = Module(); flops = 0; n = 224
    def conv(x, n, size, stride, ci, co, relu=True):
        nonlocal flops
        low = (size - 1) // 2; out = (n + 2 * low - size) // stride + 1; f = S('f32', batch, out, out, co)
        y = m('convolution', f, x, m.parameter(S('f32', size, size, ci, co)), attributes=f'window={{size={size}x{size} stride={stride}x{stride} pad={low}_{low}x{low}_{low}}}, dim_labels=b01f_01io->b01f')
        y = m('add', f, m('multiply', f, y, m.along(m.parameter(S('f32', co)), f, 3)), m.along(m.parameter(S('f32', co)), f, 3))
        flops += 2 * batch * out * out * co * ci * size * size
        return (m('maximum', f, y, m.scalar('f32', 0, batch, out, out, co)) if relu else y), out
    x, n = conv(m.parameter(S('f32', batch, n, n, 3)), n, 7, 2, 3, 64)
    x = window(m, x, S('f32', batch, 56, 56, 64), 'maximum', '-inf', 'size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0'); n, channels = 56, 64
    for blocks, width, first_stride in ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)):
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y, _ = conv(x, n, 1, 1, channels, width); y, out = conv(y, n, 3, stride, width, width); y, _ = conv(y, out, 1, 1, width, 4 * width, relu=False)
            if block == 0: x, _ = conv(x, n, 1, stride, channels, 4 * width, relu=False)
            f = S('f32', batch, out, out, 4 * width)
            x = m('maximum', f, m('add', f, x, y), m.scalar('f32', 0, batch, out, out, 4 * width)); n, channels = out, 4 * width
    x = m.reduce(x, S('f32', batch, 2048), 'add', 0, 1, 2)
    m.dot(x, m.parameter(S('f32', 2048, 1000)), S('f32', batch, 1000))
    return m.make(37, f'ResNet-50 f32 batch {batch}', flops=flops + 2 * batch * 2048 * 1000)

def transformer(number, name, layers, tokens, width, heads, type='f32', keys=None):
    """Blocks of attention and MLP. With `keys` the attention runs over a cache of that many."""
    m = Module(); flops = 0; head = width // heads; keys_ = keys or tokens
    x = m.parameter(S('f32', tokens, width)); f = S('f32', tokens, width)
    def project(x, a, b):
        nonlocal flops; flops += 2 * tokens * a * b
        w = m.parameter(S(type, a, b))
        return m.dot(x, m('convert', S('f32', a, b), w) if type != 'f32' else w, S('f32', tokens, b))
    for _ in range(layers):
        y = layer_norm(m, x, tokens, width); q, k, v = (project(y, width, width) for _ in range(3))
        split = lambda z, t: m('reshape', S('f32', t, heads, head), z)
        q, k, v = split(q, tokens), split(k, tokens), split(v, tokens)
        if keys: k, v = (m('concatenate', S('f32', keys, heads, head), m.parameter(S('f32', keys - tokens, heads, head)), z, attributes='dimensions={0}') for z in (k, v))
        flops += 4 * tokens * keys_ * width
        s = m('dot', S('f32', heads, tokens, keys_), q, k, attributes='lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}')
        p = softmax(m, s, tokens, keys_, 'f32', (heads,))
        o = m('dot', S('f32', heads, tokens, head), p, v, attributes='lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0}')
        o = m('reshape', f, m('transpose', S('f32', tokens, heads, head), o, attributes='dimensions={1,0,2}'))
        x = m('add', f, x, project(o, width, width))
        h = project(layer_norm(m, x, tokens, width), width, 4 * width); g = S('f32', tokens, 4 * width)
        h = m('multiply', g, h, m('logistic', g, h)); x = m('add', f, x, project(h, 4 * width, width))
    return m.make(number, name, flops=flops, peak='f32')

def unet():
    m = Module(); x = m.parameter(S('f32', 1, 64, 64, 128)); f = S('f32', 1, 64, 64, 128); flops = 0
    for _ in range(2):
        y, _ = convolve(m, x, m.parameter(S('f32', 3, 3, 128, 128)), 64, 3, 1, 128, 128); flops += 2 * 64 * 64 * 128 * 128 * 9
        x = m('add', f, x, m('multiply', f, y, m('logistic', f, y)))
    return m.make(40, 'U-Net block 64x64x128', flops=flops)

def models():
    yield resnet(1); yield resnet(8)
    yield transformer(38, 'ViT-like forward, 6 layers 197x384', 6, 197, 384, 6)
    yield transformer(38, 'GPT-2-like forward, 6 layers 512x768', 6, 512, 768, 12)
    for type in ('bf16', 's4'): yield transformer(39, f'decode step {type}, 6 layers 768, 512 keys', 6, 1, 768, 12, type, 512)
    yield unet()

def compilation():
    for kernels in (1, 50):
        m = Module(); x = m.parameter(S('f32', 256))
        for k in range(kernels):  # a reversal between kernels that differ
            f = S('f32', 256)
            for j in range(4): x = m(('tanh', 'exponential', 'negate', 'sqrt')[(k >> j) % 4], f, m('add', f, x, m.scalar('f32', k + j + 1, 256)))
            x = m('sort', f, x, attributes='dimensions={0}, to_apply=lt'); m.computation('lt {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=LT\n}\n')
        yield m.make(41, f'compile {kernels} kernel(s)', compiles=True)
    for number, label, steps in ((41, 'compile 5 k instructions', 1250), (41, 'compile 16 k instructions', 4000), (42, 'compile 200 unrolled steps', 200), (42, 'compile 800 unrolled steps', 800)):
        m = Module(); f = S('f32', 8, 8); x, w = m.parameter(f), m.parameter(f)
        # Not tanh: values would fade into subnormals, which only one side keeps.
        for _ in range(steps): x = m('add', f, m('logistic', f, m.dot(x, w, f)), m('multiply', f, x, w))
        yield m.make(number, label, compiles=True)

def contended():
    for other in (*elementwise(), *dots(), *loops()):
        if other.name in ('add f32 64 Mi', 'dot f32 512', '200 chained 6x6 f64 ops'):
            yield dataclasses.replace(other, number=44, name=other.name + ' beside a busy process', contended=True)

def all_workloads():
    """All rows, by number; number 43, the start-up of the tool, is no module."""
    for family in (elementwise, reductions, normalisation, movement, windows, sorting, dots, convolutions, linear_algebra, loops, models, compilation, contended):
        yield from family()

if __name__ == '__main__':
    import os, sys
    os.makedirs(sys.argv[1], exist_ok=True)
    for i, workload in enumerate(all_workloads()):
        with open(os.path.join(sys.argv[1], f'{i:03}_{workload.number}.hlo'), 'w') as file: file.write(workload.text)
