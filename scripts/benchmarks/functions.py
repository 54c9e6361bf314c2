"""Ordinary functions written with JAX, as modules: functions.py FOLDER [RE] writes NAME.hlo and NAME.npz, its arguments,
for each function whose name matches. Runs under a Python that has jax.

The table is what people write when they do not think of a compiler: each row a name, the shapes of the arguments
(f32 unless a type leads; `:N` bounds integers; `spd` a positive definite matrix) and an expression of them.
"""
import os, re, sys
os.environ.setdefault('JAX_PLATFORMS', 'cpu')
import jax, jax.numpy as jnp, numpy as np
import jax.scipy as jsp
from jax import lax, nn, random

# name | arguments | expression of a, b, c, d and e
TABLE = '''
softmax | 512,1000 | nn.softmax(a)
log_softmax of rows and columns | 300,300 | nn.log_softmax(a) + nn.log_softmax(a, axis=0)
logsumexp | 256,5000 | jsp.special.logsumexp(a, axis=1)
layer_norm | 512,768 768 768 | (a - a.mean(-1, keepdims=True)) * lax.rsqrt(a.var(-1, keepdims=True) + 1e-5) * b + c
rms_norm | 512,768 768 | a * lax.rsqrt((a * a).mean(-1, keepdims=True) + 1e-6) * b
batch_norm | 32,28,28,64 | (a - a.mean((0, 1, 2))) / jnp.sqrt(a.var((0, 1, 2)) + 1e-5)
group_norm | 8,28,28,64 | group_norm(a, 8)
gelu | 1000,1000 | nn.gelu(a)
gelu exact | 1000,1000 | nn.gelu(a, approximate=False)
silu and gate | 512,2048 512,2048 | nn.silu(a) * b
mish | 1000,1000 | a * jnp.tanh(nn.softplus(a))
powers | 1000,1000 1000,1000 | jnp.abs(a) ** b
trigonometry | 1000,1000 | jnp.arctan2(jnp.sin(a), jnp.cos(a)) + jnp.arcsinh(a)
special functions | 200,200 | jsp.special.gammaln(jnp.abs(a) + 1) + jsp.special.erf(a) + jsp.special.digamma(jnp.abs(a) + 1)
bessel | 100,100 | jsp.special.i0(a) + jsp.special.i1e(a)
betainc | 50,50 50,50 | jsp.special.betainc(jnp.abs(a) + 1, jnp.abs(b) + 1, 0.3)
black scholes | 200000 200000 | black_scholes(jnp.abs(a) + 1, jnp.abs(b) + 1)
distance matrix | 500,64 400,64 | jnp.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
distance matrix by a product | 1000,64 1000,64 | (a * a).sum(1)[:, None] - 2 * a @ b.T + (b * b).sum(1)
cosine similarity | 500,128 500,128 | (a / jnp.linalg.norm(a, axis=1, keepdims=True)) @ (b / jnp.linalg.norm(b, axis=1, keepdims=True)).T
rbf kernel | 400,32 400,32 | jnp.exp(-((a[:, None] - b) ** 2).sum(-1) / 2)
k means step | 2000,16 20,16 | k_means(a, b)
nearest neighbours | 1000,32 300,32 | lax.top_k(-((a[None] - b[:, None]) ** 2).sum(-1), 5)
covariance | 1000,64 | jnp.cov(a.T)
correlation | 1000,64 | jnp.corrcoef(a.T)
histogram | 100000 | jnp.histogram(a, bins=50, range=(-3, 3))[0]
bincount | s32:1000:100000 | jnp.bincount(a, length=1000)
quantiles | 1000,200 | jnp.quantile(a, jnp.array([.1, .5, .9]), axis=0)
median | 201,300 | jnp.median(a, axis=0)
standardise | 1000,100 | (a - a.mean(0)) / a.std(0)
moments | 100000 | (((a - a.mean()) / a.std()) ** 3).mean(), (((a - a.mean()) / a.std()) ** 4).mean()
sort rows | 200,1000 | jnp.sort(a)
argsort | 100000 | jnp.argsort(a)
sort by key | 50000 50000,4 | b[jnp.argsort(a)]
lexsort | s32:100:20000 s32:100:20000 | jnp.lexsort((a, b))
top k | 100,5000 | lax.top_k(a, 50)
unique | s32:1000:20000 | jnp.unique(a, size=1000, fill_value=-1)
searchsorted | 10000 5000 | jnp.searchsorted(jnp.sort(a), b)
interpolation | 1000 20000 | jnp.interp(b, jnp.linspace(-3, 3, 1000), a)
cumulative sum | 1000,1000 | jnp.cumsum(a, axis=1)
cumulative sum down | 1000,1000 | jnp.cumsum(a, axis=0)
cumulative maximum | 300,1000 | lax.cummax(a, axis=1)
cumulative product | 100000 | jnp.cumprod(1 + a / 1e5)
associative scan | 4096,8 4096,8 | lax.associative_scan(lambda x, y: (x[0] * y[0], x[1] * y[0] + y[1]), (a, b))[1]
moving average | 100000 | jnp.convolve(a, jnp.ones(25) / 25, mode='same')
exponential average | 2000,64 | lax.scan(lambda m, x: (.9 * m + .1 * x,) * 2, jnp.zeros(64), a)[1]
differences | 1000,1000 | jnp.diff(a, n=2, axis=1)
gradient of a field | 500,500 | jnp.gradient(a)
trapezoids | 100000 | jnp.trapezoid(a, dx=.01)
polynomial | 100000 8 | jnp.polyval(b, a)
polynomial fit | 200 200 | jnp.polyfit(a, b, 3)
vandermonde | 1000 | jnp.vander(a, 12)
segment sum | 100000,8 s32:1000:100000 | jax.ops.segment_sum(a, b, 1000)
segment max | 100000 s32:1000:100000 | jax.ops.segment_max(a, b, 1000)
segment softmax | 20000 s32:500:20000 | segment_softmax(a, b, 500)
scatter add | 10000 s32:10000:50000 50000 | a.at[b].add(c)
scatter max | 10000 s32:10000:50000 50000 | a.at[b].max(c)
scatter set rows | 1000,64 s32:1000:300 300,64 | a.at[b].set(c)
gather rows | 10000,64 s32:10000:5000 | a[b]
gather elements | 500,500 s32:500:10000 s32:500:10000 | a[b, c]
take along axis | 500,200 s32:200:500,20 | jnp.take_along_axis(a, b, axis=1)
embedding bag | 5000,32 s32:5000:500,20 | a[b].mean(1)
one hot | s32:1000:500 | nn.one_hot(a, 1000)
cross entropy | 256,1000 s32:1000:256 | -jnp.take_along_axis(nn.log_softmax(a), b[:, None], 1).mean()
gradient of cross entropy | 256,1000 s32:1000:256 | jax.grad(lambda x: -jnp.take_along_axis(nn.log_softmax(x), b[:, None], 1).mean())(a)
focal loss | 1000,80 u8:2:1000,80 | focal_loss(a, b)
intersection over union | 300,4 300,4 | boxes_iou(jnp.abs(a), jnp.abs(b))
non maximum suppression | 200,4 200 | suppress(jnp.abs(a), b)
matrix product | 500,500 500,500 | a @ b
matrix product, odd | 333,517 517,211 | a @ b
matrix product, transposed | 500,300 400,300 | a @ b.T
matrix product, narrow | 5000,8 8,8 | a @ b
matrix vector | 2000,1000 1000 | a @ b
vector matrix | 1000 1000,2000 | a @ b
batched product | 100,32,48 100,48,32 | a @ b
einsum | 16,64,32 16,48,32 32,32 | jnp.einsum('bik,bjl,kl->bij', a, b, c)
bilinear form | 200,30 40,30,30 200,30 | jnp.einsum('ni,kij,nj->nk', a, b, c)
outer products | 1000,16 1000,16 | jnp.einsum('ni,nj->nij', a, b).sum(0)
matrix power | 64,64 | jnp.linalg.matrix_power(a / 8, 9)
trace and diagonal | 500,500 | jnp.trace(a), jnp.diag(a), jnp.triu(a).sum()
kronecker | 20,20 30,30 | jnp.kron(a, b)
integer matrix product | s32:100:200,200 s32:100:200,200 | a @ b
complex matrix product | c64:200,200 c64:200,200 | a @ b
half matrix product | bf16:500,500 bf16:500,500 | a @ b
f64 matrix product | f64:300,300 f64:300,300 | a @ b
cholesky | spd:200 | jnp.linalg.cholesky(a)
cholesky solve | spd:200 200 | jsp.linalg.cho_solve(jsp.linalg.cho_factor(a), b)
solve | spd:200 200,10 | jnp.linalg.solve(a, b)
small solves | 1000,4,4 1000,4 | jax.vmap(jnp.linalg.solve)(a + 4 * jnp.eye(4), b)
inverse | spd:100 | jnp.linalg.inv(a)
determinant | 64,64 | jnp.linalg.slogdet(a)
small determinants | 2000,3,3 | jnp.linalg.det(a)
qr | 200,100 | jnp.linalg.qr(a)
svd | 100,60 | jnp.linalg.svd(a, full_matrices=False)
singular values | 100,60 | jnp.linalg.svd(a, compute_uv=False)
eigh | spd:100 | jnp.linalg.eigh(a)
least squares | 200,20 200 | jnp.linalg.lstsq(a, b)[0]
pseudo inverse | 80,40 | jnp.linalg.pinv(a)
matrix exponential | 40,40 | jsp.linalg.expm(a / 10)
triangular solve | spd:300 300,20 | jsp.linalg.solve_triangular(jnp.tril(a), b, lower=True)
power iteration | spd:200 200 | lax.fori_loop(0, 50, lambda i, v: (w := a @ v) / jnp.linalg.norm(w), b)
conjugate gradients | spd:200 200 | jsp.sparse.linalg.cg(lambda v: a @ v, b, maxiter=50)[0]
fft | 64,1024 | jnp.abs(jnp.fft.fft(a))
rfft and back | 64,4096 | jnp.fft.irfft(jnp.fft.rfft(a) * 2)
fft 2d | 256,256 | jnp.abs(jnp.fft.fft2(a))
fft of a prime length | 16,1009 | jnp.abs(jnp.fft.fft(a))
convolution by fft | 20000 500 | jsp.signal.fftconvolve(a, b, mode='same')
spectrogram | 50000 | spectrogram(a)
convolution 2d | 8,32,32,16 3,3,16,32 | conv(a, b)
convolution gradient | 8,32,32,16 3,3,16,32 | jax.grad(lambda x, w: (conv(x, w) ** 2).sum(), (0, 1))(a, b)
depthwise convolution | 8,32,32,64 3,3,1,64 | lax.conv_general_dilated(a, b, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'), feature_group_count=64)
transposed convolution | 4,16,16,32 4,4,32,16 | lax.conv_transpose(a, b, (2, 2), 'SAME')
convolution NCHW | 8,16,32,32 32,16,3,3 | lax.conv(a, b, (1, 1), 'SAME')
convolution 1d | 16,500,32 5,32,32 | lax.conv_general_dilated(a, b, (1,), 'SAME', dimension_numbers=('NWC', 'WIO', 'NWC'))
max pool | 8,64,64,32 | nn_pool(a, -jnp.inf, lax.max)
max pool gradient | 8,32,32,32 | jax.grad(lambda x: (nn_pool(x, -jnp.inf, lax.max) ** 2).sum())(a)
average pool | 8,64,64,32 | nn_pool(a, 0., lax.add) / 4
blur | 512,512 | jsp.signal.convolve2d(a, jnp.ones((5, 5)) / 25, mode='same')
sobel | 512,512 | jnp.hypot(a[:-2, 1:-1] - a[2:, 1:-1], a[1:-1, :-2] - a[1:-1, 2:])
resize | 4,64,64,3 | jax.image.resize(a, (4, 128, 128, 3), 'bilinear')
resize cubic | 2,64,64,3 | jax.image.resize(a, (2, 96, 96, 3), 'cubic')
flip and crop | 16,64,64,3 | jnp.flip(a, 2)[:, 4:60, 4:60]
rgb to gray | u8:256:512,512,3 | (a.astype(jnp.float32) @ jnp.array([.299, .587, .114])).astype(jnp.uint8)
rotate image | 256,256 | jsp.ndimage.map_coordinates(a, rotated(256), order=1)
erosion | 256,256 | -lax.reduce_window(-a, -jnp.inf, lax.max, (3, 3), (1, 1), 'SAME')
multi layer perceptron | 256,784 784,256 256,10 | nn.relu(a @ b) @ c
perceptron gradient | 256,784 784,256 256,10 | jax.grad(lambda u, v: (nn.relu(a @ u) @ v).var(), (0, 1))(b, c)
attention | 4,8,128,64 4,8,128,64 4,8,128,64 | attention(a, b, c)
causal attention gradient | 2,4,128,32 2,4,128,32 2,4,128,32 | jax.grad(lambda q, k, v: (attention(q, k, v, True) ** 2).sum(), (0, 1, 2))(a, b, c)
decode step | 8,64 8,64,512,64 8,64,512,64 s32:512:8 | decode(a, b, c, d)
rotary embedding | 4,128,8,64 | rotary(a)
mixture of experts | 256,64 64,8 8,64,128 8,128,64 | experts(a, b, c, d)
lstm | 50,16,64 128,256 256 | lstm(a, b / 8, c)
gru | 50,16,64 128,192 | gru(a, b / 8)
state space layer | 512,32,16 32,16 | lax.scan(lambda h, x: ((y := jnp.tanh(h * b + x)), y.sum(-1)), jnp.zeros((32, 16)), a)[1]
graph convolution | 2000,32 s32:2000:10000 s32:2000:10000 32,32 | nn.relu(jax.ops.segment_sum((a @ d)[b], c, 2000))
adam step | 500,500 500,500 500,500 500,500 | adam(a, b, c, d * d)
clip by norm | 500,500 300,300 | (lambda n: (a / jnp.maximum(n, 1), b / jnp.maximum(n, 1)))(jnp.sqrt((a * a).sum() + (b * b).sum()))
logistic regression | 200,10 200 | logistic_regression(a, b > 0)
linear regression by descent | 500,20 500 | lax.fori_loop(0, 100, lambda i, w: w - .1 * a.T @ (a @ w - b) / 500, jnp.zeros(20))
gaussian process | 150,3 150 50,3 | gaussian_process(a, b, c)
kalman filter | 100,4 4,4 | kalman(a, b)
hidden markov model | 200,32 32,32 | lax.scan(lambda p, x: ((q := jsp.special.logsumexp(p[:, None] + nn.log_softmax(b), axis=0) + x), q), jnp.zeros(32), a)[0]
viterbi | 200,32 32,32 | viterbi(a, b)
particle filter | 50 1000 | particles(a, b)
markov chain | 2 | metropolis(a)
normal numbers | 2 | random.normal(random.key(1), (300, 1000)) + a[0]
uniform numbers | 2 | random.uniform(random.key(1), (1000, 1000)) * a[0]
gamma numbers | 100 | random.gamma(random.key(1), jnp.abs(a) + 1, (50, 100))
categorical | 200,100 | random.categorical(random.key(1), a, shape=(20, 200))
permutation | 20000 | random.permutation(random.key(1), a)
dropout | 512,512 | jnp.where(random.bernoulli(random.key(1), .9, a.shape), a / .9, 0)
bootstrap | 1000 | jax.vmap(lambda k: random.choice(k, a, (1000,)).mean())(random.split(random.key(1), 50))
monte carlo | 2 | jnp.exp(jnp.cumsum(random.normal(random.key(1), (1000, 252)) * .01, axis=1)).max(1).mean() + a
heat equation | 256,256 | lax.fori_loop(0, 20, lambda i, u: u + .1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u), a)
heat equation, borders | 256,256 | lax.fori_loop(0, 20, lambda i, u: u.at[1:-1, 1:-1].add(.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])), a)
wave equation | 200,200 200,200 | lax.fori_loop(0, 20, lambda i, s: (2 * s[0] - s[1] + .1 * laplacian(s[0]), s[0]), (a, b))
game of life | u8:2:256,256 | lax.fori_loop(0, 10, lambda i, u: life(u), a)
n bodies | 300,3 300,3 | n_bodies(a, b)
lorenz by runge kutta | 3 | lax.fori_loop(0, 200, lambda i, y: runge_kutta(lorenz, y, .01), a)
pendulums | 1000,2 | lax.fori_loop(0, 50, lambda i, y: runge_kutta(lambda s: jnp.stack([s[:, 1], -jnp.sin(s[:, 0])], 1), y, .01), a)
mandelbrot | 2 | mandelbrot(a)
newton roots | 10000 | lax.fori_loop(0, 20, lambda i, x: x - (jnp.exp(x) + x - a) / (jnp.exp(x) + 1), a)
bisection | 10000 | bisection(a)
page rank | 500,500 | lax.fori_loop(0, 30, lambda i, r: .85 * (nn.softmax(a, axis=0) @ r) + .15 / 500, jnp.full(500, 1 / 500))
shortest paths | 128,128 | lax.fori_loop(0, 128, lambda k, d: jnp.minimum(d, d[:, k, None] + d[k]), jnp.abs(a))
edit distance | s32:4:200 s32:4:200 | edit_distance(a, b)
longest increasing run | s32:1000:20000 | lax.scan(lambda s, x: ((n := jnp.where(x > s[1], s[0] + 1, 1), x), n), (0, -1), a)[1].max()
primes | 2 | lax.fori_loop(2, 150, lambda i, s: jnp.where((jnp.arange(20000) % i == 0) & (jnp.arange(20000) > i), False, s), jnp.ones(20000, bool))
hash | u32:100000:100000 | hash32(a)
population count | u32:100000:100000 | lax.population_count(a) + lax.clz(a)
random walk by bits | u32:100000:50000 | jnp.cumsum(2 * (a & 1).astype(jnp.int32) - 1)
quantise | 1000,1000 | jnp.clip(jnp.round(a / (s := jnp.abs(a).max() / 127)), -128, 127).astype(jnp.int8), s
quantised product | s8:256:256,512 s8:256:512,256 | lax.dot(a, b, preferred_element_type=jnp.int32)
pack bits | u8:2:1000,64 | jnp.packbits(a, axis=1)
where and masks | 1000,1000 1000,1000 | jnp.where((a > 0) & (b < 0), a, jnp.where(a < b, b, 0)).sum(1)
count nonzero | 1000,1000 | jnp.count_nonzero(a > 1, axis=0)
argmax | 1000,1000 | a.argmax(1), a.argmin(0)
concatenate and stack | 500,200 500,200 | jnp.stack([jnp.concatenate([a, b], 1), jnp.concatenate([b, a], 1)], 1)
transposes | 64,100,120 | a.transpose(2, 0, 1).reshape(120, -1).T
tile and repeat | 100,50 | jnp.tile(a, (3, 4)) + jnp.repeat(jnp.repeat(a, 3, 0), 4, 1)
pad modes | 300,300 | jnp.pad(a, 8, mode='reflect') + jnp.pad(a, 8, mode='edge')
windows of a signal | 10000 | a[jnp.arange(9000)[:, None] + jnp.arange(64)].max(1)
jacobian | 20 20,20 | jax.jacrev(lambda x: jnp.tanh(b @ x))(a)
hessian | 16 16,16 | jax.hessian(lambda x: jnp.tanh(b @ x).sum())(a)
vectors by jvp | 100 100,100 | jax.jvp(lambda x: nn.softmax(b @ x), (a,), (a,))
f64 statistics | f64:1000,300 | a.mean(0), a.var(0), jnp.exp(a - a.max()).sum(1)
half activations | bf16:512,1024 | nn.gelu(a) * nn.sigmoid(a)
half softmax | f16:256,1024 | nn.softmax(a)
complex arithmetic | c64:300,300 c64:300,300 | a * b / (1 + jnp.abs(a)) + jnp.exp(1j * b.real)
'''

