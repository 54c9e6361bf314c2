"""Loops, branches and calls, and the operations their computations hold."""
import re

import contractions
import dynamic
import elementwise
import models
import movement
import numeric
import programs
import structured
from values import bits_of, kind_of, least_and_most

def some(c, count):
    for op in c.choice.choices([op for op, _ in operations(c)], [weight for _, weight in operations(c)], k=count): op(c)

def some_of(c, count, names):
    """Only operations of these names, after a few that make values."""
    chosen = [(op, weight) for op, weight in operations(c) if op.__name__.strip('_') in names.split(',')]
    for op in c.choice.choices([op for op, _ in chosen], [weight for _, weight in chosen], k=count): op(c)

def approximately(c, computation, type, dims, text):
    """Of a state that steps change: floats become approximate in them."""
    return computation.add(type, dims, text, noisy=kind_of(type) in ('float', 'complex'))

def loop(c):
    if c.loops == 0: return
    c.loops -= 1
    carried = [c.pick(empty=True) for _ in range(c.choice.choice([1, 2, 3]))]
    shape = f"(s32[], {', '.join(v.shape for v in carried)})"
    body = c.nested()
    body.lines.append(f'  state = {shape} parameter(0)')
    number = body.add('s32', (), 'get-tuple-element(state), index=0')
    before = [approximately(c, body, v.type, v.dims, f'get-tuple-element(state), index={i + 1}') for i, v in enumerate(carried)]
    some(body, c.choice.choice([2, 4, 6]))
    after = [body.pick(lambda w, v=v: w.type == v.type and w.dims == v.dims, empty=True) for v in before]
    one = body.add('s32', (), 'constant(1)', hidden=True)
    following = body.add('s32', (), f'add({number.name}, {one.name})', hidden=True)
    name = c.fresh('body')
    c.computations[name] = body.text(name, f"r = {shape} tuple({', '.join(x.name for x in [following, *after])})")
    condition = c.called(f'until_{name}', f'''  state = {shape} parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant({c.choice.choice([0, 1, 2, 5, 20] if not c.own else [0, 1, 3])})
  ROOT r = pred[] compare(i, n), direction=LT
''')
    zero, start = c.add('s32', (), 'constant(0)', hidden=True), c.fresh()
    c.lines.append(f"  {start} = {shape} tuple({', '.join(x.name for x in [zero, *carried])})")
    c.add_tuple([('s32', ())] + [(v.type, v.dims) for v in carried], f'while({start}), condition={condition}, body={name}', noisy=True)

def data_loop(c):
    """One that ends when a value says so."""
    if c.loops == 0: return
    c.loops -= 1
    v = c.pick(lambda v: v.integral and bits_of(v.type) > 2 and not v.rank)
    if not v: return
    body = c.called(c.fresh('halves'), f'  x = {v.type}[] parameter(0)\n  one = {v.type}[] constant(1)\n  ROOT r = {v.type}[] shift-right-logical(x, one)\n')
    condition = c.called(c.fresh('left'), f'  x = {v.type}[] parameter(0)\n  k = {v.type}[] constant(3)\n  ROOT r = pred[] compare(x, k), direction=NE\n')
    # From the most on every value on the way is all ones, 3 among them.
    most = c.constant(v.type, text=str(least_and_most(v.type)[1]), hidden=True)
    top = c.add(v.type, (), f'or({v.name}, {most.name})', hidden=True)
    top = c.add(v.type, (), f'and({top.name}, {most.name})', hidden=True)
    c.add(v.type, (), f'while({top.name}), condition={condition}, body={body}')

def branch_of(c, given, results):
    """The name of a computation from values like `given` to such as `results`."""
    branch, shape = c.nested(lonely=True), f"({', '.join(v.shape for v in given)})"
    if len(given) == 1: arguments = [approximately(c, branch, given[0].type, given[0].dims, 'parameter(0)')]
    else:
        branch.lines.append(f'  state = {shape} parameter(0)')
        arguments = [approximately(c, branch, v.type, v.dims, f'get-tuple-element(state), index={i}') for i, v in enumerate(given)]
    some(branch, c.choice.choice([1, 3, 5]))
    ends = [branch.pick(lambda w, v=v: w.type == v.type and w.dims == v.dims, empty=True) or arguments[i] for i, v in enumerate(results)]
    name = c.fresh('branch')
    root = f'r = {results[0].shape} copy({ends[0].name})' if len(results) == 1 else \
        f"r = ({', '.join(v.shape for v in results)}) tuple({', '.join(v.name for v in ends)})"
    c.computations[name] = branch.text(name, root)
    return name

