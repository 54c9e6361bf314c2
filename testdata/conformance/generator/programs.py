"""Suites of gradients, whole programs, optimised modules."""
import numpy as np
import jax, jax.numpy as jnp
from jax import lax
from generator.machinery import DT, J, close, suite
from generator.data import ints, normal, uniform
from generator.contraction import CONVS, conv_fn
from generator.linear_algebra import spd

# --------------------------------------------------------------------------- gradients
@suite('gradients')
def gradients():
    x = uniform('gx', (3, 5), 'f32', 0.2, 0.9); y = uniform('gy', (3, 5), 'f32', 0.3, 2.0); m = normal('gm', (5, 5))
    one_argument = dict(sin=jnp.sin, cos=jnp.cos, tan=jnp.tan, asin=jnp.arcsin, acos=jnp.arccos, atan=jnp.arctan, sinh=jnp.sinh, cosh=jnp.cosh, tanh=jnp.tanh, asinh=jnp.arcsinh, acosh=lambda v: jnp.arccosh(v + 1.2), atanh=jnp.arctanh, exp=jnp.exp, exp2=jnp.exp2, expm1=jnp.expm1, log=jnp.log, log1p=jnp.log1p,
        sqrt=jnp.sqrt, rsqrt=lax.rsqrt, cbrt=jnp.cbrt, erf=lax.erf, erfc=lax.erfc, erf_inv=lax.erf_inv, lgamma=lax.lgamma, digamma=lax.digamma, logistic=jax.nn.sigmoid, softplus=jax.nn.softplus, silu=jax.nn.silu, gelu=jax.nn.gelu, gelu_exact=lambda v: jax.nn.gelu(v, approximate=False), elu=lambda v: jax.nn.elu(v - 0.5), leaky_relu=lambda v: jax.nn.leaky_relu(v - 0.5), selu=lambda v: jax.nn.selu(v - 0.5), mish=jax.nn.mish, abs=lambda v: jnp.abs(v - 0.5), square=jnp.square, reciprocal=lambda v: 1 / v, sign=lambda v: jnp.sign(v - 0.5) * v, integer_power=lambda v: v**5, sinc=jnp.sinc, logit=jax.scipy.special.logit, xlogy=lambda v: jax.scipy.special.xlogy(v, v), bessel=jax.scipy.special.i0e, entr=jax.scipy.special.entr,
        softmax=lambda v: jax.nn.softmax(v) * jnp.arange(5.), log_softmax=lambda v: jax.nn.log_softmax(v) * jnp.arange(5.), logsumexp=jax.nn.logsumexp, standardize=lambda v: jax.nn.standardize(v) * jnp.arange(5.), norm=jnp.linalg.norm, max=lambda v: v.max(0), min=lambda v: v.min(1), prod=lambda v: v.prod(1), var=lambda v: v.var(0), mean=lambda v: v.mean() * v, cumsum=lambda v: jnp.cumsum(v, 1)**2, cumprod=lambda v: jnp.cumprod(v, 1), cummax=lambda v: lax.cummax(v, 1) * v, cumlogsumexp=lambda v: lax.cumlogsumexp(v, 0), sort=lambda v: jnp.sort(v, 1) * jnp.arange(5.), median=lambda v: jnp.median(v, 1), top_k=lambda v: lax.top_k(v, 2)[0] ** 2,
        transpose=lambda v: (v.T * m[:, :3])**2, reshape=lambda v: v.reshape(5, 3)**2, roll=lambda v: jnp.roll(v, 2, 1) * v, pad=lambda v: jnp.pad(v, 2)**2, slice=lambda v: v[1:, ::2]**2, flip=lambda v: v[::-1] * v, concatenate=lambda v: jnp.concatenate([v, v * v], 1), dynamic_slice=lambda v: lax.dynamic_slice(v, (1, 2), (2, 3))**3, gather=lambda v: v[jnp.array([0, 2, 0, 1])]**2, take=lambda v: jnp.take(v, jnp.array([1, 4, 1]), axis=1)**2, scatter=lambda v: jnp.zeros((4, 5)).at[jnp.array([1, 3, 1])].add(v)**2, where=lambda v: jnp.where(v > 0.5, v * v, jnp.exp(v)), clip=lambda v: jnp.clip(v, 0.3, 0.7)**2, maximum=lambda v: jnp.maximum(v, 0.5) * v, rem=lambda v: v % 0.3, matmul=lambda v: v @ m @ v.T, einsum=lambda v: jnp.einsum('ij,kj,jl->ikl', v, v, m), outer=lambda v: jnp.outer(v[0], v[1])**2,
        scan=lambda v: lax.scan(lambda c, r: (jnp.tanh(c + r), c * r), jnp.zeros(5), v)[1], fori=lambda v: lax.fori_loop(0, 4, lambda i, c: jnp.sin(c) + v, v), cond=lambda v: lax.cond(v[0, 0] > 0.5, jnp.sin, jnp.cos, v), remat=lambda v: jax.checkpoint(lambda q: jnp.tanh(jnp.sin(q)))(v), fft=lambda v: jnp.abs(jnp.fft.fft(v))**2, rfft=lambda v: jnp.abs(jnp.fft.rfft(v)), complex=lambda v: jnp.abs(lax.complex(v, v * 2)), angle=lambda v: jnp.angle(lax.complex(v, v * v)), layer_norm=lambda v: (v - v.mean(-1, keepdims=True)) * lax.rsqrt(v.var(-1, keepdims=True) + 1e-5) * jnp.arange(5.))
    for name, f in one_argument.items():
        slack = 8 if name in ('lgamma', 'digamma', 'erf_inv', 'bessel', 'rem') else 2
        yield J(name, jax.value_and_grad(lambda v, f=f: jnp.sum(f(v)).real), x, slack=slack)
    two_arguments = dict(mul=jnp.multiply, div=jnp.divide, pow=jnp.power, atan2=jnp.arctan2, hypot=jnp.hypot, logaddexp=jnp.logaddexp, minimum=jnp.minimum, fmod=lambda a, b: lax.rem(b, a), matvec=lambda a, b: a @ b[0], kl=lambda a, b: jnp.sum(a * (jnp.log(a) - jnp.log(b))), cosine=lambda a, b: (a * b).sum(1) / (jnp.linalg.norm(a, axis=1) * jnp.linalg.norm(b, axis=1)), huber=lambda a, b: jnp.where(jnp.abs(a - b) < 0.4, (a - b)**2, jnp.abs(a - b)), beta=lambda a, b: jax.scipy.special.betaln(a, b), igamma=lambda a, b: lax.igamma(a + 1, b))
    for name, f in two_arguments.items():
        yield J(f'two_{name}', jax.grad(lambda a, b, f=f: jnp.sum(f(a, b)), argnums=(0, 1)) if name != 'igamma' else jax.grad(lambda a, b: lax.igamma(a + 1, b).sum(), argnums=1), x, y, slack=8)
    for k in (2, 5, 6, 7, 8, 9, 12): yield J(f'convolution_{k}', jax.grad(lambda a, b, k=k: (conv_fn(CONVS[k])(a, b)**2).sum(), argnums=(0, 1)), normal(('gc', k), CONVS[k][0]), normal(('gk', k), CONVS[k][1]))
    yield J('hessian', jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v**2)), x[0]); yield J('jacobian_forward', jax.jacfwd(lambda v: jnp.tanh(m @ v)), x[0]); yield J('jacobian_reverse', jax.jacrev(lambda v: jnp.tanh(m @ v)), x[0]); yield J('jvp', lambda v, t: jax.jvp(lambda q: jnp.exp(jnp.sin(q)), (v,), (t,)), x, y); yield J('second_order_scan', jax.grad(lambda v: jax.grad(lambda q: lax.scan(lambda c, r: (c * r + 1, None), q[0], v)[0].sum())(v).sum()), x)
    yield J('per_example', jax.vmap(jax.grad(lambda v, w: jnp.tanh(v @ w).sum()), (0, None)), x, m); yield J('custom_vjp', jax.grad(lambda v: jax.nn.relu(v - 0.5).sum() + jax.nn.softmax(v)[0, 0]), x); yield J('batch_norm', jax.grad(lambda v: (((v - v.mean(0)) / jnp.sqrt(v.var(0) + 1e-3))**3).sum()), y, slack=8)