def conv(x, w): return lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
def nn_pool(x, init, op): return lax.reduce_window(x, init, op, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')
def laplacian(u): return sum(jnp.roll(u, s, d) for s in (1, -1) for d in (0, 1)) - 4 * u

def group_norm(x, groups):
    y = x.reshape(*x.shape[:-1], groups, -1)
    return ((y - y.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(y.var((1, 2, 4), keepdims=True) + 1e-5)).reshape(x.shape)

def black_scholes(s, k, r=.02, v=.3):
    d = (jnp.log(s / k) + (r + v * v / 2)) / v
    return s * jsp.stats.norm.cdf(d) - k * jnp.exp(-r) * jsp.stats.norm.cdf(d - v)

def k_means(x, centres):
    nearest = ((x[:, None] - centres) ** 2).sum(-1).argmin(1)
    return jax.ops.segment_sum(x, nearest, 20) / jnp.maximum(jnp.bincount(nearest, length=20), 1)[:, None]

def segment_softmax(x, s, n):
    e = jnp.exp(x - jax.ops.segment_max(x, s, n)[s])
    return e / jax.ops.segment_sum(e, s, n)[s]

def focal_loss(x, y):
    p = nn.sigmoid(x)
    q = jnp.where(y == 1, p, 1 - p)
    return -((1 - q) ** 2 * jnp.log(q + 1e-7)).mean()

def boxes_iou(a, b):
    low, high = jnp.maximum(a[:, None, :2], b[None, :, :2]), jnp.minimum((a[:, :2] + a[:, 2:])[:, None], (b[:, :2] + b[:, 2:])[None])
    both = jnp.prod(jnp.maximum(high - low, 0), -1)
    return both / (jnp.prod(a[:, 2:], -1)[:, None] + jnp.prod(b[:, 2:], -1) - both)

def suppress(boxes, scores):
    order = jnp.argsort(-scores)
    overlap = boxes_iou(boxes[order], boxes[order]) > .5
    return lax.fori_loop(0, 200, lambda i, keep: keep & ~(overlap[i] & keep[i] & (jnp.arange(200) > i)), jnp.ones(200, bool))

def spectrogram(x):
    frames = x[jnp.arange(0, 49000, 256)[:, None] + jnp.arange(512)] * jnp.hanning(512)
    return jnp.log1p(jnp.abs(jnp.fft.rfft(frames)))

def rotated(n):
    y, x = jnp.mgrid[:n, :n] - n / 2
    return [x * .6 + y * .8 + n / 2, y * .6 - x * .8 + n / 2]

def attention(q, k, v, causal=False):
    s = jnp.einsum('bhqd,bhkd->bhqk', q, k) / q.shape[-1] ** .5
    if causal: s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -jnp.inf)
    return jnp.einsum('bhqk,bhkd->bhqd', nn.softmax(s), v)

def decode(q, k, v, length):
    s = jnp.einsum('hd,hsd->hs', q[0][None].repeat(64, 0), k[0]) / 8
    s = jnp.where(jnp.arange(512) <= length[0], s, -jnp.inf)
    return jnp.einsum('hs,hsd->hd', nn.softmax(s), v[0])

def rotary(x):
    angles = jnp.arange(x.shape[1])[:, None] / 10000 ** (jnp.arange(32) / 32)
    sin, cos = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    left, right = jnp.split(x, 2, -1)
    return jnp.concatenate([left * cos - right * sin, right * cos + left * sin], -1)

def experts(x, gate, up, down):
    weights, chosen = lax.top_k(nn.softmax(x @ gate), 2)
    mixed = jnp.einsum('nk,nke->ne', weights, nn.one_hot(chosen, 8))
    return jnp.einsum('ne,nef,efd->nd', mixed, nn.relu(jnp.einsum('nd,edf->nef', x, up)), down)

def lstm(xs, w, b):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], 1) @ w + b, 4, 1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(step, (jnp.zeros((16, 64)),) * 2, xs)[1]

