"""Whether a comparison explains how one module became the other, checked without the comparison's own means."""
from module_text import COMMUTATIVE


def named(module):
    return {i.name: i for i in module.instructions()}


def explains(result, left, right):
    """True if all that is called unchanged is: the same opcode, shape and attributes, and operands that are pairs
    or copies of constants.
    What is added, removed and changed then turns the one module into the other, all of it and nothing else."""
    before, after = named(left), named(right)
    pairs = {e['left']['name']: e['right']['name'] for e in result['entries'] if 'left' in e and 'right' in e}
    paired = set(pairs.values())

    def copied(name, other):
        """Equal constants of which one came or went."""
        return (before[name].opcode == 'constant' and before[name].meaning() == after[other].meaning()
                and (name not in pairs or other not in paired))

    for entry in result['entries']:
        if entry['kind'] not in ('unchanged', 'moved') or 'left' not in entry or 'right' not in entry:
            continue
        a, b = before[entry['left']['name']], after[entry['right']['name']]
        if a.meaning() != b.meaning():
            return False
        if isinstance(a.operands, str):
            continue
        if len(a.operands) != len(b.operands):
            return False

        def agree(others):
            return all(pairs.get(o) == p or copied(o, p) for o, p in zip(a.operands, others))

        if not agree(b.operands) and not (a.opcode in COMMUTATIVE and agree(b.operands[::-1])):
            return False
    return True
