"""More of what rows of functions.py are made of: training steps, filters, searches, simulations."""
import jax, jax.numpy as jnp
import jax.scipy as jsp
from jax import lax, nn, random
from function_parts import attention, conv, nn_pool

def mlp_step(x, w, y):
    """A step of descent with momentum over a list of weights."""
    sizes = [(64, 128), (128, 128), (128, 10)]
    parts, at = [], 0
    for m, n in sizes:
        parts.append(w[at:at + m * n].reshape(m, n))
        at += m * n
    def loss(ws):
        h = x
        for u in ws[:-1]: h = nn.relu(h @ u * .1)
        return -jnp.take_along_axis(nn.log_softmax((h @ ws[-1]).astype(jnp.float32)), y[:, None], 1).mean()
    value, grads = jax.value_and_grad(loss)(parts)
    norm = jnp.sqrt(sum((g.astype(jnp.float32) ** 2).sum() for g in grads))
    return value, [(p - .01 * g / jnp.maximum(norm, 1).astype(p.dtype)) for p, g in zip(parts, grads)]

def batch_norm(x, g, b):
    m, v = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - m) * lax.rsqrt(v + 1e-5) * g + b

def layer_norm(x, g, b):
    m = x.mean(-1, keepdims=True)
    return (x - m) * lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b

def rnn_step(w, xs, ys):
    def loss(w):
        def step(h, x):
            h = jnp.tanh(x @ w[:32] + h @ w[32:])
            return h, h
        return ((lax.scan(step, jnp.zeros((16, 64), w.dtype), xs)[1] - ys) ** 2).mean()
    return w - .1 * jax.grad(loss)(w)

def optimizer(kind, ws, gs):
    """One step over a tree of parameters."""
    def one(w, g):
        m, v = .9 * g, .01 * g * g
        if kind == 'lion': return w - 1e-3 * jnp.sign(m + .1 * g), m
        if kind == 'rmsprop': return w - 1e-3 * g * lax.rsqrt(v + 1e-8), v
        r, c = v.mean(-1), v.mean(0)
        return w - 1e-3 * g * lax.rsqrt(r[:, None] * c / r.mean() + 1e-8), r, c
    return jax.tree.map(one, ws, gs)

def beam_search(scores):
    def step(s, x):
        total, tokens, n = s
        every = (total[:, None] + nn.log_softmax(x)[None] + .01 * tokens[:, :1]).reshape(-1)
        best, at = lax.top_k(every, 4)
        tokens = tokens[at // 500].at[:, n].set((at % 500).astype(jnp.float32))
        return (best, tokens, n + 1), best
    return lax.scan(step, (jnp.zeros(4), jnp.zeros((4, 30)), 0), scores)[0][1]

def lloyd(x, c):
    def step(i, c):
        d = (x * x).sum(1)[:, None] - 2 * x @ c.T + (c * c).sum(1)
        hot = nn.one_hot(d.argmin(1), 16)
        return hot.T @ x / jnp.maximum(hot.sum(0), 1)[:, None]
    return lax.fori_loop(0, 10, step, c)

def page_rank(source, target, n):
    degree = jax.ops.segment_sum(jnp.ones(len(source)), source, n)
    def step(i, r): return .15 / n + .85 * jax.ops.segment_sum((r / jnp.maximum(degree, 1))[source], target, n)
    return lax.fori_loop(0, 20, step, jnp.full(n, 1 / n))

def kalman_batch(zs):
    """A constant-velocity filter for each of many tracks."""
    f, h = jnp.array([[1., 1.], [0., 1.]]), jnp.array([1., 0.])
    def step(state, z):
        x, p = f @ state[0], f @ state[1] @ f.T + .01 * jnp.eye(2)
        s = h @ p @ h + 1
        k = p @ h / s
        return (x + k * (z - h @ x), p - jnp.outer(k, h @ p)), x[0]
    return jax.vmap(lambda z: lax.scan(step, (jnp.zeros(2), jnp.eye(2)), z)[1])(zs)

def threefry_bits(key, count):
    return random.bits(random.wrap_key_data(key), (count,))

def group_norm_silu(x, g):
    y = x.reshape(4, 16, 16, 8, 8)
    y = (y - y.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(y.var((1, 2, 4), keepdims=True) + 1e-5)
    return nn.silu(y.reshape(x.shape) * g)

def augment(x):
    """Normalised, flipped, brightened and cut out images."""
    keys = random.split(random.key(1), 4)
    flip = random.bernoulli(keys[0], .5, (len(x), 1, 1, 1))
    y = jnp.where(flip, x[:, :, ::-1], x)
    y = y * random.uniform(keys[1], (len(x), 1, 1, 1), minval=.8, maxval=1.2)
    at = random.randint(keys[2], (len(x), 2), 0, 24)
    row, column = jnp.arange(32)[:, None] - at[:, 0, None, None], jnp.arange(32) - at[:, 1, None, None]
    hole = (row >= 0) & (row < 8) & (column >= 0) & (column < 8)
    return (jnp.where(hole[..., None], 0, y) - jnp.array([.5, .4, .3])) / jnp.array([.2, .2, .2])

def random_crops(x, at):
    return jax.vmap(lambda image, i: lax.dynamic_slice(image, (i[0], i[1], 0), (48, 48, 3)))(x, at)

def top_p_k(scores):
    values, at = lax.top_k(scores, 40)
    return jnp.take_along_axis(at, random.categorical(random.key(2), values / .7)[:, None], 1)

def int8_layer(x, w, scale):
    s = jnp.abs(x).max(1, keepdims=True) / 127
    q = jnp.clip(jnp.round(x / s), -127, 127).astype(jnp.int8)
    return lax.dot(q, w, preferred_element_type=jnp.int32).astype(jnp.float32) * s * scale

def swap_bits(x):
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0f0f0f0f), (8, 0x00ff00ff)):
        x = ((x >> shift) & jnp.uint32(mask)) | ((x & jnp.uint32(mask)) << shift)
    return (x >> 16) | (x << 16)