def gru(xs, w):
    def step(h, x):
        r, z, n = jnp.split(jnp.concatenate([x, h], 1) @ w, 3, 1)
        h = (1 - nn.sigmoid(z)) * jnp.tanh(n * nn.sigmoid(r)) + nn.sigmoid(z) * h
        return h, h
    return lax.scan(step, jnp.zeros((16, 64)), xs)[1]

def adam(w, g, m, v):
    m, v = .9 * m + .1 * g, .999 * v + .001 * g * g
    return w - 1e-3 * (m / .1) / (jnp.sqrt(v / .001) + 1e-8), m, v

def logistic_regression(x, y):
    return lax.fori_loop(0, 100, lambda i, w: w - .1 * x.T @ (nn.sigmoid(x @ w) - y) / 200, jnp.zeros(10))

def gaussian_process(x, y, at):
    kernel = lambda p, q: jnp.exp(-((p[:, None] - q) ** 2).sum(-1) / 2)
    factor = jsp.linalg.cho_factor(kernel(x, x) + .1 * jnp.eye(len(x)))
    return kernel(at, x) @ jsp.linalg.cho_solve(factor, y)

def kalman(zs, f):
    f, eye = jnp.eye(4) + f / 50, jnp.eye(4)
    def step(state, z):
        x, p = f @ state[0], f @ state[1] @ f.T + .01 * eye
        gain = jnp.linalg.solve(p + .1 * eye, p).T
        return (x + gain @ (z - x), (eye - gain) @ p), x
    return lax.scan(step, (jnp.zeros(4), eye), zs)[1]

