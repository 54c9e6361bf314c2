"""Models in plain JAX: scans, graphs, flows, experts, pairs."""
import jax
import jax.numpy as jnp
import optax
from jax import lax

from programs import cross_entropy, mean_square, shape_of
from written_kit import Sample

def dense(*dims): return {'w': shape_of(dims), 'b': shape_of(dims[-1:])}
def linear(p, x): return x @ p['w'] + p['b']
def layers(*widths): return [dense(a, b) for a, b in zip(widths, widths[1:])]

def mlp(weights, x, act=jax.nn.gelu):
    for p in weights[:-1]: x = act(linear(p, x))
    return linear(weights[-1], x)

def norm(x, axis=-1):
    mean = x.mean(axis, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.var(x, axis, keepdims=True) + 1e-5)

def mamba(o, batch):
    """Selective state space: one associative scan over the length."""
    width, state, inner = o['width'], o['state'], 2 * o['width']
    weights = {'in': dense(width, 2 * inner), 'taps': shape_of((4, 1, inner)), 'dt': dense(inner, inner), 'bc': dense(inner, 2 * state), 'a': shape_of((inner, state)),
               'out': dense(inner, width)}

    def forward(w, x):
        u, gate = jnp.split(linear(w['in'], norm(x)), 2, -1)
        u = jax.nn.silu(lax.conv_general_dilated(u, w['taps'], (1,), [(3, 0)], feature_group_count=inner, dimension_numbers=('NWC', 'WIO', 'NWC')))
        dt = jax.nn.softplus(linear(w['dt'], u))
        b, c = jnp.split(linear(w['bc'], u), 2, -1)
        decay = jnp.exp(-dt[..., None] * jnp.exp(w['a']))
        step = (dt * u)[..., None] * b[:, :, None]
        join = lambda left, right: (left[0] * right[0], right[0] * left[1] + right[1])
        states = lax.associative_scan(join, (decay, step), axis=1)[1]
        return x + linear(w['out'], jnp.einsum('blds,bls->bld', states, c) * jax.nn.silu(gate))

    return Sample(weights, shape_of((batch, o['length'], width)), forward)

def switch(o, batch):
    """A router to experts of limited capacity, tokens scattered to them and gathered back."""
    width, experts = o['width'], o['experts']
    weights = {'route': shape_of((width, experts)), 'up': shape_of((experts, width, 4 * width)), 'down': shape_of((experts, 4 * width, width))}

    def forward(w, x):
        tokens = x.reshape(-1, width)
        gates, chosen = lax.top_k(jax.nn.softmax((tokens @ w['route']).astype(jnp.float32)), 2)
        capacity = 2 * tokens.shape[0] // experts + 1
        flat = chosen.T.reshape(-1)
        rank = jnp.take_along_axis(jnp.cumsum(jax.nn.one_hot(flat, experts, dtype=jnp.int32), 0), flat[:, None], 1)[:, 0] - 1
        places = jnp.where(rank < capacity, flat * capacity + rank, experts * capacity)
        slots = jnp.zeros((experts * capacity, width), x.dtype).at[places].add(jnp.tile(tokens, (2, 1)), mode='drop')
        y = jax.nn.relu(jnp.einsum('ecw,ewf->ecf', slots.reshape(experts, capacity, width), w['up']))
        y = jnp.einsum('ecf,efw->ecw', y, w['down']).reshape(-1, width)
        back = jnp.where((rank < capacity)[:, None], y[jnp.minimum(places, len(y) - 1)], 0).reshape(2, -1, width)
        return x + jnp.sum(back * gates.T[..., None].astype(x.dtype), 0).reshape(x.shape)

    return Sample(weights, shape_of((batch, o['length'], width)), forward)

