"""How programs are put together: loops over tuples in tuples, computations that several instructions call, asynchronous
pairs, factorisations by custom calls, and what devices exchange."""
import dynamic
import numeric
from structured import foldable, fold_for
from values import braced, kind_of, text_of

class Tree:
    """A value or a list of trees, as a tuple of HLO."""

    def __init__(self, c, values):
        """`values` in order, in tuples of tuples; an empty tuple at times."""
        self.parts = []
        while values:
            count = c.choice.randint(1, len(values))
            part = values[:count]
            self.parts.append(Tree(c, part) if count < len(values) and c.choice.random() < .5 else part[0])
            values = values[1:] if self.parts[-1] is part[0] else values[count:]
        if c.choice.random() < .1: self.parts.append(Tree(c, []))

    def shape(self):
        return f"({', '.join(p.shape() if isinstance(p, Tree) else p.shape for p in self.parts)})"

    def built(self, c, values):
        """The name of a tuple of this form that holds `values`, an iterator, in c."""
        names = [p.built(c, values) if isinstance(p, Tree) else next(values).name for p in self.parts]
        name = c.fresh('t')
        c.lines.append(f"  {name} = {self.shape()} tuple({', '.join(names)})")
        return name

    def taken(self, c, name):
        """The values of the tuple of this name in c."""
        found = []
        for i, part in enumerate(self.parts):
            if isinstance(part, Tree):
                inner = c.fresh('t')
                c.lines.append(f'  {inner} = {part.shape()} get-tuple-element({name}), index={i}')
                found += part.taken(c, inner)
            else: found.append(c.add(part.type, part.dims, f'get-tuple-element({name}), index={i}', noisy=kind_of(part.type) in ('float', 'complex')))
        return found

def step_of(c, tree, some, count, lonely):
    """The name of a computation from a tuple to one that has been changed, and counts in its first value."""
    body = c.nested(lonely)
    body.lines.append(f'  state = {tree.shape()} parameter(0)')
    before = tree.taken(body, 'state')
    some(body, count)
    one = body.add('s32', (), 'constant(1)', hidden=True)
    after = [body.add('s32', (), f'add({before[0].name}, {one.name})', hidden=True)]
    after += [body.pick(lambda w, v=v: w.type == v.type and w.dims == v.dims, empty=True) for v in before[1:]]
    root, name = tree.built(body, iter(after)), c.fresh('step')
    c.computations[name] = body.text(name, f'r = {tree.shape()} copy({root})')
    return name

def until(c, tree, step, trips):
    """Whether the first value of a tuple of this form is below the number of trips."""
    path, at = [], tree
    while isinstance(at, Tree):
        at = at.parts[0]
        path.append(at)
    lines, last = [f'  state = {tree.shape()} parameter(0)'], 'state'
    for depth, part in enumerate(path):
        lines.append(f"  g{depth} = {part.shape() if isinstance(part, Tree) else part.shape} get-tuple-element({last}), index=0")
        last = f'g{depth}'
    lines += [f'  n = s32[] constant({trips})', f'  ROOT r = pred[] compare({last}, n), direction=LT\n']
    return c.called(f'until_{step}', '\n'.join(lines))

def nested_loop(c, some):
    """A loop that carries tuples in tuples; its body may be called besides, or be a branch."""
    if c.loops == 0: return
    c.loops -= 1
    zero = c.add('s32', (), 'constant(0)', hidden=True)
    carried = [zero] + [c.pick(empty=True) for _ in range(c.choice.choice([1, 2, 3, 5]))]
    tree = Tree(c, carried)
    forms = c.choice.sample(['while', 'call', 'conditional'], c.choice.choice([1, 2, 3]))
    step = step_of(c, tree, some, c.choice.choice([2, 4, 6]), 'conditional' in forms)
    state = tree.built(c, iter(carried))
    for form in forms:
        name = c.fresh('t')
        if form == 'while':
            text = f'while({state}), condition={until(c, tree, step, c.choice.choice([0, 1, 2, 4, 9]))}, body={step}'
        elif form == 'call': text = f'call({state}), to_apply={step}'
        else:
            other = step_of(c, tree, some, 2, True)
            text = f"conditional({c.like('pred', ()).name}, {state}, {state}), true_computation={step}, false_computation={other}"
        c.lines.append(f'  {name} = {tree.shape()} {text}')
        if c.choice.random() < .5: state = name
        tree.taken(c, name)

