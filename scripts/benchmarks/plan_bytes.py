"""What a compiled module moves and launches, read from its text: ours after scheduling, or XLA's after optimisation.

A kernel reads its operands and writes its result, each once; of an operand that only slices and gathers read, as much as
they have, and of what is updated in place the update. Loops count as often as is known of them (else UNKNOWN_TRIPS),
branches as the dearest one.
"""
import re

UNKNOWN_TRIPS = 10
BITS = {'pred': 8, 's2': 2, 'u2': 2, 's4': 4, 'u4': 4, 'c64': 64, 'c128': 128}
FREE = {'parameter', 'constant', 'get-tuple-element', 'tuple', 'bitcast', 'after-all', 'partition-id', 'replica-id', 'add-dependency',
        'opt-barrier'}
PARTIAL = {'dynamic-slice', 'slice', 'gather'}


def bits_of(element_type):
    if element_type in BITS: return BITS[element_type]
    found = re.match(r'(?:bf|f|s|u)(\d+)', element_type)
    return int(found[1]) if found else 0


def size(shape):
    """Bytes of all arrays that a shape's text names."""
    total = 0
    for element_type, dims in re.findall(r'\b([a-z]+\d*[a-z0-9]*)\[([\d,<=]*)\]', shape):
        count = 1
        for d in re.findall(r'\d+', dims): count *= int(d)
        total += count * bits_of(element_type) // 8
    return total


def until_closed(text, at):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    for end in range(at, len(text)):
        depth += {'(': 1, ')': -1}.get(text[end], 0)
        if depth == 0: return end + 1
    return len(text)


class Instruction:
    def __init__(self, name, text):
        self.name = name
        end = until_closed(text, 0) if text.startswith('(') else text.find(' ')
        self.shape, rest = text[:end], text[end:].lstrip()
        self.op = re.match(r'[a-z][\w\-]*', rest)[0] if re.match(r'[a-z]', rest) else ''
        begin = len(self.op)
        end = until_closed(rest, begin) if rest[begin:begin + 1] == '(' else begin
        self.operands = re.findall(r'%([\w.\-]+)', rest[begin:end])
        self.attributes = rest[end:]

    def callee(self, key):
        found = re.search(key + r'=%?([\w.\-]+)', self.attributes)
        return found[1] if found else None


class Module:
    def __init__(self, text):
        self.computations, self.entry, current = {}, None, None
        for line in text.split('\n'):
            head = re.match(r'(ENTRY )?%?([\w.\-]+) .*\{\s*$', line)
            if head and not line.startswith('HloModule'):
                current = self.computations[head[2]] = []
                if head[1]: self.entry = head[2]
            elif current is not None:
                found = re.match(r'\s+(?:ROOT )?%?([\w.\-]+) = (.*)', line)
                if found: current.append(Instruction(found[1], found[2]))

    def fusion_bytes(self, inst):
        body = self.computations.get(inst.callee('calls'), [])
        shapes = {i.name: i.shape for i in body}
        users, read, written = {}, 0, size(inst.shape)
        for i in body:
            for operand in i.operands: users.setdefault(operand, []).append(i)
        for p in body:
            if p.op != 'parameter': continue
            first = [u for u in users.get(p.name, []) if u.operands[0] == p.name]
            whole = len(first) < len(users.get(p.name, [])) or not first
            if not whole and all(u.op in PARTIAL for u in first): read += min(size(p.shape), sum(size(u.shape) for u in first))
            elif whole or any(u.op != 'dynamic-update-slice' for u in first): read += size(p.shape)
        for i in body:
            if i.op == 'dynamic-update-slice' and size(i.shape) <= written:
                written -= size(i.shape) - size(shapes.get(i.operands[1], ''))
        return read + written

    def cost(self, computation):
        """Bytes and launches."""
        total = [0, 0]
        shapes = {i.name: i.shape for i in self.computations[computation]}

        def add(cost, times=1):
            total[0] += cost[0] * times
            total[1] += cost[1] * times
        for inst in self.computations[computation]:
            if inst.op in FREE or inst.op.endswith('-done'): continue
            if inst.op == 'while':
                trips = re.search(r'known_trip_count"?:\s*\{"n":"(\d+)"', inst.attributes)
                add(self.cost(inst.callee('body')), int(trips[1]) if trips else UNKNOWN_TRIPS)
            elif inst.op == 'conditional':
                branches = re.search(r'branch_computations=\{([^}]*)\}', inst.attributes)
                names = re.findall(r'[\w.\-]+', branches[1]) if branches else re.findall(r'(?:true|false)_computation=%?([\w.\-]+)', inst.attributes)
                costs = [self.cost(name) for name in names]
                add((max(c[0] for c in costs), max(c[1] for c in costs)))
            elif inst.op == 'call':
                add(self.cost(inst.callee('to_apply')))
            elif inst.op == 'fusion':
                add((self.fusion_bytes(inst), 1))
            else:
                add((size(inst.shape) + sum(size(shapes.get(o, '')) for o in set(inst.operands)), 1))
        return tuple(total)


def bytes_and_launches(path):
    with open(path, encoding='utf-8') as file: module = Module(file.read())
    return module.cost(module.entry)
