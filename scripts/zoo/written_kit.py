"""Programs of models written here, with flax, haiku, equinox or JAX alone; a step trains with optax's Adam.

A builder takes options, a batch size and a type, and gives a Sample.
"""
import dataclasses
import importlib

import jax
import jax.numpy as jnp
import optax

import programs

NAMES = ('weight', 'input', 'moment')
TYPES = {'f32': jnp.float32, 'bf16': jnp.bfloat16, 'f16': jnp.float16, 'mixed': jnp.bfloat16}

@dataclasses.dataclass
class Sample:
    """Shapes of weights and data, what the model computes of both, and its loss (else the mean of squares)."""
    weights: object
    data: object
    forward: object
    loss: object = None
    limits: dict = dataclasses.field(default_factory=dict)

def cast(tree, dtype):
    """Floats of a tree in another type, values or shapes of them."""
    def one(x):
        if not jnp.issubdtype(x.dtype, jnp.floating): return x
        return jax.ShapeDtypeStruct(x.shape, dtype) if isinstance(x, jax.ShapeDtypeStruct) else x.astype(dtype)
    return jax.tree_util.tree_map(one, tree)

def program(row, options, sizes, mode, batch, dtype):
    sample = getattr(importlib.import_module(f'{row.kit}_models'), row.builder)(options, batch)
    kept, computed = TYPES['f32' if dtype == 'mixed' else dtype], TYPES[dtype]
    weights, data = cast(sample.weights, kept), cast(sample.data, kept)

    def loss(weights, data):
        given = cast(weights, computed), cast(data, computed)
        return (sample.loss(*given) if sample.loss else programs.mean_square(sample.forward(*given))).astype(jnp.float32)

    if mode == 'forward': return programs.Program(sample.forward, (weights, data), sample.limits)
    optimizer = optax.adam(1e-3)

    def step(weights, data, moments):
        value, gradients = jax.value_and_grad(loss)(weights, data)
        updates, moments = optimizer.update(gradients, moments, weights)
        return value, optax.apply_updates(weights, updates), moments

    return programs.Program(step, (weights, data, jax.eval_shape(optimizer.init, weights)), sample.limits)
