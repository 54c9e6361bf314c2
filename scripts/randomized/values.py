"""Modules as they grow: values with shapes, computations, and which value an operation takes."""
import math
import random
import re

INTEGERS = ['s8', 's16', 's32', 's64', 'u8', 'u16', 'u32', 'u64', 's4', 'u4']
# Which XLA has not, or computes as bytes in places.
NARROWEST = ['s2', 'u2', 's1', 'u1']
WIDE_FLOATS = ['f32', 'bf16', 'f16', 'f64']
NARROW_FLOATS = ['f8e5m2', 'f8e4m3fn', 'f8e4m3', 'f8e3m4', 'f8e4m3b11fnuz', 'f8e5m2fnuz', 'f8e4m3fnuz', 'f4e2m1fn']
UNCOMMON_FLOATS = ['f6e2m3fn', 'f6e3m2fn', 'f8e8m0fnu']
FLOATS = WIDE_FLOATS + NARROW_FLOATS + UNCOMMON_FLOATS
COMPLEX = ['c64', 'c128']
# Around powers of two, where vectors and blocks end.
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 64, 65, 100, 128, 300, 1030]
# Of models: images and patches, heads, features, sequences, vocabularies; around powers of two, primes.
MODEL_SIZES = [1, 2, 3, 4, 7, 8, 12, 14, 16, 28, 32, 49, 56, 64, 75, 96, 112, 127, 128, 129, 192, 196, 197, 224, 255, 256, 257, 384, 509, 511, 512,
               513, 577, 768, 1021, 1023, 1024, 1025, 1200, 2048, 3072, 4093, 4096, 4097, 30522, 50257, 151936]
CONSTANTS = {'pred': ['true', 'false'], 'float': ['0', '1', '-1.5', '0.25', '3'], 'complex': ['(1, 0)', '(-0.5, 2)', '(0, -1)'],
             'unsigned': ['0', '1', '2', '3', '7'], 'signed': ['0', '1', '-1', '2', '3', '7', '-8']}
# What changes nothing when it is folded in, however often.
NEUTRAL = {'add': {'float': '0', 'complex': '(0, 0)', 'signed': '0', 'unsigned': '0'}, 'or': {'pred': 'false', 'signed': '0', 'unsigned': '0'},
           'xor': {'signed': '0', 'unsigned': '0', 'pred': 'false'}, 'and': {'pred': 'true', 'signed': '-1'},
           'multiply': {'float': '1', 'signed': '1', 'unsigned': '1'}, 'maximum': {'float': '-inf', 'unsigned': '0'}, 'minimum': {'float': 'inf'}}

# Of types without infinities.
LIMITS = {'f8e4m3fn': '448', 'f8e4m3b11fnuz': '30', 'f8e5m2fnuz': '57344', 'f8e4m3fnuz': '240', 'f4e2m1fn': '6'}

def kind_of(type):
    return {'p': 'pred', 'f': 'float', 'b': 'float', 'u': 'unsigned', 'c': 'complex'}.get(type[0], 'signed')

def bits_of(type):
    return 8 if type == 'pred' else int(re.match(r'[a-z]+(\d+)', type)[1])

def text_of(type, dims):
    return f"{type}[{','.join(map(str, dims))}]"

def braced(numbers):
    return '{' + ','.join(map(str, numbers)) + '}'

def least_and_most(type):
    bits = bits_of(type)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind_of(type) == 'signed' else (0, (1 << bits) - 1)

class Value:
    """`exact`: every implementation has the same bits, as no sum of floats or function is behind it."""

    def __init__(self, name, type, dims, exact=True, layout=''):
        self.name, self.type, self.dims, self.exact, self.layout = name, type, tuple(dims), exact, layout

    @property
    def rank(self): return len(self.dims)

    @property
    def kind(self): return kind_of(self.type)

    @property
    def integral(self): return self.kind in ('signed', 'unsigned')

    @property
    def count(self): return math.prod(self.dims)

    @property
    def shape(self): return text_of(self.type, self.dims)

class Settings:
    """What a module may hold. `peer`: only what XLA's CPU backend defines as the evaluator does. `model_sizes`: most arrays
    have dimensions of models. `devices`: replicas that exchange values."""

    def __init__(self, floats=False, most_elements=20000, peer=False, model_sizes=False, devices=1):
        self.floats, self.most_elements, self.peer, self.model_sizes, self.devices = floats, most_elements, peer, model_sizes, devices

