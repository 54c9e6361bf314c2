"""Models in haiku."""
import haiku as hk
import jax
import jax.numpy as jnp

from programs import cross_entropy, shape_of
from written_kit import Sample

def sample(function, data, loss=None, limits=None):
    """Of a function with state; the state is data, too, and comes out new."""
    model = hk.without_apply_rng(hk.transform_with_state(function))
    weights, state = jax.eval_shape(model.init, jax.random.key(0), *data)
    apply = lambda w, d: model.apply(w, d[0], *d[1])[0]
    return Sample(weights, (state, data), apply, loss and (lambda w, d: loss(apply(w, d), d[1])), limits or {})

def resnet(o, batch):
    def run(image): return hk.nets.ResNet18(49, resnet_v2=o['second'])(image, is_training=True)
    return sample(run, (shape_of((batch, o['side'], o['side'], 3)),))

def lstm(o, batch):
    def run(x):
        core = hk.DeepRNN([hk.LSTM(o['width']), jax.nn.relu, hk.GRU(o['width'])])
        return hk.dynamic_unroll(core, x, core.initial_state(x.shape[1]))[0]
    return sample(run, (shape_of((o['length'], batch, o['features'])),))

def transformer(o, batch):
    def run(tokens):
        x = hk.Embed(o['words'], o['width'])(tokens)
        mask = jnp.tril(jnp.ones((1, 1, o['length'], o['length'])))
        for _ in range(o['layers']):
            norm = lambda: hk.LayerNorm(-1, True, True)
            y = norm()(x)
            x = x + hk.MultiHeadAttention(o['heads'], o['width'] // o['heads'], w_init=hk.initializers.VarianceScaling(1.))(y, y, y, mask)
            x = x + hk.nets.MLP([4 * o['width'], o['width']])(norm()(x))
        return hk.Linear(o['words'])(x)
    return sample(run, (shape_of((batch, o['length']), jnp.int32),), lambda logits, d: cross_entropy(logits, jnp.roll(d[0], -1, 1)), {'input': o['words']})

def vqvae(o, batch):
    def run(image):
        x = hk.Sequential([hk.Conv2D(o['width'], 4, stride=2), jax.nn.relu, hk.Conv2D(o['width'], 4, stride=2)])(image)
        quantised = hk.nets.VectorQuantizer(o['width'], o['codes'], .25)(x, is_training=True)
        y = hk.Sequential([hk.Conv2DTranspose(o['width'], 4, stride=2), jax.nn.relu, hk.Conv2DTranspose(3, 4, stride=2)])(quantised['quantize'])
        return y, quantised['loss'].reshape(1)
    return sample(run, (shape_of((batch, o['side'], o['side'], 3)),))
