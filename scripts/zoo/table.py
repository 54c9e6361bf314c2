"""The models of the zoo, one row each: who builds it, with which sizes, and how small it becomes for quick tests.

`kit` is the file that builds it (KITS); `builder` a name there, `options` what it is called with. `small` replaces some
of them where tests are to be short: widths shrink, the structure and the odd numbers of real models stay. `sizes` are
dimensions a model leaves open, by the name of an input or for all (`*`); `limits` bounds of integers by a part of the
argument's name.
"""
import dataclasses

# Kit: the file, and the packages it needs.
KITS = {'applications': ('keras_kit', 'jax keras'), 'hub': ('keras_kit', 'jax keras keras-hub'), 'flax': ('written_kit', 'jax flax optax'),
        'haiku': ('written_kit', 'jax dm-haiku optax'), 'equinox': ('written_kit', 'jax equinox optax'), 'plain': ('written_kit', 'jax optax'),
        'agents': ('written_kit', 'jax optax')}
PACKAGES = 'jax keras keras-hub regex tokenizers flax dm-haiku equinox optax'

# Mode, batch and type of each module that is made of a model.
USUAL = ('forward 1 f32', 'forward 8 bf16', 'train 8 f32', 'train 2 mixed')
HEAVY = ('forward 1 f32', 'forward 2 bf16', 'train 2 f32', 'train 1 mixed')
LARGE_BATCH = ('forward 1 f32', 'forward 32 f32', 'train 32 f32', 'train 8 bf16')
INFERENCE = ('forward 1 f32', 'forward 8 f32', 'forward 2 bf16', 'forward 32 f32')
STEPS = ('train 1 f32', 'train 8 f32', 'train 32 f32', 'train 8 bf16')

@dataclasses.dataclass
class Model:
    name: str
    kit: str
    builder: str
    options: dict = dataclasses.field(default_factory=dict)
    small: dict = dataclasses.field(default_factory=dict)
    sizes: dict = dataclasses.field(default_factory=dict)
    small_sizes: dict = dataclasses.field(default_factory=dict)
    limits: dict = dataclasses.field(default_factory=dict)
    head: str = ''
    head_options: dict = dataclasses.field(default_factory=dict)
    labels: bool = False  # the loss is cross entropy with labels, else the mean of squares
    variants: tuple = USUAL

    def chosen(self, small):
        """Options and sizes, of the small model or of the real one."""
        return ({**self.options, **self.small}, {**self.sizes, **self.small_sizes}) if small else (self.options, self.sizes)

def models():
    from tables import keras_hub_rows, keras_application_rows, written_rows
    rows = keras_application_rows.rows() + keras_hub_rows.rows() + written_rows.rows()
    names = [row.name for row in rows]
    assert len(names) == len(set(names)), 'two models of one name'
    return rows