def shared_scalars(c):
    """One computation of two scalars: mapped, folded with, called, fused, scattered with."""
    v = c.pick(lambda v: foldable(v) and v.kind not in ('complex',))
    if not v: return
    op, noisy = fold_for(c, v)
    both = c.combiner(v.type, op)
    start = c.constant(v.type)
    for form in c.choice.sample(['map', 'reduce', 'call', 'fusion', 'mixed'], c.choice.choice([2, 3, 4])):
        if form == 'map': c.add(v.type, v.dims, f'map({v.name}, {c.like(v.type, v.dims).name}), dimensions={braced(range(v.rank))}, to_apply={both}', noisy=noisy)
        elif form == 'reduce':
            gone = c.choice.randrange(v.rank)
            c.add(v.type, [n for d, n in enumerate(v.dims) if d != gone], f'reduce({v.name}, {start.name}), dimensions={{{gone}}}, to_apply={both}', noisy=noisy)
        elif form == 'call': c.add(v.type, (), f'call({start.name}, {c.like(v.type, ()).name}), to_apply={both}', noisy=noisy)
        elif form == 'fusion': c.add(v.type, (), f'fusion({start.name}, {c.like(v.type, ()).name}), kind=kLoop, calls={both}', noisy=noisy)
        else: c.add(v.type, (), f'map({start.name}, {c.like(v.type, ()).name}), dimensions={{}}, to_apply={both}', noisy=noisy)

def asynchronous(c):
    """Both halves, what may be between them."""
    v = c.pick(lambda v: v.rank)
    if not v: return
    if c.choice.random() < .4:
        start = c.fresh('t')
        c.lines.append(f'  {start} = ({v.shape}, {v.shape}, u32[]) copy-start({v.name})')
        c.pick()
        return c.add(v.type, v.dims, f'copy-done({start})')
    ends = [c.choice.randint(1, n) for n in v.dims]
    part = text_of(v.type, ends)
    wrapped = c.called(c.fresh('cut'), f"  p = {v.shape} parameter(0)\n  ROOT r = {part} slice(p), slice={braced(f'[0:{n}]' for n in ends)}\n")
    start, then = c.fresh('t'), c.fresh('t')
    shape = f'(({v.shape}), {part}, u32[])'
    c.lines.append(f'  {start} = {shape} async-start({v.name}), calls={wrapped}')
    if c.choice.random() < .4:
        c.lines.append(f'  {then} = {shape} async-update({start})')
        start = then
    c.add(v.type, ends, f'async-done({start})')

def carried_bounds(c):
    """A loop that carries an array whose size is known late."""
    v = c.pick(lambda v: v.rank and v.rank < 4 and v.integral)
    if not v or c.loops == 0: return
    along = c.choice.randrange(v.rank)
    x = dynamic.Bounded(c, v.type, v.dims, {along}, f'set-dimension-size({v.name}, {dynamic.size_within(c, v.dims[along]).name}), dimensions={{{along}}}')
    inner = c.nested()
    state = f'(s32[], {x.shape})'
    inner.lines.append(f'  state = {state} parameter(0)')
    number = inner.add('s32', (), 'get-tuple-element(state), index=0')
    y = dynamic.Bounded(inner, v.type, v.dims, {along}, 'get-tuple-element(state), index=1')
    for _ in range(c.choice.choice([1, 2])):
        y = c.choice.choice([dynamic.combine, dynamic.sort, dynamic.reverse] if y.late != {0} else [dynamic.combine, dynamic.sort])(inner, y)
    one = inner.add('s32', (), 'constant(1)', hidden=True)
    following = inner.add('s32', (), f'add({number.name}, {one.name})', hidden=True)
    step = c.fresh('step')
    c.computations[step] = inner.text(step, f'r = {state} tuple({following.name}, {y.name})')
    condition = c.called(f'until_{step}', f'  state = {state} parameter(0)\n  i = s32[] get-tuple-element(state), index=0\n'
                                          f'  n = s32[] constant({c.choice.choice([0, 1, 3])})\n  ROOT r = pred[] compare(i, n), direction=LT\n')
    start, end = c.fresh('t'), c.fresh('t')
    zero = c.add('s32', (), 'constant(0)', hidden=True)
    c.lines += [f'  {start} = {state} tuple({zero.name}, {x.name})', f'  {end} = {state} while({start}), condition={condition}, body={step}']
    z = dynamic.Bounded(c, v.type, v.dims, {along}, f'get-tuple-element({end}), index=1')
    c.add('s32', (), f'get-dimension-size({z.name}), dimensions={{{along}}}')
    left = [n for d, n in enumerate(v.dims) if d != along]
    c.add(v.type, left, f"reduce({z.name}, {c.constant(v.type).name}), dimensions={{{along}}}, to_apply={c.combiner(v.type, 'add')}")

