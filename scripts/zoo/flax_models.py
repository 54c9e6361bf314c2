"""Models in flax linen and nnx."""
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx

from programs import cross_entropy, shape_of
from written_kit import Sample

def sample(module, data, loss=None, limits=None):
    """Of a linen module whose arguments are `data`."""
    weights = jax.eval_shape(module.init, jax.random.key(0), *data)
    return Sample(weights, data, lambda w, d: module.apply(w, *d), loss and (lambda w, d: loss(module.apply(w, *d), d)), limits or {})

class MixerBlock(nn.Module):
    tokens: int
    width: int
    @nn.compact
    def __call__(self, x):
        y = jnp.swapaxes(nn.LayerNorm()(x), 1, 2)
        y = nn.Dense(x.shape[1])(nn.gelu(nn.Dense(self.tokens)(y)))
        x = x + jnp.swapaxes(y, 1, 2)
        return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(self.width)(nn.LayerNorm()(x))))

class Mixer(nn.Module):
    o: dict
    @nn.compact
    def __call__(self, image):
        x = nn.Conv(self.o['width'], (self.o['patch'],) * 2, strides=self.o['patch'])(image)
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        for _ in range(self.o['layers']): x = MixerBlock(self.o['tokens'], 4 * self.o['width'])(x)
        return nn.Dense(1000)(nn.LayerNorm()(x).mean(1))

def mixer(o, batch): return sample(Mixer(o), (shape_of((batch, o['side'], o['side'], 3)),))

class Recurrent(nn.Module):
    cell: type
    o: dict
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.o['words'], self.o['width'])(tokens)
        for reverse in (False, True): x = nn.RNN(self.cell(self.o['width']), reverse=reverse)(x)
        return nn.Dense(self.o['words'])(x)

def recurrent(cell, o, batch):
    data = (shape_of((batch, o['length']), jnp.int32),)
    return sample(Recurrent(cell, o), data, lambda logits, d: cross_entropy(logits, jnp.roll(d[0], -1, 1)), {'input': o['words']})

def lstm(o, batch): return recurrent(nn.OptimizedLSTMCell, o, batch)
def gru(o, batch): return recurrent(nn.GRUCell, o, batch)

class Residual(nn.Module):
    width: int
    groups: int
    @nn.compact
    def __call__(self, x, time):
        y = nn.Conv(self.width, (3, 3))(nn.swish(nn.GroupNorm(self.groups)(x)))
        y = y + nn.Dense(self.width)(nn.swish(time))[:, None, None]
        y = nn.Conv(self.width, (3, 3))(nn.swish(nn.GroupNorm(self.groups)(y)))
        return (x if x.shape[-1] == self.width else nn.Dense(self.width)(x)) + y

