"""What rows of functions.py are made of: layers, loss functions, steps of simulations and of dynamic programming."""
import jax, jax.numpy as jnp
import jax.scipy as jsp
from jax import lax, nn, random

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
    return lax.scan(step, (jnp.zeros((xs.shape[1], w.shape[1] // 4)),) * 2, xs)[1]

def gru(xs, w):
    def step(h, x):
        r, z, n = jnp.split(jnp.concatenate([x, h], 1) @ w, 3, 1)
        h = (1 - nn.sigmoid(z)) * jnp.tanh(n * nn.sigmoid(r)) + nn.sigmoid(z) * h
        return h, h
    return lax.scan(step, jnp.zeros((xs.shape[1], w.shape[1] // 3)), xs)[1]

def two_layers(xs, w, v, b): return lstm(lstm(xs, w, b), v, b)

def training(cell, xs, *weights):
    """Loss and gradients by all weights of what a cell makes of a sequence."""
    return jax.value_and_grad(lambda ws: (cell(xs, *ws) ** 2).mean())(weights)

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

def block(x, qkv, out, up, down):
    def norm(t): return (t - t.mean(-1, keepdims=True)) * lax.rsqrt(t.var(-1, keepdims=True) + 1e-5)
    q, k, v = (t.reshape(2, 64, 4, 32).transpose(0, 2, 1, 3) for t in jnp.split(norm(x) @ qkv * .1, 3, -1))
    x = x + attention(q, k, v, True).transpose(0, 2, 1, 3).reshape(x.shape) @ out * .1
    return x + nn.gelu(norm(x) @ up * .1) @ down * .1

def classifier_step(x, u, v, w, label):
    def loss(u, v, w):
        y = nn_pool(nn.relu(conv(x, u)), -jnp.inf, lax.max)
        y = nn_pool(nn.relu(conv(y, v * .1)), -jnp.inf, lax.max)
        scores = nn.log_softmax(y.reshape(16, -1) @ w * .1)
        return -jnp.take_along_axis(scores, label[:, None], 1).mean()
    return [p - .01 * g for p, g in zip((u, v, w), jax.grad(loss, (0, 1, 2))(u, v, w))]

def nucleus(scores):
    order = jnp.argsort(-scores, axis=-1)
    p = jnp.take_along_axis(nn.softmax(scores), order, -1)
    kept = jnp.where(jnp.cumsum(p, -1) - p < .9, jnp.log(p), -jnp.inf)
    return jnp.take_along_axis(order, random.categorical(random.key(1), kept)[:, None], -1)

def ctc(scores, labels):
    extended = jnp.zeros((4, 21), jnp.int32).at[:, 1::2].set(labels)
    skips = jnp.pad((extended[:, 2:] != extended[:, :-2]) & (extended[:, 2:] != 0), ((0, 0), (2, 0)))
    def step(a, x):
        back = lambda n: jnp.pad(a, ((0, 0), (n, 0)), constant_values=-1e9)[:, :21]
        a = jsp.special.logsumexp(jnp.stack([a, back(1), jnp.where(skips, back(2), -1e9)]), axis=0)
        return a + jnp.take_along_axis(x, extended, 1), None
    start = jnp.full((4, 21), -1e9).at[:, 0].set(0.)
    return -jsp.special.logsumexp(lax.scan(step, start, scores.transpose(1, 0, 2))[0][:, -2:], axis=1)

def table_rows(cell, first, rows, columns):
    def row(before, x):
        def step(left, inputs):
            best = cell(left, inputs[0], inputs[1], x, inputs[2])
            return best, best
        _, rest = lax.scan(step, first, (before[1:], before[:-1], columns))
        after = jnp.concatenate([jnp.full(1, first, rest.dtype), rest])
        return after, after.max()
    return row

def warp(p, q):
    row = table_rows(lambda left, up, corner, x, y: jnp.minimum(jnp.minimum(left, up), corner) + (x - y) ** 2, 1e9, p, q)
    return lax.scan(row, jnp.full(151, 1e9).at[0].set(0.), p)[0][-1]

def align(p, q):
    row = table_rows(lambda left, up, corner, x, y: jnp.maximum(jnp.maximum(left - 2, up - 2), jnp.maximum(corner + jnp.where(x == y, 3, -3), 0)), 0, p, q)
    return lax.scan(row, jnp.zeros(151, jnp.int32), p)[1].max()

def mixture_step(x, means, weights):
    r = nn.softmax(nn.log_softmax(weights) - ((x[:, None] - means) ** 2).sum(-1) / 2)
    return (r.T @ x) / r.sum(0)[:, None], jnp.log(r.mean(0))

def lasso(x, y):
    def sweep(i, w):
        def one(j, w):
            rest = y - x @ w + x[:, j] * w[j]
            z = x[:, j] @ rest / 200
            return w.at[j].set(jnp.sign(z) * jnp.maximum(jnp.abs(z) - .1, 0) / (x[:, j] @ x[:, j] / 200))
        return lax.fori_loop(0, 30, one, w)
    return lax.fori_loop(0, 10, sweep, jnp.zeros(30))

def adaptive(y):
    f = lambda s: jnp.stack([s[:, 1], (1 - s[:, 0] ** 2) * s[:, 1] - s[:, 0]], 1)
    def step(s):
        t, h, y, n = s
        full, half = runge_kutta(f, y, h), runge_kutta(f, runge_kutta(f, y, h / 2), h / 2)
        good = jnp.abs(full - half).max() < 1e-3
        return jnp.where(good, t + h, t), jnp.where(good, h * 1.2, h / 2), jnp.where(good, half, y), n + 1
    return lax.while_loop(lambda s: (s[0] < 1) & (s[3] < 200), step, (0., .1, y, 0))[2]

def tridiagonal(a, b, c, d):
    def down(s, x):
        a, b, c, d = x
        m = b - a * s[0]
        s = (c / m, (d - a * s[1]) / m)
        return s, s
    _, (p, q) = lax.scan(down, (0., 0.), (a, b, c, d))
    return lax.scan(lambda x, s: (s[1] - s[0] * x,) * 2, 0., (p, q), reverse=True)[1]

def boltzmann(f):
    moves = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    f = jnp.stack([jnp.roll(f[i], m, (0, 1)) for i, m in enumerate(moves)])
    c, w = jnp.array(moves, jnp.float32), jnp.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    density = f.sum(0)
    u = jnp.einsum('nd,nxy->dxy', c, f) / density
    cu = jnp.einsum('nd,dxy->nxy', c, u)
    return f + .6 * (density * w[:, None, None] * (1 + 3 * cu + 4.5 * cu ** 2 - 1.5 * (u ** 2).sum(0)) - f)

def bilateral(x):
    total, weight = 0., 0.
    for i in range(-2, 3):
        for j in range(-2, 3):
            y = jnp.roll(x, (i, j), (0, 1))
            w = jnp.exp(-(i * i + j * j) / 8 - (x - y) ** 2)
            total, weight = total + w * y, weight + w
    return total / weight

def components(mask):
    labels = jnp.where(mask == 1, jnp.arange(64 * 64).reshape(64, 64) + 1, 0)
    def step(s):
        best = lax.reduce_window(s[0], 0, lax.max, (3, 3), (1, 1), 'SAME') * (mask == 1)
        return best, jnp.any(best != s[0])
    return lax.while_loop(lambda s: s[1], step, (labels, True))[0]

def affine(image, m):
    y, x = jnp.mgrid[:64, :64] - 32.
    at = [32 + y + .1 * (m[0, 0] * y + m[0, 1] * x + m[0, 2]), 32 + x + .1 * (m[1, 0] * y + m[1, 1] * x + m[1, 2])]
    return jsp.ndimage.map_coordinates(image, at, order=1)

def march(a):
    y, x = jnp.mgrid[-1:1:64j, -1:1:64j]
    rays = jnp.stack([x, y, jnp.ones_like(x)], -1)
    rays = rays / jnp.linalg.norm(rays, axis=-1, keepdims=True)
    def step(i, t):
        p = rays * t[..., None] - jnp.array([0, 0, 3.])
        return t + jnp.minimum(jnp.sqrt((p ** 2).sum(-1)) - 1, jnp.abs(p[..., 1] + 1))
    return lax.fori_loop(0, 40, step, jnp.zeros((64, 64)) + .01 * jnp.abs(a))

def noise(x):
    cell, part = jnp.floor(x), x - jnp.floor(x)
    smooth = part * part * (3 - 2 * part)
    value = lambda i: hash32(i.astype(jnp.int32).view(jnp.uint32)).astype(jnp.float32) / 2.0 ** 32
    return value(cell) * (1 - smooth) + value(cell + 1) * smooth

def rotate(q, v):
    u, s = q[:, 1:], q[:, :1]
    return v + 2 * jnp.cross(u, jnp.cross(u, v) + s * v)

def bitonic(x):
    i = jnp.arange(4096)
    k = 2
    while k <= 4096:
        j = k // 2
        while j:
            y = x[i ^ j]
            low = ((i & k) == 0) == ((i & j) == 0)
            x = jnp.where(low, jnp.minimum(x, y), jnp.maximum(x, y))
            j //= 2
        k *= 2
    return x

def gates(state, gate):
    for i in range(12):
        state = jnp.moveaxis(jnp.tensordot(gate, state.reshape(2 ** i, 2, -1), (1, 1)), 0, 1).reshape(-1)
        state = state / jnp.linalg.norm(state)
    return state
