"""A program of a model: a function, its arguments as shapes, and with which made-up data it is run."""
import dataclasses
import json
import math
import os
import re

import jax
import jax.numpy as jnp
import numpy as np
from jaxlib import _hlo

@dataclasses.dataclass
class Program:
    """`function(*arguments)`; arguments are trees of jax.ShapeDtypeStruct, so that no weight ever exists.

    `limits`: by a part of an argument's name, the bound below which its integers stay.
    """
    function: object
    arguments: tuple
    limits: dict = dataclasses.field(default_factory=dict)

# Which numbers keep a model in its normal range, by a part of the argument's name; the first that fits.
POSITIVE = ('variance', 'velocity', 'moving_var', '.nu', "['var']", 'gamma', 'scale', 'norm', 'timestep', 'positive')

def generator(name, shape, dtype, limits):
    """In hlo-run's words, what an argument is filled with."""
    lower = name.lower()
    if dtype == np.bool_: return 'random' if 'done' in lower or 'mask' in lower else 'ones'
    if np.issubdtype(dtype, np.integer):
        for part, limit in limits.items():
            if part in lower: return f'uniform(0,{limit})'
        return 'uniform(0,2)'
    if any(part in lower for part in POSITIVE): return 'uniform(0.5,1.5)'
    if name.startswith('input'): return 'normal(0,1)'
    fan_in = math.prod(shape[:-1]) if len(shape) > 1 else 100
    return f'normal(0,{1 / math.sqrt(max(fan_in, 1)):.4g})'

def text_of(module):
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return module.to_string(options)

def arguments_of(program):
    leaves = jax.tree_util.tree_flatten_with_path(program.arguments)[0]
    for path, leaf in leaves:
        number = path[0].idx
        name = program.names[number] if hasattr(program, 'names') else f'argument{number}'
        yield name + jax.tree_util.keystr(path[1:]), leaf

def write(program, names, path, optimised=False):
    """The module at PATH.hlo, what it is run with at PATH.json; optimised: also as XLA's CPU compiler leaves it."""
    program.names = names
    lowered = jax.jit(program.function, keep_unused=True).lower(*program.arguments)
    text = text_of(lowered.compiler_ir('hlo').as_hlo_module())
    inputs = [generator(name, leaf.shape, leaf.dtype, program.limits) for name, leaf in arguments_of(program)]
    save(path, text, inputs)
    if optimised: save(path + '-optimised', text_of(lowered.compile().runtime_executable().hlo_modules()[0]), inputs)

def save(path, text, inputs):
    # Who reads such a module fills it as they please.
    if 'constant({...})' in text: raise ValueError('constants are left out of the text')
    with open(path + '.json', 'w', encoding='utf-8') as f: json.dump({'inputs': inputs}, f)
    # Where packages lie on this machine says nothing of a module.
    text = re.sub(r'"/[^"\n]*?/(?:site-packages|scripts/zoo|lib/python3\.\d+)/', '"', text)
    with open(path + '.part', 'w', encoding='utf-8') as f: f.write(text if text.endswith('\n') else text + '\n')
    os.replace(path + '.part', path + '.hlo')  # there only when whole

def shape_of(dims, dtype=jnp.float32): return jax.ShapeDtypeStruct(tuple(dims), dtype)

def mean_square(outputs):
    """A loss that depends on every float of what a model returns."""
    return sum(jnp.mean(jnp.square(x.astype(jnp.float32))) for x in jax.tree_util.tree_leaves(outputs)
               if jnp.issubdtype(x.dtype, jnp.floating))

def cross_entropy(logits, labels):
    logits = logits.astype(jnp.float32)
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1)
    return -jnp.mean(picked)
