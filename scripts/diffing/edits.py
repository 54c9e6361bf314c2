"""Random edits of modules, with what a comparison may say about each."""
import re
from collections import Counter, defaultdict

from module_text import COMMUTATIVE, Instruction, bare_shape

ROUNDS = 6  # of refinement; further away than this two places count as alike


class Edit:
    """One edit: `left` and `right` name the instructions it is about, `entries` is the most it may cost."""

    def __init__(self, kind, module, left=(), right=(), entries=1):
        self.kind, self.module, self.left, self.right, self.entries = kind, module, set(left), set(right), entries


def colours(module):
    """A colour for every instruction: equal where neither what it computes nor what is done with it tells two
    apart. Computations count through what they hold."""
    bodies = {c.name: c for c in module.computations}
    prints = {}

    def body_print(name):
        if name not in prints:
            prints[name] = hash(tuple(sorted(refine(bodies[name]).values())))
        return prints[name]

    def refine(c):
        own = {i.name for i in c.instructions}
        colour, users = {}, defaultdict(list)
        for i in c.instructions:
            calls = tuple(body_print(r) for r in i.references() if r in bodies)
            colour[i.name] = hash((i.root, *i.meaning(), calls))
            if not isinstance(i.operands, str):
                for k, o in enumerate(i.operands):
                    users[o].append((i.name, 0 if i.opcode in COMMUTATIVE else k))
        for _ in range(ROUNDS):
            new = {}
            for i in c.instructions:
                operands = [] if isinstance(i.operands, str) else [colour[o] for o in i.operands]
                if i.opcode in COMMUTATIVE:
                    operands.sort()
                before = sorted(colour[r] for r in i.references() if r in own)
                new[i.name] = hash((colour[i.name], tuple(operands), tuple(before),
                                    tuple(sorted((colour[u], k) for u, k in users[i.name]))))
            colour = new
        return colour

    result = {}
    for c in module.computations:
        refined = refine(c)
        prints[c.name] = hash(tuple(sorted(refined.values())))
        result.update(refined)
    return result


def same(left, right):
    """Whether nothing tells the colours of two modules apart."""
    return Counter(left.values()) == Counter(right.values())


def computation_of(module, name):
    return next(c for c in module.computations if any(i.name == name for i in c.instructions))


def operand_list(i):
    return [] if isinstance(i.operands, str) else i.operands


def users_of(c, name):
    return [i for i in c.instructions if name in operand_list(i)]


def ancestors(c, name):
    by_name, seen, todo = {i.name: i for i in c.instructions}, set(), [name]
    while todo:
        n = todo.pop()
        if n not in seen:
            seen.add(n)
            todo += [d for d in by_name[n].depends_on() if d in by_name]
    return seen


def swap_operands(module, c, i, rng):
    """Two operands of one shape exchanged, or one replaced by another value of its shape."""
    operands = operand_list(i)
    if not operands or i.opcode in ('while', 'fusion', 'call', 'conditional'):
        return None
    shapes = {x.name: bare_shape(x.shape) for x in c.instructions}
    pairs = [(a, b) for a in range(len(operands)) for b in range(a) if shapes[operands[a]] == shapes[operands[b]]]
    if i.opcode not in COMMUTATIVE and pairs and rng.random() < 0.5:
        a, b = rng.choice(pairs)
        operands[a], operands[b] = operands[b], operands[a]
    else:
        # Of what stands before it, so that no cycle arises.
        k = rng.randrange(len(operands))
        at = c.instructions.index(i)
        others = [x.name for x in c.instructions[:at] if shapes[x.name] == shapes[operands[k]] and x.name != operands[k]]
        if not others:
            return None
        operands[k] = rng.choice(others)
    return Edit('operand', module, [i.name], [i.name])


ATTRIBUTES = [
    (r'\bdirection=(EQ|NE|LT|GT|LE|GE)', {'LT': 'LE', 'LE': 'LT', 'GT': 'GE', 'GE': 'GT', 'EQ': 'NE', 'NE': 'EQ'}),
    (r'\bis_host_transfer=(true|false)', {'true': 'false', 'false': 'true'}),
    (r'\bindices_are_sorted=(true|false)', {'true': 'false', 'false': 'true'}),
    (r'\bunique_indices=(true|false)', {'true': 'false', 'false': 'true'}),
    (r'\bis_stable=(true|false)', {'true': 'false', 'false': 'true'}),
    (r'\buse_global_device_ids=(true)', {'true': 'false'}),
    (r'\bcustom_call_target="(\w+)"', None),
    (r'\boperand_precision=\{(\w+),', {'highest': 'high', 'default': 'highest', 'high': 'highest'}),
    (r'\bindex=(\d+)', None),
]


