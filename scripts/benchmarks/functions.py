"""Ordinary functions written with JAX, as modules: functions.py FOLDER [RE] writes NAME.hlo and NAME.npz, its arguments,
for each function whose name matches. Runs under a Python that has jax.

The table is what people write when they do not think of a compiler: each row a name, the shapes of the arguments
(f32 unless a type leads; `:N` bounds integers; `spd` a positive definite matrix) and an expression of them.
"""
import os, re, sys
os.environ.setdefault('JAX_PLATFORMS', 'cpu')
import jax, jax.numpy as jnp, numpy as np
import jax.scipy as jsp, jax.scipy.optimize
from jax import lax, nn, random
from function_parts import *  # pylint: disable=wildcard-import,unused-wildcard-import
from function_models import *  # pylint: disable=wildcard-import,unused-wildcard-import

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
transformer block | 2,64,128 128,384 128,128 128,512 512,128 | block(a, b, c, d, e)
transformer block gradient | 2,64,128 128,384 128,128 128,512 512,128 | jax.grad(lambda *w: (block(a, *w) ** 2).mean(), (0, 1, 2, 3))(b, c, d, e)
half transformer block gradient | bf16:2,64,128 bf16:128,384 bf16:128,128 bf16:128,512 bf16:512,128 | jax.grad(lambda *w: (block(a, *w).astype(jnp.float32) ** 2).mean(), (0, 1, 2, 3))(b, c, d, e)
image classifier step | 16,28,28,1 3,3,1,16 3,3,16,32 1568,10 s32:10:16 | classifier_step(a, b, c, d, e)
residual block gradient | 4,16,16,32 3,3,32,32 3,3,32,32 | jax.grad(lambda u, v: (nn.relu(a + conv(nn.relu(conv(a, u)), v)) ** 2).mean(), (0, 1))(b, c)
patches of an image | 4,64,64,3 768,64 | a.reshape(4, 4, 16, 4, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(4, 16, 768) @ b
upsample and join | 2,16,16,32 2,32,32,16 | jnp.concatenate([a.repeat(2, 1).repeat(2, 2), b], -1)
embedding gradient | 5000,32 s32:5000:500,20 | jax.grad(lambda t: (t[b] ** 2).sum())(a)
layer norm gradient | 512,256 256 256 | jax.grad(lambda x, g: (((x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + c) ** 3).sum(), (0, 1))(a, b)
lstm gradient | 30,16,64 128,256 256 | jax.grad(lambda w: (lstm(a, w, c) ** 2).sum())(b / 8)
autoencoder step | 64,256 256,32 32,256 | jax.value_and_grad(lambda w: ((nn.sigmoid(nn.relu(a @ w[0]) @ w[1]) - a) ** 2).mean())((b, c))
sample by nucleus | 8,5000 | nucleus(a)
beam step | 4,8,1000 4,8 | lax.top_k((nn.log_softmax(a) + b[..., None]).reshape(4, 8000), 8)
gumbel softmax | 200,100 | nn.softmax((a - jnp.log(-jnp.log(random.uniform(random.key(1), a.shape) + 1e-9))) / .5)
advantages | 500,16 500,16 | lax.scan(lambda g, x: (x[0] + .95 * g,) * 2, jnp.zeros(16), (a, b), reverse=True)[1]
value iteration | 100,4,100 100,4 | lax.fori_loop(0, 50, lambda i, v: (b + .9 * jnp.einsum('saj,j->sa', nn.softmax(a), v)).max(1), jnp.zeros(100))
ctc loss | 4,50,20 s32:19:4,10 | ctc(nn.log_softmax(a), b + 1)
dynamic time warping | 150 150 | warp(a, b)
smith waterman | s32:4:150 s32:4:150 | align(a, b)
sinkhorn | 150,150 | lax.fori_loop(0, 50, lambda i, f: -jsp.special.logsumexp(a - jsp.special.logsumexp(a + f[:, None], axis=0), axis=1), jnp.zeros(150))
gaussian mixture step | 2000,4 8,4 8 | mixture_step(a, b, c)
kernel density | 2000 500 | jnp.exp(-((b[:, None] - a) ** 2) * 10).mean(1)
ridge regression | 500,30 500 | jnp.linalg.solve(a.T @ a + .1 * jnp.eye(30), a.T @ b)
lasso by coordinates | 200,30 200 | lasso(a, b)
principal axes | 500,20 | jnp.abs(jnp.linalg.svd(a - a.mean(0), full_matrices=False)[2])
bfgs | 10 | jsp.optimize.minimize(lambda x: ((x[1:] - x[:-1] ** 2) ** 2).sum() + ((1 - x) ** 2).sum(), a * .1, method='BFGS', options={'maxiter': 30}).x
adaptive steps | 100,2 | adaptive(a)
crank nicolson | 200 | lax.fori_loop(0, 20, lambda i, u: tridiagonal(jnp.full(200, -.1), jnp.full(200, 1.2), jnp.full(200, -.1), u), a)
poisson by fft | 128,128 | jnp.fft.irfft2(jnp.fft.rfft2(a) / (1 + (jnp.fft.fftfreq(128)[:, None] * 128) ** 2 + jnp.arange(65) ** 2.))
lattice boltzmann | 9,64,64 | lax.fori_loop(0, 10, lambda i, f: boltzmann(f), jnp.abs(a) + 1)
recursive filter | 20000 | lax.scan(lambda s, x: ((y := x + 1.6 * s[0] - .8 * s[1], s[0]), y), (0., 0.), a)[1]
autocorrelation | 4096 | jnp.fft.irfft(jnp.abs(jnp.fft.rfft(a, 8192)) ** 2)[:100]
median filter | 128,128 | jnp.median(jnp.stack([jnp.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]), 0)
bilateral filter | 128,128 | bilateral(a)
histogram equalisation | u8:256:256,256 | (lambda h: (jnp.cumsum(h) * 255 // h.sum()).astype(jnp.uint8)[a])(jnp.bincount(a.ravel(), length=256))
connected components | u8:2:64,64 | components(a)
warp by affine maps | 8,64,64 8,2,3 | jax.vmap(affine)(a, b)
ray marching | 64,64 | march(a)
value noise | 200,200 | noise(a * 8)
quaternions | 10000,4 10000,3 | rotate(a / jnp.linalg.norm(a, axis=1, keepdims=True), b)
small products | 5000,3,3 5000,3,3 | a @ b
small products of vectors | 5000,4,4 5000,4 | jnp.einsum('nij,nj->ni', a, b)
small inverses | 1000,3,3 | jnp.linalg.inv(a + 3 * jnp.eye(3))
small eigenvalues | 500,3,3 | jnp.linalg.eigvalsh(a + a.transpose(0, 2, 1))
cross products | 10000,3 10000,3 | jnp.cross(a, b)
sparse product | 5000 s32:1000:5000,2 1000,16 | jnp.zeros((1000, 16)).at[b[:, 0]].add(a[:, None] * c[b[:, 1]])
label spreading | 300,300 300,5 | lax.fori_loop(0, 10, lambda i, y: nn.softmax(nn.softmax(a) @ y + b), b)
breadth first search | u8:20:300,300 | lax.fori_loop(0, 10, lambda i, s: s | ((s.astype(jnp.float32) @ (a == 0).astype(jnp.float32)) > 0), jnp.arange(300) == 0)
bitonic sort | 4096 | bitonic(a)
prefix of lengths | s32:50:2000 | jnp.repeat(jnp.arange(2000), a, total_repeat_length=60000)
compact | 20000 | a[jnp.nonzero(a > 0, size=12000)[0]]
group by sorting | s32:100:20000 20000 | (lambda o: jnp.cumsum(b[o])[jnp.searchsorted(a[o], jnp.arange(100), side='right') - 1])(jnp.argsort(a))
running median | 2000 | jnp.median(a[jnp.arange(1900)[:, None] + jnp.arange(101)], 1)
sets | s32:5000:3000 s32:5000:3000 | jnp.isin(a, b)
time of day | s32:86400:50000 | jnp.stack([a // 3600, a // 60 % 60, a % 60], 1)
decimal digits | u32:1000000:20000 | (a[:, None] // 10 ** jnp.arange(6, dtype=jnp.uint32)) % 10
checksum | u8:256:100000 | lax.fori_loop(0, 100, lambda i, s: (s * 31 + a.reshape(100, 1000)[i].astype(jnp.uint32)) % 65521, jnp.zeros(1000, jnp.uint32))
long integers | s64:1000000:200,200 s64:1000000:200,200 | (a @ b) % 1000003
half sums | bf16:1000,1000 | a.sum(0), a.sum(1), a.mean()
half convolution | bf16:4,32,32,32 bf16:3,3,32,64 | conv(a, b)
f16 matrix product | f16:256,256 f16:256,256 | a @ b
f64 layer norm | f64:256,512 | (a - a.mean(-1, keepdims=True)) / jnp.sqrt(a.var(-1, keepdims=True) + 1e-5)
f64 special functions | f64:100,100 | jsp.special.erf(a) + jnp.exp(a) * jnp.sin(a) + jnp.log1p(jnp.abs(a))
f64 solve | f64:100,100 f64:100,3 | jnp.linalg.solve(a, b)
complex fft filter | c64:32,512 | jnp.fft.ifft(jnp.fft.fft(a) * jnp.exp(-jnp.arange(512) / 100))
quantum gates | c64:4096 c64:2,2 | gates(a, b)
perceptron step, half | bf16:128,64 bf16:25856 s32:10:128 | mlp_step(a, b, c)
perceptron step, three layers | 128,64 25856 s32:10:128 | mlp_step(a, b, c)
layer norm gradient, all | 1024,512 512 512 1024,512 | jax.vjp(layer_norm, a, b, c)[1](d)
half layer norm gradient | bf16:1024,512 bf16:512 bf16:512 bf16:1024,512 | jax.vjp(lambda x, g, b: layer_norm(x.astype(jnp.float32), g, b), a, b.astype(jnp.float32), c.astype(jnp.float32))[1](d.astype(jnp.float32))
batch norm gradient | 16,28,28,64 64 64 16,28,28,64 | jax.vjp(batch_norm, a, b, c)[1](d)
group norm and gate | 4,16,16,64 64 | group_norm_silu(a, b)
group norm and gate, gradient | 4,16,16,64 64 | jax.grad(lambda x, g: (group_norm_silu(x, g) ** 2).sum(), (0, 1))(a, b)
rms norm gradient | 1024,512 512 1024,512 | jax.vjp(lambda x, g: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g, a, b)[1](c)
gated layer gradient | 256,128 128,256 128,256 256,128 | jax.grad(lambda u, v, w: (((nn.silu(a @ u) * (a @ v)) @ w) ** 2).mean(), (0, 1, 2))(b / 10, c / 10, d / 10)
lstm of 100 steps | 100,32,128 384,1024 1024 | lstm(a, b / 20, c)
lstm of 100 steps trained | 100,32,128 384,1024 1024 | training(lstm, a, b / 20, c)
two layers of lstm trained | 50,16,64 128,256 128,256 256 | training(two_layers, a, b / 11, c / 11, d)
lstm of one sequence | 200,1,64 192,512 512 | lstm(a, b / 14, c)
gru of 100 steps | 100,32,128 384,768 | gru(a, b / 20)
gru of 100 steps trained | 100,32,128 384,768 | training(gru, a, b / 20)
recurrent step | 96,64 20,16,32 20,16,64 | rnn_step(a / 10, b, c)
half recurrent step | bf16:96,64 bf16:20,16,32 bf16:20,16,64 | rnn_step(a / 10, b, c)
lion over a tree | 300,400 400 100,30,20 | optimizer('lion', [a, b, c], [a * .1, b * .2, c * .3])
rms steps over a tree | 300,400 400 100,30,20 | optimizer('rmsprop', [a, b, c], [a * .1, b * .2, c * .3])
factored second moments | 300,400 500,200 | optimizer('adafactor', [a, b], [a * .1, b * .2])
gradient norms of a tree | 300,400 400 100,30,20 | [jnp.sqrt((x * x).sum()) for x in (a, b, c)], sum(jnp.abs(x).max() for x in (a, b, c))
sums of one array | 1000,1000 | a.sum(), (a * a).sum(), a.max(), a.min(), jnp.abs(a).sum()
sums of rows | 1000,1000 | a.sum(1), (a * a).sum(1), a.max(1), a.min(1)
sums of columns | 1000,1000 | a.sum(0), (a * a).sum(0), a.max(0), a.min(0)
several of one array | 500,1000 | jnp.exp(a), nn.relu(a), a > 0, (a * 2).astype(jnp.bfloat16)
beam search | 30,500 | beam_search(a)
lloyd | 2000,8 16,8 | lloyd(a, b)
page rank of a graph | s32:2000:20000 s32:2000:20000 | page_rank(a, b, 2000)
kalman filters | 100,50 | kalman_batch(a)
threefry | u32:100000:2 | threefry_bits(a, 100000)
shuffled batches | 1000,16 | jax.vmap(lambda k: a[random.permutation(k, 1000)[:64]].sum(0))(random.split(random.key(1), 8))
poisson numbers | 100,100 | random.poisson(random.key(1), jnp.abs(a) * 3)
truncated normal | 2 | random.truncated_normal(random.key(1), -2, 2, (300, 300)) + a[0]
augmentation | 32,32,32,3 | augment(a)
random crops | 16,64,64,3 s32:16:16,2 | random_crops(a, b)
color to luminance | 512,512,3 | a @ jnp.array([.299, .587, .114])
channels first | 16,64,64,3 | a.transpose(0, 3, 1, 2) / 255
mirrored | 500,500 | a[::-1, ::-1] + a[:, ::-1]
every other | 512,512 | a[::2, ::2] + a[1::2, ::2] + a[::2, 1::2] + a[1::2, 1::2]
pyramid | 256,256 | (d := a.reshape(128, 2, 128, 2).mean((1, 3))), d.reshape(64, 2, 64, 2).mean((1, 3))
sampling the top | 64,2000 | top_p_k(a)
quantised layer | 128,512 s8:256:512,256 256 | int8_layer(a, b, c)
quantised gradient | 300,300 | (lambda s: (a / s + (jnp.round(a / s) - a / s)) * s)(jnp.abs(a).max() / 127)
reversed bits | u32:1000000000:100000 | swap_bits(a)
space filling curve | u32:65536:100000 u32:65536:100000 | morton(a, b)
cyclic redundancy | u32:256:20,1000 | crc32(a)
remainders | s32:1000000:100000 s32:1000:100000 | a % 97, a // 97, a % (b + 1), a // (b + 1)
leap years | s32:3000:100000 | ((a % 4 == 0) & (a % 100 != 0)) | (a % 400 == 0)
ranks | 5000 | ranks(a)
sort of records | s32:100:20000 20000 20000 | lax.sort((a, b, c), num_keys=2)
sort of halves | bf16:100,500 | jnp.sort(a, axis=0)
unique with counts | s32:100:10000 | jnp.unique(a, size=100, fill_value=0, return_counts=True)
histogram in two dimensions | 20000 20000 | jnp.histogram2d(a, b, bins=20)[0]
one hot sums | s32:50:20000 20000 | nn.one_hot(a, 50).T @ b
contrastive loss | 128,64 128,64 | contrastive(a, b)
gradient of a contrastive loss | 128,64 128,64 | jax.grad(contrastive, (0, 1))(a, b)
returns and advantages | 200,64 200,64 u8:2:200,64 | gae_and_returns(a, b, c)
policy loss | 2000,18 s32:18:2000 2000 2000 | jax.value_and_grad(ppo_loss)(a, b, c, d)
selective scan | 200,64 64,16 200,16 200,16 | selective_scan(a, b, c, d)
down and up | 2,32,32,16 3,3,16,16 3,3,16,16 | unet_block(a, b, c)
seasons | 1000 | holt_winters(a)
running variance | 1000,32 | ewma_var(a)
attention of one layer, gradient | 2,64,128 128,384 | jax.grad(lambda w: (attention_bias(a, w) ** 2).mean())(b / 10)
cart poles | 4,1000 100,1000 | rollout(a, b)
octaves | 300,300 | octaves(a)
normals of a surface | 5000,3 | sdf_normal(a)
cubic splines | 1000 20000 | cubic_splines(a, jnp.abs(b) * 300)
angles | 3000,2,2 | jacobi_svd_angles(a)
cepstra | 16000 257,40 | mel(a, b)
polynomial features | 1000,10 | (a[:, :, None] * a[:, None, :]).reshape(1000, 100)
weighted means | 500,200 500,200 | (a * b).sum(0) / b.sum(0), (a * b).sum(1) / b.sum(1)
batched traces | 1000,8,8 | jnp.trace(a, axis1=1, axis2=2), jnp.einsum('nii->ni', a), a.transpose(0, 2, 1) + a
small cholesky | spd:6 500,6,6 | jnp.linalg.cholesky(a + jnp.einsum('nij,nkj->nik', b, b))
mahalanobis | 1000,8 spd:8 | ((x := a - a.mean(0)) @ jnp.linalg.inv(b) * x).sum(1)
sparse rows | 20000 s32:1000:20000 s32:2000:20000 1000 | jax.ops.segment_sum(a * d[b], c, 2000)
bm matrix | 20,20 s32:10:500,4 | jax.vmap(lambda i: a[jnp.ix_(i, i)])(b)
sum of a window | 1000,500 | lax.reduce_window(a, 0., lax.add, (1, 7), (1, 1), 'SAME')
cumulative logsumexp | 200,500 | lax.cumlogsumexp(a, axis=1)
triangles | 300,300 | jnp.tril(a) @ jnp.triu(a)
roll of rows | 300,400 s32:400:300 | jax.vmap(jnp.roll)(a, b)
complex arithmetic | c64:300,300 c64:300,300 | a * b / (1 + jnp.abs(a)) + jnp.exp(1j * b.real)
'''

TYPES = {'f64': np.float64, 'f16': np.float16, 'bf16': jnp.bfloat16, 's8': np.int8, 'u8': np.uint8, 's32': np.int32, 's64': np.int64, 'u32': np.uint32, 'c64': np.complex64}

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
        jax.config.update('jax_enable_x64', '64:' in shapes.replace('c64:', ''))
        arguments = [argument(text, numbers) for text in shapes.split()]
        function = eval(f"lambda {', '.join('abcde'[:len(arguments)])}: ({body})", globals())  # pylint: disable=eval-used
        lowered = jax.jit(function, keep_unused=True).lower(*arguments)
        stem = os.path.join(folder, re.sub(r'\W+', '_', name))
        with open(stem + '.hlo', 'w', encoding='utf-8') as file: file.write(lowered.compiler_ir('hlo').as_hlo_text(True))
        np.savez(stem + '.npz', *[x.view(np.uint16) if x.dtype == jnp.bfloat16 else x for x in arguments])

if __name__ == '__main__': main()