# --------------------------------------------------------------------------- programs
def params(key, *dims, t='f32'):
    """Weights of dense layers and the like, scaled by fan-in."""
    return [normal((key, i), d, 'f32', 1 / np.sqrt(max(1, int(np.prod(d[:-1]))))).astype(DT[t]) for i, d in enumerate(dims)]

def adam(loss, p, g_args, lr=1e-2):
    def step(p, m, v, n, *a):
        l, g = jax.value_and_grad(loss)(p, *a); n = n + 1
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g); v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
        p = jax.tree.map(lambda w, a, b: w - lr * (a / (1 - 0.9**n)) / (jnp.sqrt(b / (1 - 0.99**n)) + 1e-3), p, m, v)
        return p, m, v, n, l
    z = [np.zeros_like(w) for w in p]
    return step, (p, z, z, np.float32(0)) + tuple(g_args)

def attention(q, k, v, mask=None, bias=None):
    s = jnp.einsum('bqhd,bkhd->bhqk', q, k) / np.sqrt(q.shape[-1]).astype(np.float32)
    if bias is not None: s = s + bias
    if mask is not None: s = jnp.where(mask, s, jnp.finfo(s.dtype).min)
    return jnp.einsum('bhqk,bkhd->bqhd', jax.nn.softmax(s, axis=-1), v)

def rope(x, base=100.0):
    n, d = x.shape[1], x.shape[-1]; ang = jnp.arange(n)[:, None] / base ** (jnp.arange(0, d, 2) / d); c, s = jnp.cos(ang)[:, None], jnp.sin(ang)[:, None]
    a, b = x[..., ::2], x[..., 1::2]; return jnp.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape).astype(x.dtype)

