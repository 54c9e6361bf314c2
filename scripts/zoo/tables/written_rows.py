"""Models whose code stands here: kit, builder, the sizes of real ones and the small ones."""
from table import HEAVY, INFERENCE, LARGE_BATCH, Model, STEPS, USUAL

WORDS = {'words': 30522, 'width': 384, 'length': 75, 'heads': 6, 'layers': 2}
SMALL_WORDS = {'words': 257, 'width': 14, 'length': 49, 'heads': 2, 'layers': 1}

# Name, kit, builder, options, what is smaller, variants.
ROWS = (
    ('mixer', 'flax', 'mixer', {'side': 224, 'patch': 16, 'width': 768, 'tokens': 384, 'layers': 2}, {'side': 98, 'patch': 14, 'width': 14, 'tokens': 7, 'layers': 1}, USUAL),
    ('flax_lstm', 'flax', 'lstm', {**WORDS, 'width': 192}, SMALL_WORDS, USUAL),
    ('flax_gru', 'flax', 'gru', {**WORDS, 'width': 192}, SMALL_WORDS, USUAL),
    ('unet', 'flax', 'unet', {'side': 64, 'width': 64, 'groups': 32, 'levels': 3}, {'side': 28, 'width': 14, 'groups': 7, 'levels': 2}, HEAVY),
    ('dit', 'flax', 'dit', {'side': 32, 'patch': 2, 'width': 384, 'heads': 6, 'layers': 2}, {'side': 14, 'width': 28, 'heads': 2, 'layers': 1}, USUAL),
    ('vae', 'flax', 'vae', {'width': 500, 'latent': 20}, {'width': 49, 'latent': 7}, LARGE_BATCH),
    ('nnx_transformer', 'flax', 'nnx_transformer', WORDS, SMALL_WORDS, USUAL),
    ('haiku_resnet18', 'haiku', 'resnet', {'side': 75, 'second': False}, {'side': 33}, HEAVY),
    ('haiku_resnet18v2', 'haiku', 'resnet', {'side': 96, 'second': True}, {'side': 33}, HEAVY),
    ('haiku_lstm', 'haiku', 'lstm', {'width': 257, 'features': 75, 'length': 96}, {'width': 14, 'features': 7, 'length': 49}, LARGE_BATCH),
    ('haiku_transformer', 'haiku', 'transformer', WORDS, SMALL_WORDS, USUAL),
    ('vqvae', 'haiku', 'vqvae', {'side': 64, 'width': 64, 'codes': 512}, {'side': 28, 'width': 14, 'codes': 49}, USUAL),
    ('equinox_mlp', 'equinox', 'mlp', {'features': 577, 'width': 1200}, {'features': 75, 'width': 49}, LARGE_BATCH),
    ('equinox_conv', 'equinox', 'convolutions', {'side': 75, 'width': 32}, {'side': 33, 'width': 7}, USUAL),
    ('equinox_gru', 'equinox', 'gru', {'features': 75, 'width': 197, 'length': 96}, {'features': 7, 'width': 14, 'length': 49}, LARGE_BATCH),
    ('mamba', 'plain', 'mamba', {'width': 192, 'state': 16, 'length': 196}, {'width': 14, 'state': 7, 'length': 49}, USUAL),
    ('switch', 'plain', 'switch', {'width': 384, 'experts': 8, 'length': 197}, {'width': 14, 'experts': 7, 'length': 49}, USUAL),
    ('evoformer', 'plain', 'evoformer', {'single': 64, 'pair': 64, 'heads': 4, 'rows': 32, 'length': 75}, {'single': 14, 'pair': 14, 'heads': 2, 'rows': 7, 'length': 14}, HEAVY),
    ('gcn', 'plain', 'gcn', {'nodes': 577, 'edges': 3072, 'features': 75, 'width': 96}, {'nodes': 49, 'edges': 196, 'width': 14}, USUAL),
    ('gat', 'plain', 'gat', {'nodes': 577, 'edges': 3072, 'features': 75, 'width': 96}, {'nodes': 49, 'edges': 196, 'width': 14}, USUAL),
    ('realnvp', 'plain', 'realnvp', {'features': 784, 'width': 257, 'layers': 4}, {'features': 98, 'width': 49, 'layers': 2}, LARGE_BATCH),
    ('gan', 'plain', 'gan', {'width': 64}, {'width': 7}, LARGE_BATCH),
    ('neural_ode', 'plain', 'neural_ode', {'features': 14, 'width': 192, 'steps': 20}, {'width': 49, 'steps': 7}, LARGE_BATCH),
    ('pinn', 'plain', 'pinn', {'width': 96, 'points': 257}, {'width': 14, 'points': 49}, LARGE_BATCH),
    ('ctc', 'plain', 'ctc', {'features': 80, 'width': 257, 'classes': 49, 'length': 197}, {'width': 14, 'length': 49}, USUAL),
    ('decode', 'plain', 'decode', {**WORDS, 'length': 577, 'steps': 14}, {**SMALL_WORDS, 'steps': 7}, INFERENCE),
    ('hyena', 'plain', 'hyena', {'width': 192, 'length': 768}, {'width': 14, 'length': 49}, USUAL),
    ('wavenet', 'plain', 'wavenet', {'width': 96, 'length': 1200, 'layers': 8}, {'width': 14, 'length': 75, 'layers': 3}, USUAL),
    ('contrast', 'plain', 'contrast', {'features': 577, 'width': 768}, {'features': 75, 'width': 49}, LARGE_BATCH),
    ('dqn', 'agents', 'dqn', {'width': 32, 'hidden': 512}, {'width': 7, 'hidden': 14}, STEPS),
    ('ppo', 'agents', 'ppo', {'features': 75, 'width': 192, 'steps': 96}, {'width': 14, 'steps': 49}, STEPS),
    ('sac', 'agents', 'sac', {'features': 75, 'width': 257}, {'width': 49}, STEPS),
)

def rows(): return [Model(name, kit, builder, options, small, variants=variants) for name, kit, builder, options, small, variants in ROWS]