def morton(x, y):
    def spread(v):
        for shift, mask in ((8, 0x00ff00ff), (4, 0x0f0f0f0f), (2, 0x33333333), (1, 0x55555555)):
            v = (v | (v << shift)) & jnp.uint32(mask)
        return v
    return spread(x & 0xffff) | (spread(y & 0xffff) << 1)

def crc32(words):
    def bit(i, c): return (c >> 1) ^ jnp.where(c & 1, jnp.uint32(0xedb88320), jnp.uint32(0))
    return lax.scan(lambda c, x: (lax.fori_loop(0, 8, bit, c ^ x), None), jnp.full(1000, 0xffffffff, jnp.uint32), words)[0]

def ranks(x):
    return jnp.argsort(jnp.argsort(x)) / len(x)

def contrastive(a, b):
    a, b = a / jnp.linalg.norm(a, axis=1, keepdims=True), b / jnp.linalg.norm(b, axis=1, keepdims=True)
    s = a @ b.T * 10
    return -(jnp.diag(nn.log_softmax(s)) + jnp.diag(nn.log_softmax(s, axis=0))).mean()

def gae_and_returns(r, v, d):
    def step(s, x):
        r, v, d = x
        delta = r + .99 * s[1] * (1 - d) - v
        g = delta + .99 * .95 * (1 - d) * s[0]
        return (g, v), (g, g + v)
    return lax.scan(step, (jnp.zeros(64), jnp.zeros(64)), (r, v, d), reverse=True)[1]

def ppo_loss(logits, actions, old, gains):
    logp = jnp.take_along_axis(nn.log_softmax(logits), actions[:, None], 1)[:, 0]
    ratio = jnp.exp(logp - old)
    entropy = -(nn.softmax(logits) * nn.log_softmax(logits)).sum(-1)
    return -(jnp.minimum(ratio * gains, jnp.clip(ratio, .8, 1.2) * gains) + .01 * entropy).mean()

def selective_scan(x, a, b, c):
    def step(h, s):
        x, b, c = s
        h = h * jnp.exp(-jnp.abs(a)) + x[:, None] * b[None]
        return h, (h * c[None]).sum(-1)
    return lax.scan(step, jnp.zeros((64, 16)), (x, b, c))[1]

def unet_block(x, u, v):
    y = nn.relu(conv(x, u))
    down = nn_pool(y, -jnp.inf, lax.max)
    up = jnp.repeat(jnp.repeat(nn.relu(conv(down, v)), 2, 1), 2, 2)
    return jnp.concatenate([y, up], -1)

def holt_winters(x):
    def step(s, x):
        level, trend, season = s
        new = .3 * (x - season[0]) + .7 * (level + trend)
        return (new, .1 * (new - level) + .9 * trend, jnp.append(season[1:], .2 * (x - new) + .8 * season[0])), level + trend + season[0]
    return lax.scan(step, (0., 0., jnp.zeros(12)), x)[1]

def ewma_var(x):
    def step(s, v):
        m, q = s
        d = v - m
        m = m + .1 * d
        q = .9 * (q + .1 * d * d)
        return (m, q), (m, jnp.sqrt(q))
    return lax.scan(step, (x[0], jnp.zeros(x.shape[1])), x)[1]

def attention_bias(x, w):
    q, k, v = jnp.split(x @ w, 3, -1)
    return (attention(*(t.reshape(2, 64, 4, 32).transpose(0, 2, 1, 3) for t in (q, k, v)), True)).sum(1)

def rollout(x, u):
    """Cart-poles under given forces."""
    def step(s, f):
        p, v, t, w = s
        sin, cos = jnp.sin(t), jnp.cos(t)
        temp = (f + .05 * w * w * sin) / 1.1
        acc = (9.8 * sin - cos * temp) / (.5 * (4 / 3 - .1 * cos * cos / 1.1))
        s = (p + .02 * v, v + .02 * (temp - .05 * acc * cos / 1.1), t + .02 * w, w + .02 * acc)
        return s, s[2]
    return lax.scan(step, tuple(x), u)[1]

def octaves(x):
    return sum(jnp.sin(x * 2. ** i + i) / 2 ** i for i in range(6))

def sdf_normal(p):
    def d(q): return jnp.sqrt((q * q).sum()) - 1 + .1 * jnp.sin(5 * q).prod()
    n = jax.vmap(jax.grad(d))(p)
    return n / jnp.linalg.norm(n, axis=1, keepdims=True)

def cubic_splines(y, at):
    i = jnp.clip(at.astype(jnp.int32), 1, len(y) - 3)
    t = at - i
    p0, p1, p2, p3 = y[i - 1], y[i], y[i + 1], y[i + 2]
    return p1 + .5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)))

def jacobi_svd_angles(a):
    return jax.vmap(lambda m: jnp.arctan2(2 * (m[:, 0] @ m[:, 1]), (m[:, 0] ** 2).sum() - (m[:, 1] ** 2).sum()))(a)

def mel(x, filters):
    frames = x[jnp.arange(0, 15000, 160)[:, None] + jnp.arange(400)] * jnp.hanning(400)
    power = jnp.abs(jnp.fft.rfft(frames, 512)) ** 2
    return jsp.fft.dct(jnp.log(power @ jnp.abs(filters) + 1e-6), axis=1)[:, :13]