def viterbi(scores, moves):
    def step(p, x):
        every = p[:, None] + moves
        return every.max(0) + x, every.argmax(0)
    best, back = lax.scan(step, jnp.zeros(32), scores)
    return lax.scan(lambda s, b: (b[s], s), best.argmax(), back, reverse=True)[1]

def particles(observed, start):
    def step(state, z):
        key, x, w = state
        key, noise = random.split(key)
        x = x + .1 * random.normal(noise, x.shape)
        w = nn.log_softmax(w - (x - z) ** 2)
        return (key, x, w), (x * jnp.exp(w)).sum()
    return lax.scan(step, (random.key(0), start, jnp.zeros(1000)), observed)[1]

def metropolis(start):
    def step(state, key):
        proposed = state + .5 * random.normal(key, (2,))
        better = jnp.log(random.uniform(random.fold_in(key, 1))) < (state ** 2).sum() - (proposed ** 2).sum()
        state = jnp.where(better, proposed, state)
        return state, state
    return lax.scan(step, start, random.split(random.key(0), 500))[1].mean(0)

def life(u):
    n = sum(jnp.roll(jnp.roll(u, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) - u
    return ((n == 3) | ((n == 2) & (u == 1))).astype(jnp.uint8)

def n_bodies(x, v):
    def step(i, s):
        d = s[0][:, None] - s[0]
        force = -(d / ((d * d).sum(-1, keepdims=True) + .01) ** 1.5).sum(1)
        return s[0] + .01 * s[1], s[1] + .01 * force
    return lax.fori_loop(0, 10, step, (x, v))

def lorenz(y): return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

def runge_kutta(f, y, h):
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + h * k3))