class UNet(nn.Module):
    o: dict
    @nn.compact
    def __call__(self, image, times):
        width, groups = self.o['width'], self.o['groups']
        angles = times[:, None] * jnp.exp(-jnp.arange(width // 2) * .1).astype(image.dtype)
        time = nn.Dense(4 * width)(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))
        x, skips = nn.Conv(width, (3, 3))(image), []
        for level in range(self.o['levels']):
            x = Residual(width * 2 ** level, groups)(x, time)
            skips.append(x)
            x = nn.Conv(x.shape[-1], (3, 3), strides=2)(x)
        tokens = x.reshape(x.shape[0], -1, x.shape[-1])
        x = x + nn.SelfAttention(2)(nn.LayerNorm()(tokens)).reshape(x.shape)
        for skip in reversed(skips):
            x = jax.image.resize(x, skip.shape[:3] + x.shape[-1:], 'nearest')
            x = Residual(skip.shape[-1], groups)(jnp.concatenate([x, skip], -1), time)
        return nn.Conv(3, (3, 3))(nn.swish(nn.GroupNorm(groups)(x)))

def unet(o, batch): return sample(UNet(o), (shape_of((batch, o['side'], o['side'], 3)), shape_of((batch,))))

class DiTBlock(nn.Module):
    heads: int
    @nn.compact
    def __call__(self, x, condition):
        width = x.shape[-1]
        parts = jnp.split(nn.Dense(6 * width)(nn.silu(condition))[:, None], 6, -1)
        norm = lambda: nn.LayerNorm(use_bias=False, use_scale=False, epsilon=1e-6)
        x = x + parts[2] * nn.SelfAttention(self.heads)(norm()(x) * (1 + parts[1]) + parts[0])
        y = nn.Dense(width)(nn.gelu(nn.Dense(4 * width)(norm()(x) * (1 + parts[4]) + parts[3])))
        return x + parts[5] * y

class DiT(nn.Module):
    o: dict
    @nn.compact
    def __call__(self, latent, times, labels):
        batch, side, _, channels = latent.shape
        patch, width = self.o['patch'], self.o['width']
        x = latent.reshape(batch, side // patch, patch, side // patch, patch, channels).transpose(0, 1, 3, 2, 4, 5).reshape(batch, -1, patch * patch * channels)
        x = nn.Dense(width)(x) + self.param('places', nn.initializers.normal(.02), (x.shape[1], width))
        angles = times[:, None] * jnp.exp(-jnp.arange(128) * .07).astype(latent.dtype)
        condition = nn.Dense(width)(jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1)) + nn.Embed(1001, width)(labels)
        for _ in range(self.o['layers']): x = DiTBlock(self.o['heads'])(x, condition)
        x = nn.Dense(patch * patch * channels)(nn.LayerNorm()(x)).reshape(batch, side // patch, side // patch, patch, patch, channels)
        return x.transpose(0, 1, 3, 2, 4, 5).reshape(latent.shape)

def dit(o, batch):
    return sample(DiT(o), (shape_of((batch, o['side'], o['side'], 4)), shape_of((batch,)), shape_of((batch,), jnp.int32)), limits={'input': 1001})

class VAE(nn.Module):
    o: dict
    @nn.compact
    def __call__(self, image, noise):
        x = image.reshape(image.shape[0], -1)
        hidden = nn.relu(nn.Dense(self.o['width'])(x))
        mean, log_variance = nn.Dense(self.o['latent'])(hidden), nn.Dense(self.o['latent'])(hidden)
        z = mean + noise * jnp.exp(.5 * log_variance)
        return nn.Dense(x.shape[-1])(nn.relu(nn.Dense(self.o['width'])(z))), mean, log_variance

def vae_loss(results, data):
    logits, mean, log_variance = (x.astype(jnp.float32) for x in results)
    pixels = jax.nn.sigmoid(data[0].reshape(logits.shape).astype(jnp.float32))
    likelihood = jnp.sum(pixels * jax.nn.log_sigmoid(logits) + (1 - pixels) * jax.nn.log_sigmoid(-logits), -1)
    divergence = -.5 * jnp.sum(1 + log_variance - mean ** 2 - jnp.exp(log_variance), -1)
    return jnp.mean(divergence - likelihood)

def vae(o, batch): return sample(VAE(o), (shape_of((batch, 28, 28)), shape_of((batch, o['latent']))), vae_loss)

class NnxTransformer(nnx.Module):
    def __init__(self, o, rngs):
        self.embed = nnx.Embed(o['words'], o['width'], rngs=rngs)
        self.attention = nnx.MultiHeadAttention(o['heads'], o['width'], decode=False, rngs=rngs)
        self.norms = nnx.List([nnx.LayerNorm(o['width'], rngs=rngs) for _ in range(3)])
        self.wide, self.back = nnx.Linear(o['width'], 4 * o['width'], rngs=rngs), nnx.Linear(4 * o['width'], o['width'], rngs=rngs)

    def __call__(self, tokens):
        x = self.embed(tokens)
        x = x + self.attention(self.norms[0](x), mask=nnx.make_causal_mask(tokens))
        x = x + self.back(nnx.gelu(self.wide(self.norms[1](x))))
        return self.embed.attend(self.norms[2](x))

def nnx_transformer(o, batch):
    graph, state = nnx.split(nnx.eval_shape(lambda: NnxTransformer(o, nnx.Rngs(0))))
    apply = lambda state, tokens: nnx.merge(graph, state)(tokens)
    return Sample(state, shape_of((batch, o['length']), jnp.int32), apply, lambda w, d: cross_entropy(apply(w, d), jnp.roll(d, -1, 1)), {'input': o['words']})