def conditional(c):
    if c.loops == 0: return
    c.loops -= 1
    given = [c.pick(empty=True) for _ in range(c.choice.choice([1, 1, 2, 3]))]
    results = given[:c.choice.randint(1, len(given))]
    operand = given[0].name
    if len(given) > 1:
        operand = c.fresh()
        c.lines.append(f"  {operand} = ({', '.join(v.shape for v in given)}) tuple({', '.join(v.name for v in given)})")
    count = c.choice.choice([2, 2, 2, 1, 3, 5])
    names = [branch_of(c, given, results) for _ in range(count)]
    if count == 2 and c.choice.random() < .7:
        text = f"conditional({c.like('pred', ()).name}, {operand}, {operand}), true_computation={names[0]}, false_computation={names[1]}"
    else:
        chosen = c.choice.choice([c.like('s32', ()), c.constant('s32', text=str(c.choice.randint(-1, count)))])
        text = f"conditional({', '.join([chosen.name] + [operand] * count)}), branch_computations={{{', '.join(names)}}}"
    if len(results) == 1: c.add(results[0].type, results[0].dims, text, noisy=True)
    else: c.add_tuple([(v.type, v.dims) for v in results], text, noisy=True)

def unused(c):
    used = {name for line in c.lines for name in re.findall(r'\bv\d+\b', line.split(' = ', 1)[1])}
    return [v for v in c.named.values() if v.name not in used]

def subroutine(c):
    """A call, a fusion, or either half of an asynchronous call."""
    if c.loops == 0: return
    c.loops -= 1
    given = [c.pick(empty=True) for _ in range(c.choice.choice([1, 2, 3]))]
    # Fusions XLA would not make itself its emitters refuse or compute wrong.
    form = 'call' if c.settings.peer else c.choice.choice(['call', 'fusion', 'fusion', 'async'])
    inner = c.nested(lonely=form != 'call')
    inner.loops = 0
    for i, v in enumerate(given): approximately(c, inner, v.type, v.dims, f'parameter({i})')
    some(inner, c.choice.choice([1, 2, 4]))
    # Nothing in a fusion is for nobody.
    results = unused(inner) if form == 'fusion' or c.choice.random() < .5 else [inner.values[-1]]
    name, operands = c.fresh('inner'), ', '.join(v.name for v in given)
    shape = results[0].shape if len(results) == 1 else f"({', '.join(v.shape for v in results)})"
    c.computations[name] = inner.text(name, f'r = {shape} copy({results[0].name})' if len(results) == 1 else
                                      f"r = {shape} tuple({', '.join(v.name for v in results)})")
    if form == 'async':
        wrapped, start = c.fresh('wrapped'), c.fresh()
        taken = ''.join(f'  p{i} = {v.shape} parameter({i})\n' for i, v in enumerate(given))
        c.called(wrapped, f"{taken}  ROOT r = {shape} call({', '.join(f'p{i}' for i in range(len(given)))}), to_apply={name}\n")
        c.lines.append(f"  {start} = (({', '.join(v.shape for v in given)}), {shape}) async-start({operands}), calls={wrapped}")
        text = f'async-done({start})'
    elif form == 'call': text = f'call({operands}), to_apply={name}'
    else: text = f"fusion({operands}), kind={c.choice.choice(['kLoop', 'kLoop', 'kInput', 'kOutput'])}, calls={name}"
    if len(results) == 1: c.add(results[0].type, results[0].dims, text, noisy=True)
    else: c.add_tuple([(v.type, v.dims) for v in results], text, noisy=True)

CONTROL = [(loop, 1), (data_loop, .3), (conditional, 1), (subroutine, 1)]

def operations(c):
    """With how often each is taken."""
    everything = elementwise.OPS + movement.OPS + structured.OPS + contractions.OPS + dynamic.OPS + numeric.INTEGRAL + CONTROL
    # In computations of their own there are no arguments.
    if c.settings.model_sizes and not c.own: everything = everything + [(op, 4 * times) for op, times in models.OPS]
    if not c.settings.peer: everything = everything + programs.operations(some, c.settings.floats)
    return everything + numeric.FLOATING if c.settings.floats else everything
