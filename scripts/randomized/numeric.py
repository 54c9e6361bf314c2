"""Transforms, factorisations, normalisation and random bits."""
from values import braced

PARTS = {'f32': 'c64', 'f64': 'c128'}

def fft(c):
    kind = c.choice.choice(['FFT', 'IFFT', 'RFFT', 'IRFFT'])
    real = c.choice.choice(['f32', 'f32', 'f64'])
    rank = c.choice.choice([1, 1, 2, 3])
    lengths = [c.choice.choice([1, 2, 3, 4, 5, 8, 9, 12, 16, 17, 30, 64, 97, 100]) for _ in range(rank)]
    batch = [c.choice.choice([1, 2, 3, 8, 17]) for _ in range(c.choice.choice([0, 1, 1, 2]))]
    half = lengths[:-1] + [lengths[-1] // 2 + 1]
    if not c.fits(batch + lengths, 1): return
    given, result = {'RFFT': (lengths, half), 'IRFFT': (half, lengths)}.get(kind, (lengths, lengths))
    x = c.like(real if kind == 'RFFT' else PARTS[real], batch + given)
    c.add(real if kind == 'IRFFT' else PARTS[real], batch + result, f'fft({x.name}), fft_type={kind}, fft_length={braced(lengths)}', noisy=True)

def square(c):
    """Batches of matrices whose diagonals are well above the rest."""
    type, n = c.choice.choice(['f32', 'f32', 'f64', 'c64']), c.choice.choice([1, 2, 3, 5, 8, 16, 17, 33, 64])
    dims = [c.choice.choice([1, 2, 3, 17]) for _ in range(c.choice.choice([0, 0, 1, 2]))] + [n, n]
    if not c.fits(dims, 1): return None
    rank, real = len(dims), {'c64': 'f32'}.get(type, type)
    bits = c.parameter('s8', dims)
    small = c.add(real, dims, f'convert({bits.name})', hidden=True)
    scale = c.add(real, (), f'constant({1 / 1024 / n})', hidden=True)
    scales = c.add(real, dims, f'broadcast({scale.name}), dimensions={{}}', hidden=True)
    small = c.add(real, dims, f'multiply({small.name}, {scales.name})', hidden=True)
    if type == 'c64': small = c.add('c64', dims, f'complex({small.name}, {small.name})', hidden=True)
    rows, columns = (c.add('s32', dims, f'iota(), iota_dimension={rank - 2 + i}', hidden=True) for i in range(2))
    diagonal = c.add('pred', dims, f'compare({rows.name}, {columns.name}), direction=EQ', hidden=True)
    one = c.add(type, (), 'constant((1, 0))' if type == 'c64' else 'constant(1)', hidden=True)
    ones = c.add(type, dims, f'broadcast({one.name}), dimensions={{}}', hidden=True)
    return c.add(type, dims, f'select({diagonal.name}, {ones.name}, {small.name})', hidden=True)

def cholesky(c):
    a = square(c)
    if a: c.add(a.type, a.dims, f"cholesky({a.name}), lower={c.choice.choice(['true', 'false'])}", noisy=True)

def triangular_solve(c):
    a = square(c)
    if not a: return
    left, columns = c.choice.choice(['true', 'false']), c.choice.choice([1, 2, 8, 17])
    sizes = (a.dims[-1], columns) if left == 'true' else (columns, a.dims[-1])
    transposed = c.choice.choice(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])
    c.add(a.type, a.dims[:-2] + sizes, f'triangular-solve({a.name}, {c.parameter(a.type, a.dims[:-2] + sizes).name}), left_side={left}, '
          f"lower={c.choice.choice(['true', 'false'])}, unit_diagonal={c.choice.choice(['true', 'false'])}, transpose_a={transposed}", noisy=True)

def batch_norm(c):
    type, rank = c.choice.choice(['f32', 'f64']), c.choice.choice([2, 3, 4])
    dims = [c.choice.choice([2, 3, 5, 8, 17]) for _ in range(rank)]
    if not c.fits(dims, 1): return
    feature = c.choice.randrange(rank)
    each = (dims[feature],)
    x, rest = c.parameter(type, dims), [c.parameter(type, each) for _ in range(2)]
    attributes = f'epsilon=0.5, feature_index={feature}'
    form = c.choice.choice(['training', 'inference', 'grad'])
    if form == 'training':
        c.add_tuple([(type, dims), (type, each), (type, each)], f'batch-norm-training({x.name}, {rest[0].name}, {rest[1].name}), {attributes}', noisy=True)
        return
    variance = c.parameter(type, each)
    variance = c.add(type, each, f'abs({variance.name})', hidden=True)
    if form == 'inference':
        operands = [x, rest[0], rest[1], c.parameter(type, each), variance]
        c.add(type, dims, f"batch-norm-inference({', '.join(v.name for v in operands)}), {attributes}", noisy=True)
    else:
        operands = [x, rest[0], rest[1], variance, c.parameter(type, dims)]
        c.add_tuple([(type, dims), (type, each), (type, each)], f"batch-norm-grad({', '.join(v.name for v in operands)}), {attributes}", noisy=True)

def random_bits(c):
    algorithm = c.choice.choice(['rng_default', 'rng_philox', 'rng_three_fry'])
    words = c.choice.choice([2, 3]) if algorithm == 'rng_philox' else 2
    state, dims = c.like('u64', [words]), c.dims()
    # XLA folds constant bits of signed types to those of unsigned ones.
    type = c.choice.choice(['u8', 'u16', 'u32', 'u64'] + ['s8', 's32', 's64'] * (not c.settings.peer))
    if c.settings.peer and 0 in dims: return
    c.add_tuple([('u64', [words]), (type, dims)], f'rng-bit-generator({state.name}), algorithm={algorithm}')

FLOATING = [(fft, 1), (cholesky, .7), (triangular_solve, .7), (batch_norm, .4)]
INTEGRAL = [(random_bits, .5)]