def evoformer(o, batch):
    """Row attention with pair bias, outer product mean, triangle products and triangle attention."""
    m, z, heads, rows, length = o['single'], o['pair'], o['heads'], o['rows'], o['length']
    weights = {'qkv': shape_of((m, 3, heads, m // heads)), 'bias': shape_of((z, heads)), 'out': dense(m, m), 'left': dense(m, 8), 'right': dense(m, 8),
               'mean': dense(64, z), 'triangle': [{'ab': dense(z, 2 * z), 'gate': dense(z, 2 * z), 'out': dense(z, z)} for _ in range(2)],
               'pairs': shape_of((z, 3, heads, z // heads)), 'pair_bias': shape_of((z, heads)), 'pair_out': dense(z, z), 'transition': layers(z, 4 * z, z)}

    def attention(qkv, bias, x):
        q, k, v = jnp.moveaxis(jnp.einsum('...lc,cthd->...lthd', x, qkv), -3, 0)
        scores = jnp.einsum('...qhd,...khd->...hqk', q, k) / q.shape[-1] ** .5 + bias
        return jnp.einsum('...hqk,...khd->...qhd', jax.nn.softmax(scores, -1), v).reshape(x.shape)

    def forward(w, data):
        single, pair = data
        single = single + linear(w['out'], attention(w['qkv'], jnp.einsum('bijc,ch->bhij', norm(pair), w['bias'])[:, None], norm(single)))
        outer = jnp.einsum('bric,brjd->bijcd', linear(w['left'], norm(single)), linear(w['right'], norm(single))) / rows
        pair = pair + linear(w['mean'], outer.reshape(*outer.shape[:3], 64))
        for p, way in zip(w['triangle'], ('bikc,bjkc->bijc', 'bkic,bkjc->bijc')):
            x = norm(pair)
            a, b = jnp.split(linear(p['ab'], x) * jax.nn.sigmoid(linear(p['gate'], x)), 2, -1)
            pair = pair + linear(p['out'], norm(jnp.einsum(way, a, b)))
        for axes in ((0, 1, 2, 3), (0, 2, 1, 3)):
            x = norm(pair.transpose(axes))
            bias = jnp.einsum('bijc,ch->bhij', x, w['pair_bias'])[:, None]
            pair = pair + linear(w['pair_out'], attention(w['pairs'], bias, x)).transpose(axes)
        return single, pair + mlp(w['transition'], norm(pair), jax.nn.relu)

    return Sample(weights, (shape_of((batch, rows, length, m)), shape_of((batch, length, length, z))), forward)

def graph(o, batch, attend):
    """Messages along edges, summed or weighed where they arrive."""
    nodes, edges, width = o['nodes'] * batch, o['edges'] * batch, o['width']
    weights = {'embed': layers(o['features'], width), 'message': layers(2 * width, width, width), 'score': dense(2 * width, 1), 'update': layers(2 * width, width, 7)}
    data = {'nodes': shape_of((nodes, o['features'])), 'ends': shape_of((2, edges), jnp.int32)}

    def forward(w, d):
        x, (source, target) = mlp(w['embed'], d['nodes']), d['ends']
        both = jnp.concatenate([x[source], x[target]], -1)
        messages = mlp(w['message'], both)
        if attend:
            score = jax.nn.leaky_relu(linear(w['score'], both))
            most = jax.ops.segment_max(score, target, nodes)
            weight = jnp.exp(score - jnp.where(jnp.isfinite(most), most, 0)[target])
            messages = messages * weight / (jax.ops.segment_sum(weight, target, nodes)[target] + 1e-6)
        return mlp(w['update'], jnp.concatenate([x, jax.ops.segment_sum(messages, target, nodes)], -1))

    return Sample(weights, data, forward, limits={'ends': nodes})

def gcn(o, batch): return graph(o, batch, False)
def gat(o, batch): return graph(o, batch, True)

def realnvp(o, batch):
    """Couplings that take turns; the loss is the likelihood."""
    half = o['features'] // 2
    weights = [layers(half, o['width'], o['width'], 2 * half) for _ in range(o['layers'])]

    def forward(w, x):
        total = jnp.zeros(x.shape[0], x.dtype)
        for p in w:
            a, b = x[:, :half], x[:, half:]
            scale, shift = jnp.split(mlp(p, a), 2, -1)
            scale = jnp.tanh(scale)
            x, total = jnp.concatenate([b * jnp.exp(scale) + shift, a], -1), total + scale.sum(-1)
        return x, total

    def loss(w, x):
        z, total = forward(w, x)
        return jnp.mean(.5 * jnp.sum(z * z, -1) - total)

    return Sample(weights, shape_of((batch, 2 * half)), forward, loss)

def gan(o, batch):
    """Both networks in one step; the generator's gradients pass through the other's."""
    conv = lambda x, w, stride: lax.conv_general_dilated(x, w, (stride, stride), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
    width = o['width']
    weights = {'start': dense(100, 49 * 2 * width), 'grow': shape_of((5, 5, 2 * width, width)), 'end': shape_of((5, 5, width, 1)),
               'look': shape_of((5, 5, 1, width)), 'deep': shape_of((5, 5, width, 2 * width)), 'score': dense(49 * 2 * width, 1)}

    def generate(w, noise):
        x = jax.nn.relu(norm(linear(w['start'], noise), 0)).reshape(-1, 7, 7, 2 * width)
        up = lambda x, k: lax.conv_transpose(x, k, (2, 2), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
        return jnp.tanh(up(jax.nn.relu(norm(up(x, w['grow']), (0, 1, 2))), w['end']))

    def score(w, x):
        x = jax.nn.leaky_relu(conv(x, w['look'], 2), .2)
        return linear(w['score'], jax.nn.leaky_relu(conv(x, w['deep'], 2), .2).reshape(x.shape[0], -1))

    def loss(w, d):
        made = generate(w, d[1])
        fixed = lax.stop_gradient(w)
        return jnp.mean(jax.nn.softplus(-score(w, d[0])) + jax.nn.softplus(score(w, lax.stop_gradient(made)))) + jnp.mean(jax.nn.softplus(-score(fixed, made)))

    return Sample(weights, (shape_of((batch, 28, 28, 1)), shape_of((batch, 100))), lambda w, d: (generate(w, d[1]), score(w, d[0])), loss)

def neural_ode(o, batch):
    """Fourth order steps in a scan, the gradient through all of them."""
    weights = layers(o['features'] + 1, o['width'], o['width'], o['features'])

    def slope(w, t, x): return mlp(w, jnp.concatenate([x, jnp.full((x.shape[0], 1), t, x.dtype)], -1), jnp.tanh)

    def forward(w, x):
        h = 1 / o['steps']
        def step(x, t):
            t = t.astype(x.dtype)
            a = slope(w, t, x)
            b = slope(w, t + h / 2, x + h / 2 * a)
            c = slope(w, t + h / 2, x + h / 2 * b)
            x = (x + h / 6 * (a + 2 * b + 2 * c + slope(w, t + h, x + h * c))).astype(x.dtype)
            return x, x
        return lax.scan(step, x, jnp.arange(o['steps']) * h)[1]

    return Sample(weights, shape_of((batch, o['features'])), forward)

def pinn(o, batch):
    """The residual of the heat equation: derivatives of the network, and gradients of those."""
    weights = layers(2, o['width'], o['width'], 1)
    value = lambda w, x: mlp(w, x, jnp.tanh)[0]

    def forward(w, points):
        def residual(x):
            slope, curve = jax.grad(value, 1)(w, x), jax.hessian(value, 1)(w, x)
            return slope[1] - .1 * curve[0, 0]
        return jax.vmap(residual)(points)

    return Sample(weights, shape_of((batch * o['points'], 2)), forward)

def ctc(o, batch):
    weights = {'gru': layers(o['features'], o['width'], o['width']), 'out': dense(o['width'], o['classes'])}
    data = {'frames': shape_of((batch, o['length'], o['features'])), 'label': shape_of((batch, 14), jnp.int32)}
    forward = lambda w, d: linear(w['out'], mlp(w['gru'], d['frames']))

    def loss(w, d):
        logits = forward(w, d).astype(jnp.float32)
        return jnp.mean(optax.ctc_loss(logits, jnp.zeros(logits.shape[:2]), d['label'], jnp.zeros(d['label'].shape)))

    return Sample(weights, data, forward, loss, {'label': o['classes']})

def decode(o, batch):
    """One token after the other with a cache of keys and values, each the likeliest."""
    width, heads, words = o['width'], o['heads'], o['words']
    weights = {'embed': shape_of((words, width)), 'qkv': shape_of((width, 3, heads, width // heads)), 'out': dense(width, width), 'mlp': layers(width, 4 * width, width)}
    cache = shape_of((2, batch, o['length'], heads, width // heads))

    def forward(w, d):
        def step(carried, place):
            cache, token = carried
            x = w['embed'][token]
            q, k, v = jnp.moveaxis(jnp.einsum('bc,cthd->bthd', norm(x), w['qkv']), 1, 0)
            cache = lax.dynamic_update_slice(cache, jnp.stack([k, v])[:, :, None].astype(cache.dtype), (0, 0, place, 0, 0))
            scores = jnp.einsum('bhd,blhd->bhl', q, cache[0]) / (width // heads) ** .5
            scores = jnp.where(jnp.arange(o['length']) <= place, scores, -1e9)
            x = x + linear(w['out'], jnp.einsum('bhl,blhd->bhd', jax.nn.softmax(scores, -1), cache[1]).reshape(x.shape))
            logits = norm(x + mlp(w['mlp'], norm(x))) @ w['embed'].T
            return (cache, jnp.argmax(logits, -1).astype(jnp.int32)), logits.max(-1)
        return lax.scan(step, (d['cache'], d['token']), jnp.arange(o['steps']))[1]

    return Sample(weights, {'cache': cache, 'token': shape_of((batch,), jnp.int32)}, forward, limits={'token': words})

def hyena(o, batch):
    """Convolutions as long as the sequence, by transforms."""
    weights = {'in': dense(o['width'], 3 * o['width']), 'filter': shape_of((o['length'], o['width'])), 'out': dense(o['width'], o['width'])}

    def forward(w, x):
        a, b, v = jnp.split(linear(w['in'], x), 3, -1)
        long = lambda y: jnp.fft.rfft(y.astype(jnp.float32), 2 * o['length'], axis=-2)
        y = jnp.fft.irfft(long(a * v) * long(w['filter']), 2 * o['length'], axis=-2)[:, :o['length']].astype(x.dtype)
        return linear(w['out'], b * y)

    return Sample(weights, shape_of((batch, o['length'], o['width'])), forward)

def wavenet(o, batch):
    """Dilated causal convolutions with gates."""
    width = o['width']
    weights = {'embed': shape_of((256, width)), 'layers': [{'taps': shape_of((2, width, 2 * width)), 'out': dense(width, width)} for _ in range(o['layers'])],
               'end': layers(width, width, 256)}

    def forward(w, tokens):
        x, total = w['embed'][tokens], 0
        for i, p in enumerate(w['layers']):
            y = lax.conv_general_dilated(x, p['taps'], (1,), [(2 ** i, 0)], rhs_dilation=(2 ** i,), dimension_numbers=('NWC', 'WIO', 'NWC'))
            y, gate = jnp.split(y, 2, -1)
            y = linear(p['out'], jnp.tanh(y) * jax.nn.sigmoid(gate))
            x, total = x + y, total + y
        return mlp(w['end'], jax.nn.relu(total), jax.nn.relu)

    return Sample(weights, shape_of((batch, o['length']), jnp.int32), forward, lambda w, d: cross_entropy(forward(w, d), jnp.roll(d, -1, 1)), {'input': 256})

def contrast(o, batch):
    """Two towers and one matrix of likenesses, with its softmax both ways."""
    weights = {'a': layers(o['features'], o['width'], 128), 'b': layers(o['features'], o['width'], 128), 'heat': shape_of(())}
    unit = lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True)
    forward = lambda w, d: unit(mlp(w['a'], d[0])) @ unit(mlp(w['b'], d[1])).T * jnp.exp(w['heat'])

    def loss(w, d):
        likeness, own = forward(w, d), jnp.arange(batch * 7)
        return cross_entropy(likeness, own) + cross_entropy(likeness.T, own)

    return Sample(weights, (shape_of((batch * 7, o['features'])),) * 2, forward, loss)