def mandelbrot(a):
    y, x = jnp.mgrid[-1.2:1.2:200j, -2:.6:300j]
    c = x + 1j * y + 0 * a[0]
    def step(i, s):
        z = s[0] * s[0] + c
        return z, s[1] + jnp.exp(-jnp.abs(z))
    return lax.fori_loop(0, 10, step, (c, jnp.zeros(c.shape)))[1]

def bisection(a):
    def step(s):
        low, high, i = s
        mid = (low + high) / 2
        left = mid ** 3 + mid > a
        return jnp.where(left, low, mid), jnp.where(left, mid, high), i + 1
    return lax.while_loop(lambda s: (s[2] < 60) & jnp.any(s[1] - s[0] > 1e-5), step, (jnp.full_like(a, -10), jnp.full_like(a, 10), 0))[0]

def edit_distance(p, q):
    def row(before, x):
        def cell(left, inputs):
            up, corner, y = inputs
            best = jnp.minimum(jnp.minimum(left, up) + 1, corner + (x != y))
            return best, best
        _, rest = lax.scan(cell, before[0] + 1, (before[1:], before[:-1], q))
        return jnp.concatenate([before[:1] + 1, rest]), None
    return lax.scan(row, jnp.arange(len(q) + 1), p)[0][-1]

def hash32(x):
    for shift, factor in ((16, 0x7feb352d), (15, 0x846ca68b), (16, 1)):
        x = (x ^ (x >> shift)) * jnp.uint32(factor)
    return x