def change_attribute(module, c, i, rng):
    """One attribute's value replaced by another that the same shape allows."""
    if i.opcode == 'slice':
        found = re.search(r'\[(\d+):(\d+)\]', i.attributes)
        if not found or int(found[1]) == 0:
            return None
        i.attributes = i.attributes.replace(found[0], f'[{int(found[1]) - 1}:{int(found[2]) - 1}]', 1)
        return Edit('attribute', module, [i.name], [i.name])
    if i.opcode == 'iota':
        sizes = re.search(r'\[([\d,]+)\]', i.shape)
        found = re.search(r'iota_dimension=(\d+)', i.attributes)
        if not sizes or not found or ',' not in sizes[1]:
            return None
        other = (int(found[1]) + 1) % len(sizes[1].split(','))
        i.attributes = i.attributes.replace(found[0], f'iota_dimension={other}', 1)
        return Edit('attribute', module, [i.name], [i.name])
    if i.opcode in ('dot', 'convolution'):
        if 'operand_precision' in i.attributes:
            i.attributes = re.sub(r'operand_precision=\{\w+,\w+\}', lambda m: 'operand_precision={high,highest}', i.attributes)
        else:
            i.attributes += ', operand_precision={highest,highest}'
        return Edit('attribute', module, [i.name], [i.name])
    for pattern, words in ATTRIBUTES:
        found = re.search(pattern, i.attributes)
        if found and words and found[1] in words:
            i.attributes = i.attributes[:found.start(1)] + words[found[1]] + i.attributes[found.end(1):]
            return Edit('attribute', module, [i.name], [i.name])
    return None


def change_constant(module, c, i, rng):
    """One element of a constant replaced."""
    if i.opcode != 'constant' or not isinstance(i.operands, str):
        return None
    numbers = list(re.finditer(r'(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])', i.operands))
    words = {'true': 'false', 'false': 'true', '-inf': '0', 'inf': '0', 'nan': '0'}
    if numbers:
        m = rng.choice(numbers)
        i.operands = i.operands[:m.start()] + ('1' if float(m[0]) != 1 else '0') + i.operands[m.end():]
    elif i.operands in words:
        i.operands = words[i.operands]
    else:
        return None
    return Edit('constant', module, [i.name], [i.name], entries=2)


EXCHANGES = [('add', 'subtract'), ('multiply', 'divide'), ('maximum', 'minimum'), ('exponential', 'tanh'), ('sqrt', 'rsqrt'),
             ('subtract', 'multiply'), ('and', 'or'), ('negate', 'abs'), ('divide', 'add'), ('tanh', 'logistic')]


def exchange_opcode(module, c, i, rng):
    """One opcode exchanged for one of equal shape law."""
    for a, b in EXCHANGES:
        if i.opcode == a and not i.shape.startswith('pred'):
            i.opcode = b
            return Edit('opcode', module, [i.name], [i.name], entries=2 + len(users_of(c, i.name)))
    return None


def delete(module, c, i, rng):
    """An instruction taken out; its users take an operand of its shape."""
    shapes = {x.name: bare_shape(x.shape) for x in c.instructions}
    heirs = [o for o in operand_list(i) if shapes[o] == shapes[i.name]]
    if not heirs or i.root or any(i.name in x.references() for x in c.instructions):
        return None
    heir, users = rng.choice(heirs), users_of(c, i.name)
    for u in users:
        u.operands = [heir if o == i.name else o for o in u.operands]
    c.instructions.remove(i)
    return Edit('deleted', module, [i.name], [], entries=1 + len(users))


def insert(module, c, i, rng):
    """A new instruction between a value and its users."""
    if i.root or not re.fullmatch(r'\w+\[[\d,]*\](\{[\d,]*\})?', i.shape) or i.shape.startswith(('pred', 'token')):
        return None
    users = [u for u in users_of(c, i.name) if u.opcode not in ('get-tuple-element', 'bitcast')]
    if not users:
        return None
    new = Instruction(False, 'inserted', i.shape, rng.choice(['negate', 'copy'] + ['abs'] * (not i.shape.startswith('u'))), [i.name], '')
    for u in users:
        u.operands = ['inserted' if o == i.name else o for o in u.operands]
    c.instructions.insert(c.instructions.index(i) + 1, new)
    return Edit('inserted', module, [], ['inserted'], entries=1 + len(users))


def duplicate(module, c, i, rng):
    """A second copy of an instruction, for one of its users."""
    users = users_of(c, i.name)
    if len(users) < 2 or i.opcode in ('parameter', 'get-tuple-element') or 'channel_id' in i.attributes:
        return None
    twin, user = i.copy(), rng.choice(users)
    twin.root, twin.name = False, 'twin'
    user.operands = ['twin' if o == i.name else o for o in user.operands]
    c.instructions.insert(c.instructions.index(i) + 1, twin)
    return Edit('duplicated', module, [i.name], ['twin', i.name], entries=1 + len(users) - 1)


EDITS = [swap_operands, change_attribute, change_constant, exchange_opcode, delete, insert, duplicate]


def random_edit(module, rng, edits=None, tries=200):
    """A copy with one edit of one of the kinds, or None where it fits nowhere."""
    edit = rng.choice(edits or EDITS)
    copy = module.copy()
    for _ in range(tries):
        c = rng.choices(copy.computations, [len(x.instructions) for x in copy.computations])[0]
        fitting = [i for i in c.instructions if edit is not change_constant or i.opcode == 'constant']
        done = fitting and edit(copy, c, rng.choice(fitting), rng)
        if done:
            return done
    return None
