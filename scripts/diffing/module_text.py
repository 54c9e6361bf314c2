"""HLO modules as lines: enough of the language to rename, reorder and edit what hlo-opt prints."""
import re

NAME = re.compile(r'%([\w.\-]+)')
QUOTED = re.compile(r'("(?:[^"\\]|\\.)*")')
SHAPE = re.compile(r'\b(\w+)\[([\d,<=? ]*)\](\{[^{}]*\})?')


class Instruction:
    """One line: `ROOT %name = shape opcode(operands), attributes`."""

    def __init__(self, root, name, shape, opcode, operands, attributes):
        self.root, self.name, self.shape, self.opcode = root, name, shape, opcode
        self.operands, self.attributes = operands, attributes  # operands: names, or literal text in a string

    def copy(self):
        operands = self.operands if isinstance(self.operands, str) else list(self.operands)
        return Instruction(self.root, self.name, self.shape, self.opcode, operands, self.attributes)

    def text(self):
        operands = self.operands if isinstance(self.operands, str) else ', '.join('%' + o for o in self.operands)
        return f'  {"ROOT " if self.root else ""}%{self.name} = {self.shape} {self.opcode}({operands}){self.attributes}'

    def references(self):
        """Names in attributes: called computations, control predecessors."""
        return [m for part in QUOTED.split(self.attributes)[::2] for m in NAME.findall(part)]

    def depends_on(self):
        return ([] if isinstance(self.operands, str) else self.operands) + self.references()

    def meaning(self):
        """Everything but names and metadata."""
        return (self.opcode, bare_shape(self.shape), self.operands if isinstance(self.operands, str) else '',
                NAME.sub('%', without_metadata(self.attributes)))


def bare_shape(shape):
    return re.sub(r'/\*.*?\*/', '', shape)


def without_metadata(attributes):
    """Attributes less `metadata={…}`, which may hold quoted braces."""
    at = attributes.find(', metadata={')
    if at < 0:
        return attributes
    return attributes[:at] + attributes[closing(attributes, at + 11) + 1:]


def closing(text, at):
    """Where the bracket at `at` closes."""
    depth, quoted, i = 0, False, at
    while i < len(text):
        c = text[i]
        if quoted:
            if c == '\\':
                i += 1
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in '([{':
            depth += 1
        elif c in ')]}':
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise ValueError(f'no closing bracket in {text[at:at + 80]!r}')


class Computation:
    def __init__(self, head, instructions, tail='}'):
        self.head, self.instructions, self.tail = head, instructions, tail

    @property
    def name(self):
        return NAME.search(self.head).group(1)

    @property
    def entry(self):
        return self.head.startswith('ENTRY')

    def copy(self):
        return Computation(self.head, [i.copy() for i in self.instructions], self.tail)


class Module:
    def __init__(self, header, computations):
        self.header, self.computations = header, computations

    def copy(self):
        return Module(self.header, [c.copy() for c in self.computations])

    def text(self):
        parts = [self.header]
        for c in self.computations:
            parts += [c.head, *(i.text() for i in c.instructions), c.tail, '']
        return '\n'.join(parts) + '\n'

    def instructions(self):
        return [i for c in self.computations for i in c.instructions]

    def scheduled(self):
        return 'is_scheduled=true' in self.header


def parse_instruction(line):
    rest = line.strip()
    root = rest.startswith('ROOT ')
    rest = rest[5:] if root else rest
    name, _, rest = rest.partition(' = ')
    end = closing(rest, 0) + 1 if rest.startswith('(') else rest.index(' ')
    shape, rest = rest[:end], rest[end + 1:]
    opened = rest.index('(')
    closed = closing(rest, opened)
    opcode, inside, attributes = rest[:opened], rest[opened + 1:closed], rest[closed + 1:]
    plain = re.sub(r'/\*.*?\*/', '', inside)
    names = [p.strip() for p in plain.split(',')]
    if opcode in ('constant', 'parameter') or any(not p.startswith('%') for p in names):
        operands = inside if inside else []
    else:
        operands = [p[1:] for p in names]
    return Instruction(root, name.lstrip('%'), shape, opcode, operands, attributes)


def parse(text):
    """A module as `hlo-opt` prints it."""
    header, computations, current = [], [], None
    for line in text.split('\n'):
        if current is not None:
            if line.startswith('}'):
                current.tail = line
                computations.append(current)
                current = None
            elif line.strip():
                current.instructions.append(parse_instruction(line))
        elif line.endswith('{') and re.match(r'(ENTRY )?%', line):
            current = Computation(line, [])
        elif not computations:
            header.append(line)
    return Module('\n'.join(header).rstrip('\n') + '\n', computations)


