"""Models in equinox."""
import equinox as eqx
import jax
import jax.numpy as jnp

from programs import shape_of
from written_kit import Sample

def sample(make, data, run):
    """Of a module that `make` builds from a key; arrays are weights, the rest stays as it is."""
    shapes = eqx.filter_eval_shape(make, jax.random.key(0))
    weights, rest = eqx.partition(shapes, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    return Sample(weights, data, lambda w, d: run(eqx.combine(w, rest), *d))

def mlp(o, batch):
    return sample(lambda key: eqx.nn.MLP(o['features'], 7, o['width'], 3, key=key), (shape_of((batch, o['features'])),), lambda m, x: jax.vmap(m)(x))

class Convolutions(eqx.Module):
    layers: list
    def __init__(self, o, key):
        a, b, c = jax.random.split(key, 3)
        self.layers = [eqx.nn.Conv2d(3, o['width'], 3, padding=1, key=a), jax.nn.relu, eqx.nn.MaxPool2d(2, 2), eqx.nn.Conv2d(o['width'], 2 * o['width'], 5, key=b),
                       eqx.nn.AvgPool2d(3, 2), eqx.nn.ConvTranspose2d(2 * o['width'], 3, 3, stride=2, key=c)]
    def __call__(self, x):
        for layer in self.layers: x = layer(x)
        return x

def convolutions(o, batch):
    return sample(lambda key: Convolutions(o, key), (shape_of((batch, 3, o['side'], o['side'])),), lambda m, x: jax.vmap(m)(x))

def gru(o, batch):
    def run(cell, x):
        one = lambda sequence: jax.lax.scan(lambda h, x: (cell(x, h),) * 2, jnp.zeros(o['width'], x.dtype), sequence)[1]
        return jax.vmap(one)(x)
    return sample(lambda key: eqx.nn.GRUCell(o['features'], o['width'], key=key), (shape_of((batch, o['length'], o['features'])),), run)