TYPES = {'f64': np.float64, 'f16': np.float16, 'bf16': jnp.bfloat16, 's8': np.int8, 'u8': np.uint8, 's32': np.int32, 'u32': np.uint32, 'c64': np.complex64}

def argument(text, numbers):
    """One argument: normally distributed floats, integers below their bound."""
    kind, *bound, dims = text.split(':') if ':' in text else ('f32', text)
    shape = tuple(int(n) for n in dims.split(','))
    if kind == 'spd':
        m = numbers.standard_normal(shape * 2).astype(np.float32)
        return m @ m.T / shape[0] + np.eye(*shape * 2, dtype=np.float32)
    if bound: return (numbers.integers(0, int(bound[0]), shape) - (128 if kind == 's8' else 0)).astype(TYPES[kind])
    x = numbers.standard_normal(shape)
    if kind == 'c64': x = x + 1j * numbers.standard_normal(shape)
    return x.astype(TYPES.get(kind, np.float32))

def main():
    folder, wanted = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ''
    os.makedirs(folder, exist_ok=True)
    for line in TABLE.strip().split('\n'):
        name, shapes, body = (part.strip() for part in line.split(' | ', 2))
        if not re.search(wanted, name): continue
        numbers = np.random.default_rng(1)
        jax.config.update('jax_enable_x64', 'f64' in shapes)
        arguments = [argument(text, numbers) for text in shapes.split()]
        function = eval(f"lambda {', '.join('abcde'[:len(arguments)])}: ({body})", globals())  # pylint: disable=eval-used
        lowered = jax.jit(function, keep_unused=True).lower(*arguments)
        stem = os.path.join(folder, re.sub(r'\W+', '_', name))
        with open(stem + '.hlo', 'w', encoding='utf-8') as file: file.write(lowered.compiler_ir('hlo').as_hlo_text(True))
        np.savez(stem + '.npz', *[x.view(np.uint16) if x.dtype == jnp.bfloat16 else x for x in arguments])

if __name__ == '__main__': main()