def rms(x, g): return (x * lax.rsqrt((x.astype(jnp.float32)**2).mean(-1, keepdims=True) + 1e-6).astype(x.dtype)) * g
def layer_norm(x, g, b): m = x.mean(-1, keepdims=True); return (x - m) * lax.rsqrt(((x - m)**2).mean(-1, keepdims=True) + 1e-5) * g + b
def cross_entropy(logits, labels): return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1).mean()
def block(p, x, heads, causal=True):
    wq, wk, wv, wo, w1, w2 = p; b, n, d = x.shape; sp = lambda h: h.reshape(b, n, heads, d // heads)
    h = rms(x, 1.0); mask = jnp.tril(jnp.ones((n, n), bool)) if causal else None
    x = x + attention(rope(sp(h @ wq)), rope(sp(h @ wk)), sp(h @ wv), mask).reshape(b, n, d) @ wo
    return x + jax.nn.gelu(rms(x, 1.0) @ w1) @ w2

def lstm(p, x):
    wx, wh, b = p; n = wh.shape[0]
    def step(c, v):
        h, s = c; i, f, g, o = jnp.split(v @ wx + h @ wh + b, 4, -1); s = jax.nn.sigmoid(f + 1) * s + jax.nn.sigmoid(i) * jnp.tanh(g); h = jax.nn.sigmoid(o) * jnp.tanh(s); return (h, s), h
    return lax.scan(step, (jnp.zeros((x.shape[1], n), x.dtype),) * 2, x)
def gru(p, x):
    wx, wh = p; n = wh.shape[0]
    def step(h, v):
        a, b = v @ wx, h @ wh; z, r = jax.nn.sigmoid(a[:, :n] + b[:, :n]), jax.nn.sigmoid(a[:, n:2 * n] + b[:, n:2 * n]); c = jnp.tanh(a[:, 2 * n:] + r * b[:, 2 * n:]); h = (1 - z) * c + z * h; return h, h
    return lax.scan(step, jnp.zeros((x.shape[1], n), x.dtype), x)

def program_list():
    """(name, function, arguments, options) of the realistic programs."""
    P = []
    def add(name, f, *a, **k): P.append((name, f, a, k))
    def train(name, loss, p, *a, **k): s, args = adam(loss, p, a); add(name, s, *args, **k)
    X, Y, L = normal('px', (8, 12)), normal('py', (8, 3)), ints('pl', 8, 's32', 0, 3)
    mlp = lambda p, x: (jnp.tanh(x @ p[0] + p[1]) @ p[2] + p[3]); mp = params('mlp', (12, 16), (16,), (16, 3), (3,))
    add('mlp_forward', mlp, mp, X); train('mlp_train_mse', lambda p, x, y: ((mlp(p, x) - y)**2).mean(), mp, X, Y); train('mlp_train_classify', lambda p, x, l: cross_entropy(mlp(p, x), l), mp, X, L)
    train('mlp_train_mixed_bf16', lambda p, x, l: cross_entropy(mlp([w.astype(jnp.bfloat16) for w in p], x.astype(jnp.bfloat16)).astype(jnp.float32), l), mp, X, L)
    add('mlp_bf16', mlp, [w.astype(DT['bf16']) for w in mp], X.astype(DT['bf16'])); add('mlp_f16', mlp, [w.astype(np.float16) for w in mp], X.astype(np.float16)); add('logistic_regression_steps', lambda w, x, l: lax.fori_loop(0, 20, lambda i, w: w - 0.5 * x.T @ (jax.nn.sigmoid(x @ w) - l) / 8, w), np.zeros(12, 'f4'), X, (L > 0).astype('f4'))
    img = normal('img', (2, 10, 10, 3)); cp = params('cnn', (3, 3, 3, 4), (3, 3, 4, 8), (32, 5)); cl = np.array([1, 4], 'i4')
    def cnn(p, x):
        for w in p[:2]: x = jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))); x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')
        return x.reshape(x.shape[0], -1) @ p[2]
    add('cnn_forward', cnn, cp, img); train('cnn_train', lambda p, x, l: cross_entropy(cnn(p, x), l), cp, img, cl, tier='model')
    dw = params('dw', (3, 3, 1, 6), (1, 1, 6, 4), (1, 1, 3, 6))
    add('depthwise_separable', lambda p, x: lax.conv_general_dilated(jax.nn.relu6(lax.conv_general_dilated(lax.conv_general_dilated(x, p[2], (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')), p[0], (2, 2), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'), feature_group_count=6)), p[1], (1, 1), 'VALID', dimension_numbers=('NHWC', 'HWIO', 'NHWC')), dw, img)
    rp = params('res', (3, 3, 4, 4), (3, 3, 4, 4)); ri = normal('ri', (2, 6, 6, 4))
    def resblock(p, x):
        c = lambda v, w: lax.conv_general_dilated(v, w, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')); bn = lambda v: (v - v.mean((0, 1, 2))) * lax.rsqrt(v.var((0, 1, 2)) + 1e-3)
        return jax.nn.relu(x + bn(c(jax.nn.relu(bn(c(x, p[0]))), p[1])))
    add('residual_block', resblock, rp, ri, slack=4); train('residual_block_train', lambda p, x: (resblock(p, x)**3).mean(), rp, ri, tier='model', slack=8)
    up = params('unet', (3, 3, 2, 4), (3, 3, 4, 6), (3, 3, 6, 4), (3, 3, 8, 2)); cv = lambda v, w, s=1: lax.conv_general_dilated(v, w, (s, s), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
    def unet(p, x, t):
        a = jax.nn.silu(cv(x, p[0])); b = jax.nn.silu(cv(a, p[1], 2) + jnp.sin(t)); u = jnp.repeat(jnp.repeat(cv(b, p[2]), 2, 1), 2, 2); return cv(jnp.concatenate([a, u], -1), p[3])
    ui = normal('ui', (1, 8, 8, 2)); add('unet_forward', unet, up, ui, np.float32(0.3)); train('diffusion_train', lambda p, x, e: ((unet(p, jnp.sqrt(0.7) * x + jnp.sqrt(0.3) * e, 0.5) - e)**2).mean(), up, ui, normal('eps', (1, 8, 8, 2)), tier='model')
    add('diffusion_sample', lambda p, x: lax.fori_loop(0, 4, lambda i, v: 0.9 * v - 0.1 * unet(p, v, i * 0.25), x), up, ui, tier='model')
    vp = params('vae', (12, 10), (10, 6), (3, 10), (10, 12)); e3 = normal('ve', (8, 3))
    def vae(p, x, e): h = jax.nn.relu(x @ p[0]) @ p[1]; mu, lv = h[:, :3], h[:, 3:]; z = mu + jnp.exp(lv / 2) * e; y = jax.nn.relu(z @ p[2]) @ p[3]; return ((y - x)**2).sum(1).mean() - 0.5 * (1 + lv - mu**2 - jnp.exp(lv)).sum(1).mean()
    train('vae_train', vae, vp, X, e3)
    B, N, D, Hh = 2, 7, 16, 4
    seq = normal('seq', (B, N, D), scale=0.7); bp = params('blk', (D, D), (D, D), (D, D), (D, D), (D, 2 * D), (2 * D, D)); toks = ints('tok', (B, N), 's32', 0, 20); emb = normal('emb', (20, D), scale=0.5)
    add('transformer_block', lambda p, x: block(p, x, Hh), bp, seq); add('transformer_block_bidirectional', lambda p, x: block(p, x, Hh, False), bp, seq); add('transformer_block_bf16', lambda p, x: block(p, x, Hh), [w.astype(DT['bf16']) for w in bp], seq.astype(DT['bf16']), slack=2)
    lm = lambda p, t: block(p[1:], p[0][t], Hh) @ p[0].T
    train('language_model_train', lambda p, t: cross_entropy(lm(p, t)[:, :-1], t[:, 1:]), [emb] + bp, toks, tier='model'); train('language_model_train_bf16', lambda p, t: cross_entropy(lm([w.astype(jnp.bfloat16) for w in p], t)[:, :-1].astype(jnp.float32), t[:, 1:]), [emb] + bp, toks, tier='model', slack=2)
    add('layers_scanned', lambda p, x: lax.scan(lambda h, w: (jax.nn.gelu(layer_norm(h, 1., 0.) @ w[0]) @ w[1] + h, h.mean()), x, p), [normal('ls1', (3, D, D), scale=.25), normal('ls2', (3, D, D), scale=.25)], seq)
    q, k, v = [normal(('qkv', i), (B, N, Hh, 8)) for i in range(3)]; kv = [normal(('kv', i), (B, N, 2, 8)) for i in range(2)]
    add('attention_plain', attention, q, k, v); add('attention_causal', lambda q, k, v: attention(q, k, v, jnp.tril(jnp.ones((N, N), bool))), q, k, v); add('attention_padding_mask', lambda q, k, v, n: attention(q, k, v, (jnp.arange(N)[None] < n[:, None])[:, None, None]), q, k, v, np.array([3, 7], 'i4')); add('attention_alibi', lambda q, k, v: attention(q, k, v, bias=-jnp.abs(jnp.arange(N)[:, None] - jnp.arange(N)) * 2.0 ** -jnp.arange(1, Hh + 1)[:, None, None]), q, k, v)
    add('attention_sliding_window', lambda q, k, v: attention(q, k, v, (lambda d: (d >= 0) & (d < 3))(jnp.arange(N)[:, None] - jnp.arange(N))), q, k, v); add('attention_grouped_query', lambda q, k, v: attention(q, jnp.repeat(k, 2, 2), jnp.repeat(v, 2, 2)), q, *kv); add('attention_rotary', lambda q, k, v: attention(rope(q), rope(k), v), q, k, v); add('attention_gradient', jax.grad(lambda q, k, v: (attention(q, k, v)**2).sum(), argnums=(0, 1, 2)), q, k, v); add('attention_bf16', attention, *[a.astype(DT['bf16']) for a in (q, k, v)], slack=2)
    def online(q, k, v):
        def body(c, kv):
            m, l, o = c; s = jnp.einsum('bqhd,bhd->bhq', q, kv[0]); m2 = jnp.maximum(m, s); a = jnp.exp(m - m2); e = jnp.exp(s - m2); return (m2, l * a + e, o * a[..., None] + e[..., None] * kv[1][:, :, None]), None
        z = jnp.zeros((B, Hh, N)); (m, l, o), _ = lax.scan(body, (z - 1e30, z, jnp.zeros((B, Hh, N, 8))), (k.transpose(1, 0, 2, 3), v.transpose(1, 0, 2, 3))); return o / l[..., None]
    add('attention_online_softmax', online, q, k, v); add('linear_attention', lambda q, k, v: lax.scan(lambda s, t: (s + jnp.einsum('bhd,bhe->bhde', t[1], t[2]), jnp.einsum('bhd,bhde->bhe', t[0], s)), jnp.zeros((B, Hh, 8, 8)), tuple(jnp.moveaxis(a, 1, 0) for a in (jax.nn.elu(q) + 1, jax.nn.elu(k) + 1, v))), q, k, v)
    def decode(cache, x, pos, w):
        kk, vv = cache; qn, kn, vn = jnp.split(x @ w, 3, -1); kk = lax.dynamic_update_slice(kk, kn[:, None], (0, pos, 0)); vv = lax.dynamic_update_slice(vv, vn[:, None], (0, pos, 0)); s = jnp.einsum('bd,bkd->bk', qn, kk) / 4; s = jnp.where(jnp.arange(10) <= pos, s, -1e30); return (kk, vv), jnp.einsum('bk,bkd->bd', jax.nn.softmax(s), vv)
    kc = (normal('kc', (B, 10, D)), normal('vc', (B, 10, D))); wq = normal('wq', (D, 3 * D), scale=0.25); add('kv_cache_step', decode, kc, normal('dx', (B, D)), np.int32(4), wq)
    add('kv_cache_decode_loop', lambda c, x, w: lax.fori_loop(0, 5, lambda i, s: (lambda c2, y: (c2, y))(*decode(s[0], s[1], i, w)), (c, x)), kc, normal('dx', (B, D)), wq); add('greedy_decode', lambda e, w: lax.scan(lambda s, _: (lambda h: ((h, jnp.argmax(h @ e.T, -1)), jnp.argmax(h @ e.T, -1)))(jnp.tanh(s[0] @ w + e[s[1]])), (jnp.zeros((B, D)), jnp.zeros(B, jnp.int32)), None, length=6), emb, normal('gw', (D, D), scale=.4))
    gate = params('moe', (D, 4), (4, D, 8), (4, 8, D)); xt = normal('xt', (10, D))
    def moe(p, x): w, i = lax.top_k(jax.nn.softmax(x @ p[0]), 2); w = w / w.sum(-1, keepdims=True); d = (jax.nn.one_hot(i, 4) * w[..., None]).sum(1); return jnp.einsum('te,ted->td', d, jnp.einsum('teh,ehd->ted', jax.nn.relu(jnp.einsum('td,edh->teh', x, p[1])), p[2]))
    add('mixture_of_experts', moe, gate, xt); train('mixture_of_experts_train', lambda p, x: (moe(p, x)**2).mean(), gate, xt)
    def moe_sorted(p, x): e = jnp.argmax(x @ p[0], -1); o = jnp.argsort(e, stable=True); g = jnp.bincount(e, length=4); return jnp.zeros_like(x).at[o].set(lax.ragged_dot(jax.nn.relu(lax.ragged_dot(x[o], p[1], g)), p[2], g))
    add('mixture_of_experts_sorted', moe_sorted, gate, xt)
    ts = normal('ts', (9, 4, 5)); lp = params('lstm', (5, 24), (6, 24), (24,)); gp = params('gru', (5, 18), (6, 18))
    add('lstm', lstm, lp, ts); train('lstm_train', lambda p, x: (lstm(p, x)[1]**2).mean(), lp, ts); add('gru', gru, gp, ts); train('gru_train', lambda p, x: (gru(p, x)[1][-1]**2).mean(), gp, ts); add('lstm_bf16', lstm, [w.astype(DT['bf16']) for w in lp], ts.astype(DT['bf16']), slack=2); add('state_space_scan', lambda a, b, x: lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (jnp.broadcast_to(jax.nn.sigmoid(a), x.shape), x * b))[1], normal('sa', 5), normal('sb', 5), ts)
    import optax
    for oname, o in dict(sgd=optax.sgd(0.1, momentum=0.9, nesterov=True), adam=optax.adam(1e-2), adamw=optax.adamw(1e-2), rmsprop=optax.rmsprop(1e-2), adagrad=optax.adagrad(0.1), lion=optax.lion(1e-3), clip=optax.chain(optax.clip_by_global_norm(0.1), optax.sgd(0.5))).items():
        add(f'optax_{oname}', lambda p, x, y, o=o: (lambda s: (lambda u, s2: (optax.apply_updates(p, u), s2))(*o.update(jax.grad(lambda w: ((mlp(w, x) - y)**2).mean())(p), s, p)))(o.init(p)), mp, X, Y)
    pts = normal('pts', (20, 2)); add('kmeans', lambda x: lax.fori_loop(0, 6, lambda i, c: (lambda a: jnp.where(a.sum(0)[:, None] > 0, a.T @ x / jnp.maximum(a.sum(0), 1)[:, None], c))(jax.nn.one_hot(jnp.argmin(((x[:, None] - c)**2).sum(-1), 1), 3)), x[:3]), pts); add('k_nearest_neighbours', lambda x: lax.top_k(-((x[:, None] - x[None])**2).sum(-1), 4)[1], pts); add('pca_power_iteration', lambda x: lax.fori_loop(0, 30, lambda i, v: (lambda w: w / jnp.linalg.norm(w))(x.T @ (x @ v)), jnp.ones(2)), pts)
    f_ode = lambda y: jnp.array([y[1], (1 - y[0]**2) * y[1] - y[0]])
    def rk4(f, y, h): a = f(y); b = f(y + h / 2 * a); c = f(y + h / 2 * b); return y + h / 6 * (a + 2 * b + 2 * c + f(y + h * c))
    add('ode_runge_kutta', lambda y: lax.scan(lambda y, _: (lambda z: (z, z))(rk4(f_ode, y, 0.05)), y, None, length=20), np.array([1, 0.5], 'f4')); add('ode_lorenz_f64', lambda y: lax.fori_loop(0, 30, lambda i, y: rk4(lambda v: jnp.array([10 * (v[1] - v[0]), v[0] * (28 - v[2]) - v[1], v[0] * v[1] - 8 / 3 * v[2]]), y, 0.01), y), np.array([1., 1, 1]), x64=True); add('ode_adaptive', lambda y: lax.while_loop(lambda c: c[0] < 1, lambda c: (lambda e, z: (jnp.where(e < 1e-3, c[0] + c[1], c[0]), jnp.where(e < 1e-3, c[1] * 1.2, c[1] * 0.5), jnp.where(e < 1e-3, z, c[2])))(jnp.abs(c[1]**2 * jnp.cos(c[2])), c[2] + c[1] * jnp.sin(c[2])), (0., 0.1, y)), np.float32(0.7))
    add('heat_equation', lambda u: lax.fori_loop(0, 12, lambda i, u: u.at[1:-1, 1:-1].add(0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])), u), normal('he', (9, 11))); add('wave_equation', lambda u: lax.fori_loop(0, 15, lambda i, c: (c[1], 2 * c[1] - c[0] + 0.3 * (jnp.roll(c[1], 1) + jnp.roll(c[1], -1) - 2 * c[1])), (u, u)), normal('we', 24)); add('poisson_jacobi', lambda b: lax.while_loop(lambda c: c[1] < 25, lambda c: ((jnp.pad(c[0], 1)[2:, 1:-1] + jnp.pad(c[0], 1)[:-2, 1:-1] + jnp.pad(c[0], 1)[1:-1, 2:] + jnp.pad(c[0], 1)[1:-1, :-2] + b) / 4, c[1] + 1), (jnp.zeros_like(b), 0))[0], normal('pj', (6, 7)))
    add('n_body', lambda x, v: lax.fori_loop(0, 8, lambda i, s: (lambda d: (lambda a: (s[0] + 0.01 * (s[1] + 0.01 * a), s[1] + 0.01 * a))((d / ((d**2).sum(-1, keepdims=True) + 0.1)**1.5).sum(1)))(s[0][None] - s[0][:, None]), (x, v)), normal('nx', (6, 3)), normal('nv', (6, 3))); add('lennard_jones_forces', jax.grad(lambda x: (lambda r2: jnp.where(jnp.eye(5, dtype=bool), 0, 1 / r2**6 - 1 / r2**3).sum())(((x[:, None] - x[None])**2).sum(-1) + jnp.eye(5))), (np.indices((5, 1, 1)).reshape(3, -1).T * 1.1 + 0.05 * normal('lj', (5, 3))).astype('f4'))
    add('mandelbrot', lambda: lax.fori_loop(0, 15, lambda i, c: (lambda ok: (jnp.where(ok, c[0]**2 + c[2], c[0]), c[1] + ok, c[2]))(jnp.abs(c[0]) <= 2), (jnp.zeros((7, 9), jnp.complex64), jnp.zeros((7, 9), jnp.int32), lax.complex(*jnp.meshgrid(jnp.linspace(-2.03, 0.97, 9), jnp.linspace(-1.2, 1.1, 7)))))[1]); add('game_of_life', lambda g: lax.fori_loop(0, 6, lambda i, g: (lambda n: ((n == 3) | ((n == 2) & (g == 1))).astype(g.dtype))(sum(jnp.roll(g, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)), g), ints('gl', (9, 11), 'u8', 0, 2)); add('cellular_automaton', lambda r, s: lax.scan(lambda s, _: ((lambda k: (r >> k.astype(jnp.uint8)) & 1)(jnp.roll(s, 1) * 4 + s * 2 + jnp.roll(s, -1)), s), s, None, length=8), np.uint8(110), ints('ca', 20, 'u8', 0, 2))
    def black_scholes(s, k, t, r, v): d1 = (jnp.log(s / k) + (r + v * v / 2) * t) / (v * jnp.sqrt(t)); n = jax.scipy.stats.norm.cdf; return s * n(d1) - k * jnp.exp(-r * t) * n(d1 - v * jnp.sqrt(t))
    bs = [uniform(('bs', i), 12, 'f32', a, b) for i, (a, b) in enumerate([(80, 120), (80, 120), (.2, 2)])] + [np.float32(.03), np.float32(.25)]
    add('black_scholes', black_scholes, *bs); add('black_scholes_greeks', lambda *a: [jax.vmap(jax.grad(black_scholes, i), (0, 0, 0, None, None))(*a) for i in (0, 2, 4)], *bs); add('binomial_option', lambda s: lax.fori_loop(0, 16, lambda i, v: 0.99 * (0.52 * jnp.append(v[1:], 0.) + 0.48 * v), jnp.maximum(s * 1.05 ** (2. * jnp.arange(17) - 16) - 100, 0)), np.float32(104)); add('monte_carlo_pi', lambda k: (lambda u: (4 * ((u**2).sum(-1) < 1).mean(), (u[:, 0] > 0.5).sum()))(jax.random.uniform(jax.random.wrap_key_data(k), (300, 2))), np.array([5, 6], 'u4')); add('random_walk', lambda k: jnp.cumsum(jax.random.choice(jax.random.wrap_key_data(k), jnp.array([-1, 1]), (4, 30)), 1), np.array([5, 7], 'u4'))
    F, Hm, Q, Rm = np.array([[1, .1], [0, 1]], 'f4'), np.array([[1, 0]], 'f4'), np.eye(2, dtype='f4') * .01, np.array([[.3]], 'f4')
    add('kalman_filter', lambda z: lax.scan(lambda c, z: (lambda x, P: (lambda K: (lambda x2, P2: ((x2, P2), x2))(x + K @ (z - Hm @ x), (jnp.eye(2) - K @ Hm) @ P))(P @ Hm.T / (Hm @ P @ Hm.T + Rm)))(F @ c[0], F @ c[1] @ F.T + Q), (jnp.zeros(2), jnp.eye(2)), z), normal('kz', (12, 1)))
    A = spd('cg', (8, 8)) + 2 * np.eye(8, dtype='f4'); b8 = normal('cb', 8)
    def cg(A, b):
        def step(i, c): x, r, p = c; q = A @ p; a = (r @ r) / (p @ q); r2 = r - a * q; return x + a * p, r2, r2 + (r2 @ r2) / (r @ r) * p
        return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b))
    add('conjugate_gradient', cg, A, b8, slack=8); add('gram_schmidt', lambda a: lax.fori_loop(0, 5, lambda i, q: (lambda v: q.at[:, i].set(v / jnp.linalg.norm(v)))(q[:, i] - q @ (jnp.where(jnp.arange(5) < i, q.T @ q[:, i], 0.))), a), normal('gs', (6, 5))); add('qr_algorithm', lambda a: lax.fori_loop(0, 8, lambda i, a: (lambda t: a - t)(0.1 * (a @ jnp.tril(a, -1) - jnp.tril(a, -1) @ a)), a), A); add('gauss_elimination', lambda a, b: lax.fori_loop(0, 5, lambda i, m: (lambda r: m - jnp.where(jnp.arange(5)[:, None] == i, 0, jnp.take(m, i, axis=1)[:, None]) * r + jnp.where(jnp.arange(5)[:, None] == i, r - m, 0))(jnp.take(m, i, axis=0) / m[i, i]), jnp.concatenate([a + 4 * jnp.eye(5), b[:, None]], 1)), normal('ga', (5, 5)), normal('gb', 5)); add('newton_system', lambda x: lax.fori_loop(0, 5, lambda i, v: v - jnp.stack([(v[0]**2 + v[1]**2 - 4) / (2 * v[0]), (v[0] - v[1] - 0.5) * -0.5]), x), np.array([1.5, 1.2], 'f4')); add('gradient_descent_rosenbrock', lambda x: lax.fori_loop(0, 30, lambda i, v: v - 1e-3 * jax.grad(lambda q: (1 - q[0])**2 + 100 * (q[1] - q[0]**2)**2)(v), x), np.array([-1, 1], 'f4'))
    add('fft_convolution', lambda a, b: jnp.fft.irfft2(jnp.fft.rfft2(a) * jnp.fft.rfft2(b, a.shape), a.shape), normal('fa', (8, 10)), normal('fb', (3, 3))); add('power_spectrum', lambda x: (lambda f: jnp.abs(f)**2 / 64)(jnp.fft.rfft(x * jnp.hanning(64).astype(x.dtype))), normal('ps', (2, 64))); add('stft', lambda x: jnp.abs(jnp.fft.rfft(x[jnp.arange(0, 48, 8)[:, None] + jnp.arange(16)] * jnp.hamming(16).astype(x.dtype))), normal('st', 64)); add('dct', lambda x: x @ jnp.cos(jnp.pi * (jnp.arange(8)[:, None] + 0.5) * jnp.arange(8) / 8), normal('dc', (3, 8)))
    add('histogram', lambda x: jnp.histogram(x, 8, (-2.0, 2.0))[0], normal('hg', 200), compare='exact'); add('histogram_weighted', lambda x, w: jnp.zeros(6).at[jnp.clip((x * 3).astype(jnp.int32) + 3, 0, 5)].add(w), normal('hx', 60), normal('hw', 60)); adj = (ints('adj', (12, 12), 's32', 0, 5) == 0)
    add('breadth_first_search', lambda a: lax.while_loop(lambda c: c[2].any(), lambda c: (lambda n: (jnp.where(n, c[1] + 1, c[0]), c[1] + 1, n))((a & c[2][:, None]).any(0) & (c[0] < 0)), (jnp.where(jnp.arange(12) == 0, 0, -1), 0, jnp.arange(12) == 0))[0], adj, compare='exact'); add('floyd_warshall', lambda d: lax.fori_loop(0, 7, lambda k, d: jnp.minimum(d, d[:, k, None] + d[None, k]), d), uniform('fw', (7, 7), 'f32', 1, 10)); add('page_rank', lambda a: lax.fori_loop(0, 20, lambda i, r: 0.15 / 12 + 0.85 * (a / jnp.maximum(a.sum(1, keepdims=True), 1)).T @ r, jnp.ones(12) / 12), adj.astype('f4')); add('bellman_ford', lambda w: lax.fori_loop(0, 6, lambda i, d: jnp.minimum(d, (d[:, None] + w).min(0)), jnp.where(jnp.arange(7) == 0, 0, 1000)), ints('bf', (7, 7), 's32', 1, 30), compare='exact')
    lp2 = normal('bsl', (6, 5, 5))
    add('beam_search', lambda t: lax.scan(lambda c, l: (lambda v, i: ((v, i % 5), (i // 5, i % 5)))(*lax.top_k((c[0][:, None] + jax.nn.log_softmax(l)[c[1]]).reshape(-1), 3)), (jnp.array([0., -1e9, -1e9]), jnp.zeros(3, jnp.int32)), t), lp2); add('viterbi', lambda t: lax.scan(lambda d, l: (lambda s: (s.max(0), s.argmax(0)))(d[:, None] + l), jnp.zeros(5), t), lp2); add('hmm_forward', lambda t: lax.scan(lambda d, l: (jax.nn.logsumexp(d[:, None] + l, 0),) * 2, jnp.zeros(5), t), lp2)
    add('ctc_loss', lambda l, y: optax.ctc_loss(l, jnp.zeros(l.shape[:2]), y, jnp.zeros(y.shape)), normal('ctc', (2, 9, 6)), ints('cty', (2, 4), 's32', 1, 6)); add('edit_distance', lambda a, b: lax.scan(lambda r, x: (lambda n: (n, n[-1]))(jnp.concatenate([r[:1] + 1, lax.scan(lambda l, t: (lambda v: (v, v))(jnp.minimum(jnp.minimum(l + 1, t[1] + 1), t[0] + (t[2] != x))), r[0] + 1, (r[:-1], r[1:], b))[1]])), jnp.arange(9), a)[1], ints('ea', 7, 's32', 0, 4), ints('eb', 8, 's32', 0, 4), compare='exact'); add('knapsack', lambda w, v: lax.scan(lambda d, x: (lambda s: (s, s.max()))(jnp.maximum(d, jnp.where(jnp.arange(30) >= x[0], jnp.roll(d, x[0]) + x[1], 0))), jnp.zeros(30, jnp.int32), (w, v)), ints('kw', 8, 's32', 1, 9), ints('kv', 8, 's32', 1, 50), compare='exact')
    im = ints('im', (12, 10, 3), 'u8'); gray = uniform('gr', (12, 10), 'f32')
    add('image_sobel', lambda x: jnp.hypot(*[jax.scipy.signal.convolve2d(x, k, 'valid') for k in (jnp.array([[1., 0, -1], [2, 0, -2], [1, 0, -1]]), jnp.array([[1., 2, 1], [0, 0, 0], [-1, -2, -1]]))]), gray); add('image_resize_bilinear', lambda x: jax.image.resize(x, (7, 15), 'bilinear'), gray); add('image_resize_nearest', lambda x: jax.image.resize(x, (20, 5), 'nearest'), gray); add('image_to_grey', lambda x: jnp.round(x.astype(jnp.float32) @ jnp.array([0.299, 0.587, 0.114])).astype(jnp.uint8), im); add('image_median', lambda x: jnp.median(jnp.stack([jnp.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]), 0), gray); add('image_equalise', lambda x: (lambda h: (jnp.cumsum(h)[x[..., 0].astype(jnp.int32)] * 255 // 120).astype(jnp.uint8))(jnp.bincount(x[..., 0].reshape(-1), length=256)), im); add('image_rotate', lambda x: jax.scipy.ndimage.map_coordinates(x, [jnp.clip(jnp.arange(12)[:, None] * .9 + jnp.arange(10) * .3 - 1, -2, 13), jnp.arange(10)[None] * .8 - jnp.arange(12)[:, None] * .2 + 1.1], 1, mode='nearest'), gray); add('image_dilate', lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3, 3), (1, 1), 'SAME') - lax.reduce_window(x, jnp.inf, lax.min, (3, 3), (1, 1), 'SAME'), gray)
    def quant(x): s = jnp.abs(x).max(-1, keepdims=True) / 127; return jnp.round(x / s).astype(jnp.int8), s
    add('quantised_matmul', lambda a, b: (lambda q, r: lax.dot(q[0], r[0].T, preferred_element_type=jnp.int32) * q[1] * r[1].T)(quant(a), quant(b.T)), normal('qa', (6, 16)), normal('qb', (16, 5))); add('quantised_conv_u8', lambda x, k: jnp.clip((lax.conv(x, k, (1, 1), 'SAME', preferred_element_type=jnp.int32) >> 7) + 128, 0, 255).astype(jnp.uint8), ints('qx', (1, 3, 7, 7), 's8'), ints('qk', (4, 3, 3, 3), 's8'), compare='exact'); add('dequantise_int4', lambda q, s: ((q.astype(jnp.int8) & 15) - 8).astype(jnp.float32) * s, ints('q4', (5, 8), 'u8'), normal('q5', 8)); add('fake_quantise', jax.grad(lambda x: (lambda y: (y * y).sum())(x + lax.stop_gradient(jnp.round(x * 8) / 8 - x))), normal('fq', (4, 6))); add('fp8_matmul', lambda a, b: lax.dot((a / 4).astype(jnp.float8_e4m3fn), (b / 4).astype(jnp.float8_e4m3fn), preferred_element_type=jnp.float32) * 16, normal('f8a', (5, 9)), normal('f8b', (9, 4)), compare=close(1e-4, 1e-4))
    add('dlrm', lambda p, d, i: (lambda e: (lambda z: jax.nn.sigmoid(jnp.concatenate([z[:, jnp.triu_indices(4, 1)[0], jnp.triu_indices(4, 1)[1]], d @ p[1]], 1) @ p[2]))(jnp.einsum('bid,bjd->bij', e, e)))(jnp.concatenate([jax.nn.relu(d @ p[1])[:, None], p[0][i]], 1)), [normal('de', (15, 4)), normal('dd', (6, 4)), normal('df', (10, 1))], normal('dg', (5, 6)), ints('di', (5, 3), 's32', 0, 15)); add('graph_convolution', lambda a, x, w: jax.nn.relu((lambda d: a * d[:, None] * d)(lax.rsqrt(a.sum(1) + 1.)) @ x @ w), adj.astype('f4'), normal('gcx', (12, 5)), normal('gcw', (5, 4))); add('contrastive_loss', jax.grad(lambda a, b: (lambda s: cross_entropy(s, jnp.arange(8)) + cross_entropy(s.T, jnp.arange(8)))((a / jnp.linalg.norm(a, axis=1, keepdims=True)) @ (b / jnp.linalg.norm(b, axis=1, keepdims=True)).T / 0.5), argnums=(0, 1)), X, normal('cb2', (8, 12)))
    add('reinforce_returns', lambda r, d: lax.scan(lambda c, t: ((lambda g: (g, g))(t[0] + 0.95 * c * t[1])), jnp.zeros(4), (r, d.astype(jnp.float32)), reverse=True)[1], normal('rr', (10, 4)), ints('rd', (10, 4), 'pred')); add('cart_pole_rollout', lambda s: lax.scan(lambda s, _: (lambda a: (lambda n: (n, n))(s + 0.02 * jnp.stack([s[1], a, s[3], 9.8 * jnp.sin(s[2]) - jnp.cos(s[2]) * a])))(jnp.where(s[2] > 0, 10., -10.)), s, None, length=15), np.array([0, 0, .05, 0], 'f4')); add('gaussian_process', lambda x, y: (lambda K: (lambda i, r: r)(0, lax.fori_loop(0, 50, lambda i, a: a - 0.3 * (K @ a - y), jnp.zeros_like(y))))(jnp.exp(-(x[:, None] - x)**2) + 0.1 * jnp.eye(7)), normal('gpx', 7, scale=2.), normal('gpy', 7)); add('crc32', lambda x: ~lax.fori_loop(0, x.shape[0], lambda i, c: lax.fori_loop(0, 8, lambda j, v: jnp.where(v & 1, (v >> 1) ^ jnp.uint32(0xEDB88320), v >> 1), c ^ x[i].astype(jnp.uint32)), jnp.uint32(0xFFFFFFFF)), ints('crc', 17, 'u8'), compare='exact'); add('xorshift_generator', lambda s: lax.scan(lambda s, _: (lambda a: (lambda b: (lambda c: (c, c))(b ^ (b << jnp.uint32(5))))(a ^ (a >> jnp.uint32(17))))(s ^ (s << jnp.uint32(13))), s, None, length=12), ints('xs', 3, 'u32'), compare='exact'); add('bitonic_sort', lambda x: lax.fori_loop(0, 4, lambda k, v: lax.fori_loop(0, k + 1, lambda j, u: (lambda l, d: (lambda o: jnp.where((l > jnp.arange(16)) == d, jnp.minimum(u, o), jnp.maximum(u, o)))(u[l]))(jnp.arange(16) ^ (1 << (k - j)), (jnp.arange(16) & (2 << k)) == 0), v), x), ints('bit', 16, 's32', -99, 99), compare='exact'); add('base64_lookup', lambda b: (lambda v: jnp.where(v < 26, v + 65, jnp.where(v < 52, v + 71, jnp.where(v < 62, v - 4, 43))).astype(jnp.uint8))(jnp.stack([b[0::3] >> 2, ((b[0::3] & 3) << 4) | (b[1::3] >> 4), ((b[1::3] & 15) << 2) | (b[2::3] >> 6), b[2::3] & 63], 1)), ints('b64', 12, 'u8'), compare='exact')
    return P

@suite('programs')
def programs():
    for name, f, a, k in program_list():
        yield J(name, f, *a, **{**dict(slack=4), **k})

# --------------------------------------------------------------------------- modules after XLA:CPU's own passes
@suite('optimized')
def optimized():
    wanted = set('''mlp_train_classify mlp_bf16 cnn_forward cnn_train depthwise_separable residual_block unet_forward vae_train transformer_block transformer_block_bf16 language_model_train attention_causal attention_gradient attention_online_softmax kv_cache_step kv_cache_decode_loop
        mixture_of_experts lstm gru_train kmeans k_nearest_neighbours ode_runge_kutta heat_equation n_body mandelbrot game_of_life black_scholes monte_carlo_pi kalman_filter conjugate_gradient fft_convolution histogram breadth_first_search beam_search viterbi image_sobel image_resize_bilinear image_to_grey quantised_matmul dlrm
        contrastive_loss crc32 bitonic_sort optax_adam state_space_scan'''.split())
    for name, f, a, k in program_list():
        if name in wanted: yield J(name, f, *a, optimized=True, **{**dict(slack=8), **k, 'tier': 'model'})
    x, m = normal('ox', (9, 14)), normal('om', (14, 6))
    for name, f in dict(softmax=lambda x, m: jax.nn.softmax(x @ m), layer_norm=lambda x, m: layer_norm(x, 2., 1.), transpose_copy=lambda x, m: (x.T + 1, x[::-1]), concat=lambda x, m: jnp.concatenate([x @ m, x[:, :3]], 1), reduce_two=lambda x, m: (x.sum(0), jnp.abs(x).max(1)), argmax=lambda x, m: jnp.argmax(x @ m, 1), sort=lambda x, m: jnp.sort(x, 0), cumsum=lambda x, m: jnp.cumsum(x, 1), gather=lambda x, m: m[jnp.abs(x[:, 0] * 5).astype(jnp.int32)], scatter=lambda x, m: m.at[jnp.array([1, 3, 1])].add(1.), dynamic_update=lambda x, m: lax.dynamic_update_slice(m, m[:2] * 3, (4, 0)), select=lambda x, m: jnp.where(x > 0, x, x * 0.1), bf16_chain=lambda x, m: jnp.tanh(x.astype(jnp.bfloat16) @ m.astype(jnp.bfloat16)), iota=lambda x, m: x + jnp.arange(14.), pad=lambda x, m: jnp.pad(jnp.exp(x), ((1, 2), (0, 3))), while_fused=lambda x, m: lax.fori_loop(0, 5, lambda i, v: jnp.sin(v) * i + x, x), conditional=lambda x, m: lax.cond(x[0, 0] > 0, lambda: jnp.exp(x), lambda: x * 2), batched_dot=lambda x, m: jnp.einsum('ij,kj->ik', x, x)[None] * 2, reduce_window=lambda x, m: lax.reduce_window(x, 0., lax.add, (2, 3), (1, 2), 'SAME'), random=lambda x, m: x + jax.random.normal(jax.random.key(3), x.shape)).items():
        yield J('small_' + name, f, x, m, optimized=True)
