"""Steps of agents that learn: DQN, PPO, SAC."""
import jax
import jax.numpy as jnp
from jax import lax

from plain_models import dense, layers, linear, mlp
from programs import shape_of
from written_kit import Sample

def conv(x, w, stride): return lax.conv_general_dilated(x, w, (stride, stride), 'VALID', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))

def dqn(o, batch):
    """Pictures of 84 by 84, a network that learns and one that waits."""
    width = o['width']
    weights = {'a': shape_of((8, 8, 4, width)), 'b': shape_of((4, 4, width, 2 * width)), 'c': shape_of((3, 3, 2 * width, 2 * width)), 'end': layers(49 * 2 * width, o['hidden'], 7)}
    pictures = shape_of((batch, 84, 84, 4))
    data = {'old': weights, 'now': pictures, 'next': pictures, 'action': shape_of((batch,), jnp.int32), 'reward': shape_of((batch,)), 'done': shape_of((batch,), jnp.bool_)}

    def values(w, x):
        for key, stride in (('a', 4), ('b', 2), ('c', 1)): x = jax.nn.relu(conv(x, w[key], stride))
        return mlp(w['end'], x.reshape(x.shape[0], -1), jax.nn.relu)

    def loss(w, d):
        best = jnp.argmax(values(w, d['next']), -1)
        later = jnp.take_along_axis(values(d['old'], d['next']), best[:, None], 1)[:, 0]
        goal = lax.stop_gradient(d['reward'] + .99 * jnp.where(d['done'], 0, later))
        error = jnp.take_along_axis(values(w, d['now']), d['action'][:, None], 1)[:, 0] - goal
        return jnp.mean(jnp.where(jnp.abs(error) < 1, .5 * error ** 2, jnp.abs(error) - .5))

    return Sample(weights, data, lambda w, d: values(w, d['now']), loss, {'action': 7})

def ppo(o, batch):
    """Advantages by a backward scan, then the clipped objective."""
    steps, people, actions = o['steps'], 7 * batch, 5
    weights = {'body': layers(o['features'], o['width'], o['width']), 'policy': dense(o['width'], actions), 'value': dense(o['width'], 1)}
    each = (steps, people)
    data = {'seen': shape_of((*each, o['features'])), 'action': shape_of(each, jnp.int32), 'reward': shape_of(each), 'old': shape_of(each), 'done': shape_of(each, jnp.bool_)}

    def forward(w, d):
        x = jnp.tanh(mlp(w['body'], d['seen'], jnp.tanh))
        return jax.nn.log_softmax(linear(w['policy'], x)), linear(w['value'], x)[..., 0]

    def advantages(values, d):
        def back(carried, row):
            later, following = carried
            reward, done, value = row
            live = 1 - done.astype(value.dtype)
            gain = reward + .99 * live * following - value + .99 * .95 * live * later
            return (gain.astype(value.dtype), value), gain
        zero = jnp.zeros(people, values.dtype)
        return lax.scan(back, (zero, zero), (d['reward'], d['done'], values), reverse=True)[1]

    def loss(w, d):
        policy, values = forward(w, d)
        gain = lax.stop_gradient(advantages(values, d))
        ratio = jnp.exp(jnp.take_along_axis(policy, d['action'][..., None], -1)[..., 0] - jax.nn.log_sigmoid(d['old']))
        fair = (gain - gain.mean()) / (gain.std() + 1e-3)
        clipped = jnp.minimum(ratio * fair, jnp.clip(ratio, .8, 1.2) * fair)
        return jnp.mean((values - gain) ** 2) - jnp.mean(clipped) + .01 * jnp.mean(jnp.sum(jnp.exp(policy) * policy, -1))

    return Sample(weights, data, forward, loss, {'action': actions})

def sac(o, batch):
    """Two critics, a policy that draws, and its temperature."""
    act = 7
    critic = lambda: layers(o['features'] + act, o['width'], o['width'], 1)
    weights = {'policy': layers(o['features'], o['width'], 2 * act), 'critics': [critic(), critic()], 'heat': shape_of(())}
    data = {'old': [critic(), critic()], 'now': shape_of((batch, o['features'])), 'next': shape_of((batch, o['features'])), 'action': shape_of((batch, act)),
            'reward': shape_of((batch,)), 'noise': shape_of((2, batch, act))}

    def drawn(w, seen, noise):
        mean, log = jnp.split(mlp(w['policy'], seen, jax.nn.relu), 2, -1)
        log = jnp.clip(log, -5, 2)
        raw = mean + jnp.exp(log) * noise
        return jnp.tanh(raw), jnp.sum(-.5 * noise ** 2 - log - 2 * (jnp.log(2.) - raw - jax.nn.softplus(-2 * raw)), -1).astype(seen.dtype)

    def least(critics, seen, action):
        return jnp.minimum(*[mlp(p, jnp.concatenate([seen, action], -1), jax.nn.relu)[:, 0] for p in critics])

    def loss(w, d):
        action, log = drawn(w, d['next'], d['noise'][0])
        goal = lax.stop_gradient(d['reward'] + .99 * (least(d['old'], d['next'], action) - jnp.exp(w['heat']) * log))
        errors = sum(jnp.mean((mlp(p, jnp.concatenate([d['now'], d['action']], -1), jax.nn.relu)[:, 0] - goal) ** 2) for p in w['critics'])
        action, log = drawn(w, d['now'], d['noise'][1])
        policy = jnp.mean(lax.stop_gradient(jnp.exp(w['heat'])) * log - least(lax.stop_gradient(w['critics']), d['now'], action))
        return errors + policy - jnp.exp(w['heat']) * lax.stop_gradient(jnp.mean(log) - act)

    return Sample(weights, data, lambda w, d: drawn(w, d['now'], d['noise'][0]), loss)