LETTERS = {'f32': 's', 'f64': 'd', 'c64': 'c'}

def factors(c):
    """By LAPACK's names. What is free, such as signs of vectors, nobody sees."""
    a = numeric.square(c)
    if not a: return
    letter, batch, n = LETTERS[a.type], list(a.dims[:-2]), a.dims[-1]
    real = 'f64' if a.type == 'f64' else 'f32'
    own = c.choice.choice(['potrf', 'geqrf', 'getrf', 'syevd', 'gesdd'])
    name = 'heevd' if own == 'syevd' and a.type == 'c64' else own
    results = {'potrf': [(a.type, a.dims), ('s32', batch)], 'geqrf': [(a.type, a.dims), (a.type, [*batch, n])],
               'getrf': [(a.type, a.dims), ('s32', [*batch, n]), ('s32', batch)], 'syevd': [(a.type, a.dims), (real, [*batch, n]), ('s32', batch)],
               'gesdd': [(a.type, a.dims), (real, [*batch, n]), (a.type, a.dims), (a.type, a.dims), ('s32', batch)]}[own]
    config = {'potrf': 'uplo = 76 : ui8', 'syevd': 'mode = 86 : ui8, uplo = 76 : ui8', 'gesdd': 'mode = 65 : ui8'}.get(own, '')
    call = c.fresh('t')
    c.lines.append(f"  {call} = ({', '.join(text_of(*r) for r in results)}) custom-call({a.name}), custom_call_target=\"lapack_{letter}{name}_ffi\", "
                   f"api_version=API_VERSION_TYPED_FFI, backend_config={{{config}}}")
    seen = {'syevd': [1, 2], 'gesdd': [1, 4], 'potrf': [1]}.get(own, range(len(results)))
    for i in seen: c.add(*results[i], f'get-tuple-element({call}), index={i}', noisy=True)

def exchanged(c):
    """What devices tell each other; the same on all of them, so that none waits for ever."""
    n = c.settings.devices
    v = c.pick(lambda v: v.rank and foldable(v))
    if n < 2 or c.lonely or not v: return
    halves = [list(range(0, n, 2)), list(range(1, n, 2))]
    groups = c.choice.choice([[list(range(n))], [list(range(n))[::-1]]] + [halves] * (n % 2 == 0))
    size, text = len(groups[0]), f"replica_groups={{{','.join(map(braced, groups))}}}"
    along = c.choice.randrange(v.rank)
    scaled = lambda factor: [k * factor if d == along else k for d, k in enumerate(v.dims)]
    form = c.choice.choice(['all-reduce', 'all-reduce-pair', 'all-gather', 'reduce-scatter', 'all-to-all', 'collective-permute', 'number'])
    op, noisy = fold_for(c, v)
    both = c.combiner(v.type, op)
    if form == 'all-reduce': c.add(v.type, v.dims, f'all-reduce({v.name}), {text}, to_apply={both}', noisy=noisy)
    elif form == 'all-reduce-pair':
        start = c.fresh('t')
        c.lines.append(f'  {start} = {v.shape} all-reduce-start({v.name}), {text}, to_apply={both}')
        c.add(v.type, v.dims, f'all-reduce-done({start})', noisy=noisy or not v.exact)
    elif form == 'all-gather' and c.fits(scaled(size)): c.add(v.type, scaled(size), f'all-gather({v.name}), {text}, dimensions={{{along}}}')
    elif form == 'reduce-scatter' and c.fits(scaled(size)):
        wide = c.like(v.type, scaled(size))
        c.add(v.type, v.dims, f'reduce-scatter({wide.name}), {text}, dimensions={{{along}}}, to_apply={both}', noisy=noisy)
    elif form == 'all-to-all' and c.fits(scaled(size)):
        wide = c.like(v.type, scaled(size))
        c.add(v.type, wide.dims, f'all-to-all({wide.name}), {text}, dimensions={{{along}}}')
    elif form == 'collective-permute':
        targets = c.choice.sample(range(n), n)
        pairs = [f'{{{i},{t}}}' for i, t in enumerate(targets) if c.choice.random() < .8]
        c.add(v.type, v.dims, f"collective-permute({v.name}), source_target_pairs={{{','.join(pairs)}}}")
    else: c.add('u32', (), 'replica-id()')

def operations(some, floats):
    def loop(c): nested_loop(c, some)
    loop.__name__ = 'nested_loop'
    return [(loop, 1.5), (shared_scalars, .5), (asynchronous, .7), (carried_bounds, .4), (exchanged, 2)] + [(factors, .7)] * floats