def renamed(module, rng, prefix='v'):
    """A copy with all names of instructions and computations drawn anew; also old name -> new name."""
    result = module.copy()
    instructions, computations = result.instructions(), result.computations
    numbers = rng.sample(range(len(instructions) + len(computations)), len(instructions) + len(computations))
    new_names = {}
    for i, n in zip(instructions, numbers):
        new_names[i.name] = f'{prefix}{n}'
    calls = {c.name: f'c{n}' for c, n in zip(computations, numbers[len(instructions):])}

    def replace(text):
        parts = QUOTED.split(text)
        parts[::2] = [NAME.sub(lambda m: '%' + (calls.get(m[1]) or new_names.get(m[1], m[1])), p) for p in parts[::2]]
        return ''.join(parts)

    for c in computations:
        c.head = re.sub(NAME, lambda m: '%' + calls[m[1]], c.head, count=1)
        c.head = re.sub(r'\(([\w.\-]+): ', r'(p: ', c.head)
        c.head = c.head.split(' (')[0] + ' {' if ' (' in c.head else c.head
        for i in c.instructions:
            i.name = new_names[i.name]
            if not isinstance(i.operands, str):
                i.operands = [new_names[o] for o in i.operands]
            i.attributes = replace(i.attributes)
    return result, new_names


def shuffled(items, names_of, depends_on, rng):
    """A random order in which everything comes after what it depends on."""
    by_name = {names_of(x): k for k, x in enumerate(items)}
    waiting, users = [0] * len(items), [[] for _ in items]
    for k, x in enumerate(items):
        for name in set(depends_on(x)):
            if name in by_name and by_name[name] != k:
                waiting[k] += 1
                users[by_name[name]].append(k)
    ready, order = [k for k, n in enumerate(waiting) if n == 0], []
    while ready:
        at = rng.randrange(len(ready))
        ready[at], ready[-1] = ready[-1], ready[at]
        k = ready.pop()
        order.append(items[k])
        for u in users[k]:
            waiting[u] -= 1
            if waiting[u] == 0:
                ready.append(u)
    assert len(order) == len(items), 'a cycle'
    return order


def reordered(module, rng):
    """A copy with instructions and computations in another order that respects dependencies."""
    result = module.copy()
    for c in result.computations:
        c.instructions = shuffled(c.instructions, lambda i: i.name, Instruction.depends_on, rng)
    result.computations = shuffled(result.computations, lambda c: c.name,
                                   lambda c: [r for i in c.instructions for r in i.references()], rng)
    return result


def relaid(module, rng):
    """A copy in which every array has a random layout."""
    def relay(match):
        rank = len([d for d in match[2].split(',') if d])
        if rank < 2 or match[3] and not re.fullmatch(r'\{[\d,]*\}', match[3]):
            return match[0]
        order = rng.sample(range(rank), rank)
        return f'{match[1]}[{match[2]}]{{{",".join(map(str, order))}}}'
    result = module.copy()
    result.header = '\n'.join(SHAPE.sub(relay, line) if line.startswith('HloModule') else line
                              for line in result.header.split('\n'))
    for i in result.instructions():
        i.shape = SHAPE.sub(relay, i.shape)
    return result


def unshared(module):
    """A copy in which every caller has its own copy of what it calls, one level deep."""
    result = module.copy()
    bodies = {c.name: c for c in result.computations}
    taken = {i.name for i in result.instructions()}
    seen, made, number = set(), {}, 0
    for c in result.computations:
        for i in c.instructions:
            for callee in [r for r in i.references() if r in bodies]:
                if callee not in seen:
                    seen.add(callee)
                    continue
                if any(r in bodies for x in bodies[callee].instructions for r in x.references()):
                    continue
                clone = bodies[callee].copy()
                suffix, number = f'.own{number}', number + 1
                clone.head = NAME.sub(lambda m: '%' + m[1] + suffix, clone.head, count=1)
                names = {x.name: x.name + suffix for x in clone.instructions}
                assert not taken & set(names.values())
                for x in clone.instructions:
                    x.name = names[x.name]
                    if not isinstance(x.operands, str):
                        x.operands = [names[o] for o in x.operands]
                    x.attributes = NAME.sub(lambda m: '%' + names.get(m[1], m[1]), x.attributes)
                made.setdefault(c.name, []).append(clone)
                i.attributes = re.sub(r'%' + re.escape(callee) + r'(?![\w.\-])', '%' + callee + suffix, i.attributes, count=1)
    result.computations = [x for c in result.computations for x in (*made.get(c.name, []), c)]
    return result


COMMUTATIVE = {'add', 'multiply', 'maximum', 'minimum', 'and', 'or', 'xor'}


def commuted(module, rng):
    """A copy in which commutative operations have their operands in either order."""
    result = module.copy()
    for i in result.instructions():
        if i.opcode in COMMUTATIVE and len(i.operands) == 2 and rng.random() < 0.5:
            i.operands = i.operands[::-1]
    return result