class Computation:
    """Instructions of one computation. `own` computations of calls and loops take no parameters of their own: what
    would be one is a constant there. `lonely`: run on some devices only, perhaps."""

    def __init__(self, choice, types, computations, settings, numbers, depth=0, lonely=False):
        self.choice, self.types, self.computations, self.settings = choice, types, computations, settings
        self.numbers, self.depth, self.own, self.lonely = numbers, depth, depth > 0, lonely
        self.lines, self.values, self.parameters, self.named = [], [], 0, {}
        self.loops = (3, 1, 0)[min(depth, 2)]

    def nested(self, lonely=False):
        return Computation(self.choice, self.types, self.computations, self.settings, self.numbers, self.depth + 1, lonely or self.lonely)

    def fresh(self, stem='v'):
        self.numbers[0] += 1
        return f'{stem}{self.numbers[0]}'

    def exact(self, text):
        """Whether all operands in `text` are exact."""
        return all(self.named[name].exact for name in re.findall(r'\bv\d+\b', text) if name in self.named)

    def add(self, type, dims, text, hidden=False, noisy=False, layout=''):
        """A new instruction; `hidden` ones are not operands of others, the values of `noisy` floats are approximate."""
        exact = kind_of(type) not in ('float', 'complex') or not noisy and self.exact(text)
        value = Value(self.fresh(), type, dims, exact, layout)
        # XLA's client takes arguments in the usual order only, and keeps no others on the way.
        laid_out = r'(copy|transpose|broadcast|dot|parameter)\('
        if not (layout or self.own or self.settings.peer) and value.rank > 1 and re.match(laid_out, text) and self.choice.random() < .06:
            layout = value.layout = braced(self.choice.sample(range(value.rank), value.rank))
        self.lines.append(f'  {value.name} = {value.shape}{layout} {text}')
        self.named[value.name] = value
        if not hidden: self.values.append(value)
        return value

    def add_tuple(self, values_or_shapes, text, noisy=False):
        """The elements of an instruction with several results."""
        shapes = [text_of(type, dims) for type, dims in values_or_shapes]
        name = self.fresh()
        self.lines.append(f"  {name} = ({', '.join(shapes)}) {text}")
        noisy = noisy or not self.exact(text)
        return [self.add(type, dims, f'get-tuple-element({name}), index={i}', noisy=noisy)
                for i, (type, dims) in enumerate(values_or_shapes)]

    def dims_of_model(self):
        """Mostly of large arrays, for which loops are cut, tiled and shared out."""
        least = self.settings.most_elements // self.choice.choice([4, 16, 64, 1 << 30])
        while True:
            dims = [self.choice.choice(MODEL_SIZES) for _ in range(self.choice.choice([1, 2, 2, 3, 3, 3, 4]))]
            if least <= math.prod(dims) <= self.settings.most_elements: return dims

    def dims(self):
        if self.settings.model_sizes: return self.dims_of_model()
        while True:
            luck = self.choice.random()
            if luck < .03: return [self.choice.choice([1, 2, 3]) for _ in range(self.choice.choice([5, 6, 7, 8]))]
            dims = [self.choice.choice(SIZES) for _ in range(self.choice.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5]))]
            if dims and luck < .05: dims[self.choice.randrange(len(dims))] = 0
            if math.prod(dims) <= self.settings.most_elements: return dims

    def constant(self, type, hidden=False, text=None):
        return self.add(type, (), f'constant({text or self.some_number(type)})', hidden)

    def some_number(self, type):
        number = self.choice.choice(CONSTANTS[kind_of(type)])
        if type == 'f8e8m0fnu': return self.choice.choice(['0.25', '1', '2'])
        if kind_of(type) not in ('signed', 'unsigned'): return number
        least, most = least_and_most(type)
        return str(min(max(int(number), least), most))

    def neutral(self, type, op):
        """A start for folds with `op`; beside XLA, which takes starts more than once, one that changes nothing."""
        if not self.settings.peer: return self.constant(type)
        text = NEUTRAL[op].get(kind_of(type))
        if text is None: text = str(least_and_most(type)[op == 'minimum' or op == 'and'])
        # Infinities are for no one else: the padding of convolutions makes NaN of them there.
        return self.constant(type, hidden='inf' in text, text=text.replace('inf', LIMITS.get(type, 'inf')))

    def parameter(self, type=None, dims=None):
        type = type or self.choice.choice(self.types)
        dims = self.dims() if dims is None else dims
        if self.own:
            constant = self.constant(type, hidden=True)
            return self.add(type, dims, f'broadcast({constant.name}), dimensions={{}}') if len(dims) else constant
        self.parameters += 1
        return self.add(type, dims, f'parameter({self.parameters - 1})')

    def pick(self, fits=lambda value: True, empty=False):
        """Some value, by preference a late one, with elements unless `empty`; None if none fits."""
        found = [value for value in self.values if (empty or value.count) and fits(value)]
        return found[max(self.choice.randrange(len(found)) for _ in range(2))] if found else None

    def like(self, type, dims, exact=False):
        """A value of this shape: one that is there, a broadcast, a conversion, a parameter."""
        dims = tuple(dims)
        luck = self.choice.random()
        fits = lambda v: v.type == type and (v.exact or not exact)
        value = self.pick(lambda v: fits(v) and v.dims == dims, empty=True)
        if value and luck < .6: return value
        scalar = self.pick(lambda v: fits(v) and not v.rank)
        if scalar and luck < .7: return self.add(type, dims, f'broadcast({scalar.name}), dimensions={{}}')
        if luck < .8: return self.add(type, dims, f'broadcast({self.constant(type).name}), dimensions={{}}')
        other = self.pick(lambda v: v.dims == dims and self.convertible(v, type) and (v.exact or not exact), empty=True)
        if other and luck < .9: return self.converted(other, type)
        return self.parameter(type, dims)

    def convertible(self, value, type):
        """Not what is approximate into what steps widely, nor complex numbers into others."""
        if value.kind == 'complex' and kind_of(type) != 'complex': return False
        # A float of four bits at its limit becomes an integer's limit in XLA.
        if self.settings.peer and value.type == 'f4e2m1fn' and kind_of(type) in ('signed', 'unsigned'): return False
        return value.exact or type in WIDE_FLOATS + COMPLEX

    def converted(self, value, type):
        return value if value.type == type else self.add(type, value.dims, f'convert({value.name})')

    def start(self):
        """A place in an array, perhaps outside."""
        # XLA takes constant places of u64 as those of s64, and bounds in few bits wrap there.
        types = ['s32', 's64', 'u32', 's16', 's4'] if self.settings.peer else ['s32', 's32', 's64', 'u32', 's8', 'u8', 'u16', 'u64', 'u4']
        value = self.pick(lambda v: v.type in types and not v.rank)
        if value and self.choice.random() < .5: return value
        type = self.choice.choice(types)
        least, most = least_and_most(type)
        return self.add(type, (), f'constant({min(max(self.choice.choice([0, 1, 2, 3, 5, 50, -1]), least), most)})', hidden=True)

    def starts(self, count):
        """Places along `count` dimensions, of one type."""
        first = [self.start()] if count else []
        return first + [self.like(first[0].type, ()) for _ in range(count - 1)]

    def fits(self, dims, factor=3):
        return math.prod(dims) <= factor * self.settings.most_elements

    def combiner(self, type, op):
        return self.called(f'{op}_{type}', f'  a = {type}[] parameter(0)\n  b = {type}[] parameter(1)\n'
                                           f'  ROOT r = {type}[] {op}(a, b)\n')

    def combiners(self, types, ops):
        """One that combines several values side by side."""
        n, lines = len(types), []
        for i, type in enumerate(types):
            lines += [f'  a{i} = {type}[] parameter({i})', f'  b{i} = {type}[] parameter({n + i})', f'  r{i} = {type}[] {ops[i]}(a{i}, b{i})']
        lines.append(f"  ROOT r = ({', '.join(t + '[]' for t in types)}) tuple({', '.join(f'r{i}' for i in range(n))})\n")
        return self.called('_'.join(['all'] + [x for pair in zip(ops, types) for x in pair]), '\n'.join(lines))

    def comparator(self, type, direction, payloads=()):
        lines = [f'  a = {type}[] parameter(0)', f'  b = {type}[] parameter(1)']
        for i, payload in enumerate(payloads):
            lines += [f'  p{i} = {payload}[] parameter({2 * i + 2})', f'  q{i} = {payload}[] parameter({2 * i + 3})']
        order = ', type=TOTALORDER' if kind_of(type) == 'float' else ''
        lines.append(f'  ROOT r = pred[] compare(a, b), direction={direction}{order}\n')
        return self.called('_'.join([direction, type, *payloads]), '\n'.join(lines))

    def called(self, name, body):
        self.computations.setdefault(name, f'{name} {{\n{body}}}\n\n')
        return name

    def text(self, name, root):
        return f'{name} {{\n' + '\n'.join(self.lines + [f'  ROOT {root}']) + '\n}\n\n'

def random_of(seed):
    return random.Random(seed)
