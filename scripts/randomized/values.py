"""Modules as they grow: values with shapes, computations, and which value an operation takes."""
import math
import random

INTEGERS = ['s8', 's16', 's32', 's64', 'u8', 'u16', 'u32', 'u64', 's4', 'u4']
FLOATS = ['f32', 'bf16', 'f16', 'f64']
# Around powers of two, where vectors and blocks end.
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 64, 65, 100, 128, 300, 1030]
CONSTANTS = {'pred': ['true', 'false'], 'float': ['0', '1', '-1.5', '0.25', '3'],
             'unsigned': ['0', '1', '2', '3', '7'], 'signed': ['0', '1', '-1', '2', '3', '7', '-8']}

def kind_of(type):
    return 'pred' if type == 'pred' else 'float' if type in FLOATS else 'unsigned' if type[0] == 'u' else 'signed'

def text_of(type, dims):
    return f"{type}[{','.join(map(str, dims))}]"

def braced(numbers):
    return '{' + ','.join(map(str, numbers)) + '}'

class Value:
    def __init__(self, name, type, dims):
        self.name, self.type, self.dims = name, type, tuple(dims)

    @property
    def rank(self): return len(self.dims)

    @property
    def kind(self): return kind_of(self.type)

    @property
    def shape(self): return text_of(self.type, self.dims)

class Computation:
    """Instructions of one computation. `own` computations of calls and loops take no parameters of their own: what
    would be one is a constant there."""

    def __init__(self, choice, types, computations, most_elements, numbers, own=False):
        self.choice, self.types, self.computations, self.most_elements = choice, types, computations, most_elements
        self.numbers, self.own = numbers, own
        self.lines, self.values, self.parameters, self.loops = [], [], 0, 2 if not own else 0

    def nested(self):
        return Computation(self.choice, self.types, self.computations, self.most_elements, self.numbers, True)

    def fresh(self, stem='v'):
        self.numbers[0] += 1
        return f'{stem}{self.numbers[0]}'

    def add(self, type, dims, text, hidden=False):
        """A new instruction; `hidden` ones are not operands of others."""
        value = Value(self.fresh(), type, dims)
        self.lines.append(f'  {value.name} = {value.shape} {text}')
        if not hidden: self.values.append(value)
        return value

    def add_tuple(self, values_or_shapes, text):
        """The elements of an instruction with several results."""
        shapes = [text_of(type, dims) for type, dims in values_or_shapes]
        name = self.fresh()
        self.lines.append(f"  {name} = ({', '.join(shapes)}) {text}")
        return [self.add(type, dims, f'get-tuple-element({name}), index={i}')
                for i, (type, dims) in enumerate(values_or_shapes)]

    def dims(self):
        while True:
            dims = [self.choice.choice(SIZES) for _ in range(self.choice.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))]
            if math.prod(dims) <= self.most_elements: return dims

    def constant(self, type, hidden=False):
        return self.add(type, (), f'constant({self.choice.choice(CONSTANTS[kind_of(type)])})', hidden)

    def parameter(self, type=None, dims=None):
        type = type or self.choice.choice(self.types)
        dims = self.dims() if dims is None else dims
        if self.own:
            constant = self.constant(type, hidden=True)
            return self.add(type, dims, f'broadcast({constant.name}), dimensions={{}}') if len(dims) else constant
        self.parameters += 1
        return self.add(type, dims, f'parameter({self.parameters - 1})')

    def pick(self, fits=lambda value: True):
        """Some value, by preference a late one; None if none fits."""
        found = [value for value in self.values if fits(value)]
        return found[max(self.choice.randrange(len(found)) for _ in range(2))] if found else None

    def like(self, type, dims):
        """A value of this shape: one that is there, a broadcast, a conversion, a parameter."""
        dims = tuple(dims)
        luck = self.choice.random()
        value = self.pick(lambda v: v.type == type and v.dims == dims)
        if value and luck < .6: return value
        scalar = self.pick(lambda v: v.type == type and not v.rank)
        if scalar and luck < .7: return self.add(type, dims, f'broadcast({scalar.name}), dimensions={{}}')
        if luck < .8: return self.add(type, dims, f'broadcast({self.constant(type).name}), dimensions={{}}')
        other = self.pick(lambda v: v.dims == dims and (kind_of(type) == 'float' or v.kind != 'float'))
        if other and luck < .9: return self.converted(other, type)
        return self.parameter(type, dims)

    def converted(self, value, type):
        return value if value.type == type else self.add(type, value.dims, f'convert({value.name})')

    def start(self):
        """A place in an array, perhaps outside."""
        value = self.pick(lambda v: v.type == 's32' and not v.rank)
        if value and self.choice.random() < .6: return value
        return self.add('s32', (), f'constant({self.choice.choice([0, 1, 2, 3, 5, -1, 50])})')

    def fits(self, dims, factor=3):
        return math.prod(dims) <= factor * self.most_elements

    def combiner(self, type, op):
        return self.called(f'{op}_{type}', f'  a = {type}[] parameter(0)\n  b = {type}[] parameter(1)\n'
                                           f'  ROOT r = {type}[] {op}(a, b)\n')

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
