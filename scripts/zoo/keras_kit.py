"""Programs of Keras models, of keras.applications and of keras-hub: their constructors, without weights."""
import os
import sys

os.environ['KERAS_BACKEND'] = 'jax'
# What would fetch weights is not even there to be imported.
sys.modules['kagglehub'] = sys.modules['huggingface_hub'] = None

import jax
import jax.numpy as jnp
import keras
from keras.src.backend.jax import core

import programs

POLICIES = {'f32': 'float32', 'bf16': 'bfloat16', 'f16': 'float16', 'mixed': 'mixed_bfloat16'}

def without_value(variable, initializer):
    """A variable of which only shape and type are known."""
    variable._value = jax.ShapeDtypeStruct(variable._shape, variable._dtype)

def value_of(variable):
    """Zeros where a layer is traced for the shape of its result: of these nothing is kept."""
    kept = variable._value
    if not isinstance(kept, jax.ShapeDtypeStruct): return KEPT_VALUE.fget(variable)
    variable._value = jnp.zeros(kept.shape, kept.dtype)
    try: return KEPT_VALUE.fget(variable)
    finally: variable._value = kept

KEPT_VALUE = core.JaxVariable.value
core.JaxVariable._initialize_with_initializer = without_value
core.JaxVariable.value = property(value_of)

def library(name):
    if name == 'applications': return keras.applications
    import keras_hub
    return keras_hub.models

def built(row, options):
    """The model of a row; options named `@x` hold rows of models of their own."""
    arguments = {}
    for key, value in options.items():
        if isinstance(value, tuple) and len(value) == 3 and value[0] == 'model':
            value = getattr(library(row.kit), value[1])(**value[2])
        arguments[key] = value
    model = getattr(library(row.kit), row.builder)(**arguments)
    if not row.head: return model
    return getattr(library(row.kit), row.head)(backbone=model, **row.head_options)

def structs(variables):
    return [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in variables]

def names(kind, variables):
    """Shapes by names in the order of the variables; paths alone are not unique."""
    return {f'{kind} {i:04} {v.path}': struct for i, (v, struct) in enumerate(zip(variables, structs(variables)))}

def inputs_of(model, batch, sizes):
    """The model's inputs; dimensions it leaves open come from the row, by the input's name or for all."""
    def one(path, tensor):
        name = tensor.name
        dims = [batch] + [size if size is not None else sizes.get(name, sizes.get('*')) for size in tensor.shape[1:]]
        given = sizes.get(name)
        if isinstance(given, tuple): dims = [batch, *given]
        return jax.ShapeDtypeStruct(tuple(dims), tensor.dtype)
    return jax.tree_util.tree_map_with_path(one, model.input)

def loss_of(outputs, labels):
    if labels is not None: return programs.cross_entropy(jax.tree_util.tree_leaves(outputs)[0], labels)
    return programs.mean_square(outputs)

def program(row, options, sizes, mode, batch, dtype):
    keras.utils.clear_session()
    keras.config.set_dtype_policy(POLICIES[dtype])
    model = built(row, options)
    inputs = inputs_of(model, batch, sizes)
    trained, fixed = model.trainable_variables, model.non_trainable_variables
    limits = {name: size for name, size in row.limits.items()}
    for name in ('vocabulary_size', 'num_segments', 'num_classes'):
        if name in options: limits.setdefault({'vocabulary_size': 'token', 'num_segments': 'segment', 'num_classes': 'label'}[name], options[name])
    arguments = [names('weight', trained), names('state', fixed), named_inputs(model, inputs)]

    def forward(weights, state, data):
        return model.stateless_call(list(weights.values()), list(state.values()), rebuilt(data, inputs), training=False)[0]

    if mode == 'forward': return programs.Program(forward, tuple(arguments), limits)
    return training(model, inputs, arguments, limits, row.labels and batch)

def named_inputs(model, inputs):
    tensors, leaves = jax.tree_util.tree_leaves(model.input), jax.tree_util.tree_leaves(inputs)
    return {f'input{i} {t.name}': leaf for i, (t, leaf) in enumerate(zip(tensors, leaves))}

def rebuilt(data, inputs):
    """The structure the model takes, of the arguments by their names."""
    ordered = [data[name] for name in sorted(data, key=lambda n: int(n.split()[0][5:]))]
    return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(inputs), ordered)

def training(model, inputs, arguments, limits, labels):
    """A whole step with Adam: gradients, moments, weights and whatever else the model keeps."""
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    output = jax.tree_util.tree_leaves(model.output)[0]
    target = ()
    if labels:
        classes = output.shape[-1]
        limits = {**limits, 'label': classes}
        leaves = jax.tree_util.tree_leaves(inputs)
        dims = [labels] + [leaves[0].shape[i] if size is None else size for i, size in enumerate(output.shape[1:-1], 1)]
        target = jax.ShapeDtypeStruct(tuple(dims), 'int32')

    def step(weights, state, data, moments, label):
        def loss(values):
            outputs, changed = model.stateless_call(values, list(state.values()), rebuilt(data, inputs), training=True)
            return loss_of(outputs, label if labels else None), changed

        (value, changed), gradients = jax.value_and_grad(loss, has_aux=True)(list(weights.values()))
        updated, moments = optimizer.stateless_apply(list(moments.values()), gradients, list(weights.values()))
        return value, updated, changed, moments

    return programs.Program(step, (*arguments, names('moment', optimizer.variables), target), limits)

NAMES = ('', '', '', '', 'label')
