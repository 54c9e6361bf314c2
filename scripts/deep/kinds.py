"""Modules that are long, wide or deep in one way each: a function per way, from a size to HLO text, or to that and the text of
another module to compare it with.

KINDS has a row per way: `size` is where the comparison of times begins (it is made at four times as much, too), `small`
what the quick check takes. What a kind cannot do lies in its row, with the reason.
"""
import collections

NESTING = 8192  # levels that text and calls may nest

Kind = collections.namedtuple('Kind', 'name make size small most not_run limited power least')
KINDS = {}


def kind(size, small=None, most=None, not_run=None, limited=False, power=1.5, least=10):
    """`most`: sizes beyond are refused with a limit; `not_run`: why hlo-run does not take such modules; `limited`: they
    say in few words what may be too much for a tool, which then names its limit; `power`: of the size, by which time may grow
    (of n tuples within each other each has up to n levels, which are all looked at); `least`: the size from which on times
    grow like that."""
    def add(make):
        KINDS[make.__name__] = Kind(make.__name__, make, size, small or size // 20, most, not_run, limited, power, least)
        return make
    return add


def entry(lines, computations='', header=''):
    return f'HloModule m{header}\n\n{computations}ENTRY e {{\n' + '\n'.join(lines) + '\n}\n'


def tuple_of(names, type_of='f32[]', name='ROOT r'):
    return f'{name} = ({", ".join([type_of] * len(names))}) tuple({", ".join(names)})'


def f32_type(rank):
    return f'f32[{",".join(["1"] * rank)}]'


ADD = 'add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n'


# Long

@kind(50000)
def chain(n):
    ops = ('negate', 'abs', 'cosine', 'negate')
    return entry(['x0 = f32[4] parameter(0)', *(f'x{i} = f32[4] {ops[i % 4]}(x{i - 1})' for i in range(1, n)),
                  f'ROOT r = f32[4] negate(x{n - 1})'])


@kind(50000)
def adds(n):
    return entry(['x0 = f32[4] parameter(0)', 'y = f32[4] parameter(1)',
                  *(f'x{i} = f32[4] add(x{i - 1}, y)' for i in range(1, n)), f'ROOT r = f32[4] add(x{n - 1}, y)'])


@kind(10000)
def sums(n):
    """Of as many parameters."""
    return entry([*(f'x{i} = f32[4] parameter({i})' for i in range(n)), 'y1 = f32[4] add(x0, x1)',
                  *(f'y{i} = f32[4] add(y{i - 1}, x{i})' for i in range(2, n)), f'ROOT r = f32[4] negate(y{n - 1})'])


@kind(20000)
def iota_adds(n):
    return entry(['x0 = f32[4] parameter(0)', 'y = f32[4] iota(), iota_dimension=0',
                  *(f'x{i} = f32[4] add(x{i - 1}, y)' for i in range(1, n)), f'ROOT r = f32[4] add(x{n - 1}, y)'])


@kind(20000)
def diamonds(n):
    """Twice as many paths with every instruction."""
    return entry(['x0 = f32[4] parameter(0)', *(f'x{i} = f32[4] add(x{i - 1}, x{i - 1})' for i in range(1, n)),
                  f'ROOT r = f32[4] multiply(x{n - 1}, x{n - 1})'])


@kind(20000)
def lattice(n):
    """Every instruction reads the two before it."""
    return entry(['x0 = f32[4] parameter(0)', 'x1 = f32[4] parameter(1)',
                  *(f'x{i} = f32[4] {("add", "multiply")[i % 2]}(x{i - 1}, x{i - 2})' for i in range(2, n)),
                  f'ROOT r = f32[4] subtract(x{n - 1}, x{n - 2})'])


@kind(10000)
def movements(n):
    ops = ('f32[8,4] transpose({}), dimensions={{1,0}}', 'f32[32] reshape({})', 'f32[32] reverse({}), dimensions={{0}}',
           'f32[4,8] reshape({})')
    return entry(['x0 = f32[4,8] parameter(0)', *(f'x{i} = {ops[(i - 1) % 4].format(f"x{i - 1}")}' for i in range(1, 4 * (n // 4) + 1)),
                  f'ROOT r = f32[4,8] negate(x{4 * (n // 4)})'])


@kind(5000)
def updates(n):
    return entry(['x0 = f32[64] parameter(0)', 'u = f32[1] parameter(1)', 'k = s32[] parameter(2)',
                  *(f'x{i} = f32[64] dynamic-update-slice(x{i - 1}, u, k)' for i in range(1, n)),
                  f'ROOT r = f32[64] negate(x{n - 1})'])


@kind(10000)
def reductions(n):
    lines = ['p = f32[4,4] parameter(0)', 'z = f32[] constant(0)', 'x0 = f32[4] parameter(1)']
    for i in range(1, n):
        lines.append(f'b{i} = f32[4,4] broadcast(x{i - 1}), dimensions={{0}}')
        lines.append(f'x{i} = f32[4] reduce(b{i}, z), dimensions={{1}}, to_apply=add')
    return entry([*lines, f'ROOT r = f32[4] negate(x{n - 1})'], ADD)


@kind(10000)
def tokens(n):
    return entry(['x = f32[] parameter(0)', 't0 = token[] after-all()', *(f't{i} = token[] after-all(t{i - 1})' for i in range(1, n)),
                  f'ROOT r = f32[] add-dependency(x, t{n - 1})'])


@kind(20000)
def ordered(n):
    """A chain of control edges."""
    return entry(['x = f32[4] parameter(0)', 'n0 = f32[4] negate(x)',
                  *(f'n{i} = f32[4] {("cosine", "abs")[i % 2]}(x), control-predecessors={{n{i - 1}}}' for i in range(1, n)),
                  f'ROOT r = f32[4] add(n0, n{n - 1})'])


@kind(2000)
def loops(n):
    body = 'inc { a = s32[] parameter(0)  o = s32[] constant(1)  ROOT s = s32[] add(a, o) }\n'
    less = ''.join(f'less{i} {{ a = s32[] parameter(0)  n = s32[] constant({i + 3})  ROOT p = pred[] compare(a, n), direction=LT }}\n' for i in range(n))
    return entry(['x0 = s32[] parameter(0)', *(f'x{i + 1} = s32[] while(x{i}), condition=less{i}, body=inc' for i in range(n)),
                  f'ROOT r = s32[] negate(x{n})'], body + less)


@kind(2000, not_run='one start may have one update only where nothing is bound late')
def async_updates(n):
    shape = '((f32[4]), f32[4], u32[])'
    return entry(['x = f32[4] parameter(0)', f'st0 = {shape} async-start(x), calls=w',
                  *(f'st{i} = {shape} async-update(st{i - 1})' for i in range(1, n)), f'ROOT r = f32[4] async-done(st{n - 1})'],
                 'w { a = f32[4] parameter(0)  ROOT b = f32[4] negate(a) }\n')


@kind(300)
def growing_async(n):
    """Each update binds one parameter more."""
    def shape(bound): return f'(({", ".join(["f32[]"] * bound)}), {"f32[]" if bound == n else "()"}, u32[])'
    wrapped = '\n'.join(f'p{i} = f32[] parameter({i})' for i in range(n))
    return entry(['x = f32[] parameter(0)', f'st1 = {shape(1)} async-start(x), calls=w',
                  *(f'st{i} = {shape(i)} async-update(st{i - 1}, x)' for i in range(2, n + 1)), f'ROOT r = f32[] async-done(st{n})'],
                 f'w {{\n{wrapped}\nROOT s = f32[] add(p0, p{n - 1})\n}}\n')


KINDS['growing_async'] = KINDS['growing_async']._replace(not_run=KINDS['async_updates'].not_run)


# Wide

@kind(20000)
def fan_out(n):
    ops = ('negate', 'abs', 'cosine', 'sine', 'exponential')
    return entry(['x = f32[] parameter(0)', *(f'x{i} = f32[] {ops[i % 5]}(x)' for i in range(n)), tuple_of([f'x{i}' for i in range(n)])])


@kind(50000)
def parameters(n):
    return entry([*(f'x{i} = f32[] parameter({i})' for i in range(n)), tuple_of([f'x{i}' for i in range(n)])])


@kind(10000)
def elements(n):
    """All elements of a wide tuple, changed and put together again."""
    return entry([f'x = ({", ".join(["f32[]"] * n)}) parameter(0)', *(f'g{i} = f32[] get-tuple-element(x), index={i}' for i in range(n)),
                  *(f'y{i} = f32[] negate(g{i})' for i in range(n)), tuple_of([f'y{i}' for i in range(n)])])


@kind(5000)
def carried(n):
    """A loop that carries many values."""
    shape = f'({", ".join(["s32[]"] * n)})'
    gte = [f'g{i} = s32[] get-tuple-element(t), index={i}' for i in range(n)]
    body = [f't = {shape} parameter(0)', 'o = s32[] constant(1)', *gte, *(f'y{i} = s32[] add(g{i}, o)' for i in range(n)),
            tuple_of([f'y{i}' for i in range(n)], 's32[]')]
    less = [f't = {shape} parameter(0)', 'g = s32[] get-tuple-element(t), index=0', 'k = s32[] constant(3)',
            'ROOT p = pred[] compare(g, k), direction=LT']
    text = 'body {\n' + '\n'.join(body) + '\n}\nless {\n' + '\n'.join(less) + '\n}\n'
    return entry([f'x = {shape} parameter(0)', f'ROOT w = {shape} while(x), condition=less, body=body'], text)


def loop_over(elements, inits, lines):
    """Its body begins with `t`, ends with `lines`, and reads element i as g{i}."""
    shape = f'({", ".join(["s32[]"] * elements)})'
    less = [f't = {shape} parameter(0)', 'g = s32[] get-tuple-element(t), index=0', 'k = s32[] constant(3)',
            'ROOT p = pred[] compare(g, k), direction=LT']
    gte = [f'g{i} = s32[] get-tuple-element(t), index={i}' for i in range(elements)]
    text = 'body {\n' + '\n'.join([f't = {shape} parameter(0)', *gte, *lines]) + '\n}\nless {\n' + '\n'.join(less) + '\n}\n'
    return [*inits, f'w = {shape} while(init), condition=less, body=body'], text


@kind(2000)
def accumulations(n):
    """Sums of what is exchanged, and of what is shown again: each is read before it is made anew."""
    names = ['z'] + ['a'] * n + ['b'] * n
    lines = ['o = s32[] constant(1)', 'y0 = s32[] add(g0, o)', *(f'r{i} = s32[] all-reduce(g{n + i}), replica_groups={{}}, to_apply=sum' for i in range(1, n + 1)),
             *(f'y{i} = s32[] add(g{i}, r{i})' for i in range(1, n + 1)), *(f'y{n + i} = s32[] negate(g{n + i})' for i in range(1, n + 1)),
             tuple_of([f'y{i}' for i in range(2 * n + 1)], 's32[]')]
    inits = ['a = s32[] parameter(0)', 'b = s32[] parameter(1)', 'z = s32[] constant(0)', tuple_of(names, 's32[]', 'init')]
    outer, text = loop_over(2 * n + 1, inits, lines)
    reads = [f'e{i} = s32[] get-tuple-element(w), index={i}' for i in range(2 * n + 1)]
    add = 'sum { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT s = s32[] add(a, b) }\n'
    return entry([*outer, *reads, tuple_of([f'e{i}' for i in range(2 * n + 1)], 's32[]')], add + text)


@kind(5000)
def counters(n):
    """Each grows by a number of its own."""
    lines = [*(f'o{i} = s32[] constant({i + 1})' for i in range(n)), *(f'y{i} = s32[] add(g{i}, o{i})' for i in range(n)),
             tuple_of([f'y{i}' for i in range(n)], 's32[]')]
    inits = ['z = s32[] constant(0)', 'a = s32[] parameter(0)', tuple_of(['z'] + ['a'] * (n - 1), 's32[]', 'init')]
    outer, text = loop_over(n, inits, lines)
    reads = [f'e{i} = s32[] get-tuple-element(w), index={i}' for i in range(n)]
    return entry([*outer, *reads, tuple_of([f'e{i}' for i in range(n)], 's32[]')], text)


@kind(2000)
def steps_of_loop(n):
    """A loop whose body is a kernel after the other."""
    shape = '(s32[], f32[4,4])'
    body = [f't = {shape} parameter(0)', 'i = s32[] get-tuple-element(t), index=0', 'x0 = f32[4,4] get-tuple-element(t), index=1', 'o = s32[] constant(1)',
            'j = s32[] add(i, o)', *(f'x{i + 1} = f32[4,4] dot(x{i}, x{i}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{i % 2}}}' for i in range(n)),
            f'ROOT r = {shape} tuple(j, x{n})']
    less = [f't = {shape} parameter(0)', 'g = s32[] get-tuple-element(t), index=0', 'k = s32[] constant(3)', 'ROOT p = pred[] compare(g, k), direction=LT']
    text = 'body {\n' + '\n'.join(body) + '\n}\nless {\n' + '\n'.join(less) + '\n}\n'
    return entry(['z = s32[] constant(0)', 'x = f32[4,4] parameter(0)', f'init = {shape} tuple(z, x)', f'ROOT w = {shape} while(init), condition=less, body=body'], text)


@kind(5000)
def chosen(n):
    """Branches whose results are alike, element by element."""
    shape = f'({", ".join(["f32[]"] * n)})'
    branches = ''.join(f'{name} {{ a = f32[] parameter(0)  b = f32[] {op}(a)  {tuple_of(["b"] * n)} }}\n' for name, op in (('t', 'negate'), ('f', 'cosine')))
    return entry(['p = pred[] parameter(0)', 'x = f32[] parameter(1)', f'c = {shape} conditional(p, x, x), true_computation=t, false_computation=f',
                  *(f'e{i} = f32[] get-tuple-element(c), index={i}' for i in range(n)), tuple_of([f'e{i}' for i in range(n)])], branches)


@kind(5000)
def one_value(n):
    """Branches that return one value many times."""
    shape = f'({", ".join(["f32[]"] * n)})'
    branches = ''.join(f'{name} {{ a = f32[] parameter(0)  b = f32[] {op}(a)  {tuple_of(["b"] * n)} }}\n' for name, op in (('t', 'negate'), ('f', 'cosine')))
    return entry(['p = pred[] parameter(0)', 'x = f32[] parameter(1)', f'ROOT c = {shape} conditional(p, x, x), true_computation=t, false_computation=f'], branches)


@kind(5000)
def carried_once(n):
    """A loop that carries one value many times."""
    lines = ['o = s32[] constant(1)', 'j = s32[] add(g0, o)', 'h = s32[] negate(g1)', tuple_of(['j'] + ['h'] * n, 's32[]')]
    inits = ['z = s32[] constant(0)', 'x = s32[] parameter(0)', tuple_of(['z'] + ['x'] * n, 's32[]', 'init')]
    outer, text = loop_over(n + 1, inits, lines)
    return entry([*outer, 'e = s32[] get-tuple-element(w), index=1', 'ROOT r = s32[] negate(e)'], text)


@kind(10000)
def exchanges(n):
    """Of arrays each, that do not depend on one another."""
    return entry(['x = f32[] parameter(0)', *(f'r{i} = f32[] all-reduce(x), replica_groups={{}}, to_apply=add' for i in range(n)),
                  tuple_of([f'r{i}' for i in range(n)])], ADD)


@kind(10000)
def unlike_exchanges(n):
    """Each like one other only."""
    return entry(['x = f32[] parameter(0)', *(f'r{i} = f32[] all-reduce(x), replica_groups={{}}, to_apply=add, frontend_attributes={{k="{i // 2}"}}'
                                              for i in range(n)), tuple_of([f'r{i}' for i in range(n)])], ADD)


@kind(10000, not_run='a custom call that nobody defines')
def unlike_values(n):
    """Each like one other only, by what is beside operands and attributes."""
    def made(i, k):
        ways = (f'f32[8] negate(x), sharding={{maximal device={k}}}', f'f32[8] domain(x), domain={{kind="sharding", entry={{maximal device={k}}}, exit={{replicated}}}}',
                f'(f32[{k + 1}]) custom-call(x), custom_call_target="f"', f'f32[8] exponential(x), result_accuracy={{tolerance={{atol={k},rtol=0,ulps=0}}}}')
        return f'r{i} = {ways[k % 4]}'
    shapes = [f'(f32[{i // 2 + 1}])' if i // 2 % 4 == 2 else 'f32[8]' for i in range(n)]
    return entry(['x = f32[8] parameter(0)', *(made(i, i // 2) for i in range(n)), f'ROOT r = ({", ".join(shapes)}) tuple({", ".join(f"r{i}" for i in range(n))})'])


@kind(10000)
def sliced_sums(n):
    return entry(['x = f32[8] parameter(0)', *(f'p{i} = f32[8] {("negate", "cosine")[i % 2]}(x)' for i in range(n)), 'y0 = f32[8] add(x, p0)',
                  *(f'y{i} = f32[8] add(y{i - 1}, p{i})' for i in range(1, n)), f'ROOT s = f32[2] slice(y{n - 1}), slice={{[1:3]}}'])


@kind(10000)
def concatenation(n):
    return entry(['x = f32[1] parameter(0)', 'y = f32[1] negate(x)', f'ROOT c = f32[{2 * n}] concatenate({", ".join(["x, y"] * n)}), dimensions={{0}}'])


@kind(5000)
def computed_operands(n):
    """One instruction reads many, each computed for it."""
    return entry([*(f'x{i} = f32[1] parameter({i})' for i in range(n)), *(f'y{i} = f32[1] negate(x{i})' for i in range(n)),
                  f'ROOT c = f32[{n}] concatenate({", ".join(f"y{i}" for i in range(n))}), dimensions={{0}}'])


@kind(5000)
def constant_operands(n):
    """Every second one is a number."""
    return entry(['x = f32[1] parameter(0)', *(f'k{i} = f32[1] constant({{{i}}})' for i in range(n)),
                  f'ROOT c = f32[{2 * n}] concatenate({", ".join(f"x, k{i}" for i in range(n))}), dimensions={{0}}'])


@kind(10000)
def computed_fan_out(n):
    """Many read what costs little to compute again."""
    ops = ('negate', 'abs', 'cosine', 'sine', 'exponential')
    return entry(['p = f32[] parameter(0)', 'x = f32[] negate(p)', *(f'x{i} = f32[] {ops[i % 5]}(x)' for i in range(n)), tuple_of([f'x{i}' for i in range(n)])])


@kind(2000)
def branches(n):
    made = ''.join(f'b{i} {{ a = f32[] parameter(0)  k = f32[] constant({i})  ROOT s = f32[] add(a, k) }}\n' for i in range(n))
    names = ', '.join(f'b{i}' for i in range(n))
    return entry(['i = s32[] parameter(0)', 'x = f32[] parameter(1)',
                  f'ROOT c = f32[] conditional(i, {", ".join(["x"] * n)}), branch_computations={{{names}}}'], made)


@kind(10000)
def after(n):
    """One instruction after many, by control edges."""
    return entry(['x = f32[4] parameter(0)', *(f'n{i} = f32[4] {("cosine", "abs")[i % 2]}(x)' for i in range(n)),
                  f'l = f32[4] negate(x), control-predecessors={{{", ".join(f"n{i}" for i in range(n))}}}',
                  'ROOT r = f32[4] add(l, n0)'])


@kind(500)
def sort(n):
    compare = 'less {\n' + '\n'.join(f'a{i} = f32[] parameter({2 * i})  b{i} = f32[] parameter({2 * i + 1})' for i in range(n))
    compare += '\nROOT p = pred[] compare(a0, b0), direction=LT\n}\n'
    return entry(['x = f32[4] parameter(0)', f'ROOT s = ({", ".join(["f32[4]"] * n)}) sort({", ".join(["x"] * n)}), dimensions={{0}}, to_apply=less'], compare)


@kind(150)
def unread_arguments(n):
    """Half of those of a call."""
    callee = 'half {\n' + '\n'.join(f'a{i} = f32[] parameter({i})' for i in range(n)) + '\n'
    callee += '\n'.join(f'b{i} = f32[] negate(a{i})' for i in range(0, n, 2)) + '\n' + tuple_of([f'b{i}' for i in range(0, n, 2)]) + '\n}\n'
    return entry([*(f'x{i} = f32[] parameter({i})' for i in range(n)),
                  f'ROOT c = ({", ".join(["f32[]"] * ((n + 1) // 2))}) call({", ".join(f"x{i}" for i in range(n))}), to_apply=half'], callee)


@kind(150)
def fused_constants(n):
    """Every second operand of a fusion is a scalar constant."""
    body = 'fused {\n' + '\n'.join(f'a{i} = f32[] parameter({i})' for i in range(2 * n)) + '\n'
    body += '\n'.join(f'b{i} = f32[] add(a{2 * i}, a{2 * i + 1})' for i in range(n)) + '\n' + tuple_of([f'b{i}' for i in range(n)]) + '\n}\n'
    return entry([*(f'x{i} = f32[] parameter({i})\nk{i} = f32[] constant({i})' for i in range(n)),
                  f'ROOT f = ({", ".join(["f32[]"] * n)}) fusion({", ".join(f"x{i}, k{i}" for i in range(n))}), kind=kLoop, calls=fused'], body)


@kind(500)
def unread_sorted(n):
    """Every second operand of a sort."""
    compare = 'less {\n' + '\n'.join(f'a{i} = f32[] parameter({2 * i})  b{i} = f32[] parameter({2 * i + 1})' for i in range(n))
    compare += '\nROOT p = pred[] compare(a0, b0), direction=LT\n}\n'
    return entry(['x = f32[4] parameter(0)', f's = ({", ".join(["f32[4]"] * n)}) sort({", ".join(["x"] * n)}), dimensions={{0}}, to_apply=less',
                  *(f'g{i} = f32[4] get-tuple-element(s), index={i}' for i in range(0, n, 2)), tuple_of([f'g{i}' for i in range(0, n, 2)], 'f32[4]')], compare)


@kind(10000)
def aliases(n):
    pairs = ', '.join(f'{{{i}}}: ({i}, {{}}, may-alias)' for i in range(n))
    return entry([*(f'x{i} = f32[] parameter({i})' for i in range(n)), *(f'y{i} = f32[] negate(x{i})' for i in range(n)),
                  tuple_of([f'y{i}' for i in range(n)])], header=f', input_output_alias={{ {pairs} }}')


# Many computations

@kind(25000)
def computations(n):
    made = ''.join(f'g{i} {{ a = f32[] parameter(0)  k = f32[] constant({i})  ROOT s = f32[] add(a, k) }}\n' for i in range(n))
    return entry(['x0 = f32[] parameter(0)', *(f'x{i + 1} = f32[] call(x{i}), to_apply=g{i}' for i in range(n)), f'ROOT r = f32[] negate(x{n})'], made)


@kind(5000)
def uncalled(n):
    """And another such module that has none of them, under other names."""
    def module(name, first):
        made = ''.join(f'{name}{i} {{ a = f32[] parameter(0)  k = f32[] constant({first + i})  ROOT s = f32[] add(a, k) }}\n' for i in range(n))
        return entry(['x = f32[] parameter(0)', 'ROOT r = f32[] negate(x)'], made)

    return module('g', 0), module('h', 1000000)


@kind(25000)
def equal_computations(n):
    made = ''.join(f'g{i} {{ a = f32[] parameter(0)  ROOT s = f32[] negate(a) }}\n' for i in range(n))
    return entry(['x0 = f32[] parameter(0)', *(f'x{i + 1} = f32[] call(x{i}), to_apply=g{i}' for i in range(n)), f'ROOT r = f32[] negate(x{n})'], made)


@kind(10000)
def reducers(n):
    made = ''.join(f'g{i} {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }}\n' for i in range(n))
    return entry(['x = f32[4] parameter(0)', 'z = f32[] constant(0)', *(f'x{i} = f32[] reduce(x, z), dimensions={{0}}, to_apply=g{i}' for i in range(n)),
                  tuple_of([f'x{i}' for i in range(n)])], made)


@kind(2000)
def shared_callee(n):
    body = '\n'.join(f'a{i} = f32[] negate(a{i - 1})' for i in range(1, n))
    callee = f'big {{\na0 = f32[] parameter(0)\n{body}\nROOT s = f32[] abs(a{n - 1})\n}}\n'
    return entry(['x0 = f32[] parameter(0)', *(f'x{i + 1} = f32[] custom-call(x{i}), custom_call_target="f", called_computations={{big}}' for i in range(n)),
                  f'ROOT r = f32[] negate(x{n})'], callee)


KINDS['shared_callee'] = KINDS['shared_callee']._replace(not_run='a custom call that nobody defines')


@kind(2000, small=300, most=NESTING)
def unused_calls(n):
    """Nobody calls the last of them."""
    made = 'g0 { a = f32[] parameter(0)  ROOT s = f32[] negate(a) }\n'
    made += ''.join(f'g{i} {{ a = f32[] parameter(0)  ROOT s = f32[] call(a), to_apply=g{i - 1} }}\n' for i in range(1, n))
    return entry(['x = f32[] parameter(0)', 'ROOT r = f32[] negate(x)'], made)
