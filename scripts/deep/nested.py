"""Modules that nest: shapes, values, text, calls; and parts of instructions that are long."""
import json

from kinds import ADD, NESTING, entry, f32_type, kind, tuple_of

INFERRED = 4096  # levels that the shapes of tuples may have which the text leaves out


def nested(inner, levels):
    return '(' * levels + inner + ')' * levels


# Tuples

@kind(1000, small=1000, most=INFERRED, limited=True, power=2.3)
def tuples_in_tuples(n):
    return entry(['x0 = f32[] parameter(0)', *(f'x{i} = tuple(x{i - 1})' for i in range(1, n)), f'ROOT r = tuple(x{n - 1})'])


@kind(1000, small=1000, most=INFERRED, limited=True, power=2.3)
def tuples_taken_apart(n):
    return entry([f'x0 = {nested("f32[]", n)} parameter(0)', *(f'x{i} = get-tuple-element(x{i - 1}), index=0' for i in range(1, n + 1)),
                  f'ROOT r = f32[] negate(x{n})'])


@kind(1500, small=2000, most=NESTING, power=2.3)
def nested_parameter(n):
    shape = nested('f32[]', n)
    return entry([f'ROOT x = {shape} parameter(0)'])


def pairs(levels):
    """A value on every level."""
    return '(f32[], ' * levels + 'f32[]' + ')' * levels


@kind(500, small=1000, most=NESTING, power=2.3)
def nested_pairs(n):
    return entry([f'ROOT x = {pairs(n)} parameter(0)'])


@kind(500, small=500, most=INFERRED, power=2.3)
def nested_pairs_carried(n):
    """Through a loop that changes the innermost value, a call, a conditional and an asynchronous call."""
    shape = pairs(n)
    takes = [f'x0 = {shape} parameter(0)', *(f'x{i} = get-tuple-element(x{i - 1}), index=1' for i in range(1, n + 1)),
             *(f'l{i} = get-tuple-element(x{i}), index=0' for i in range(n)), f'y{n} = f32[] negate(x{n})',
             *(f'y{i} = tuple(l{i}, y{i + 1})' for i in range(n - 1, 0, -1)), 'ROOT y0 = tuple(l0, y1)']
    less = [f'x = {shape} parameter(0)', 'a = f32[] get-tuple-element(x), index=0', 'k = f32[] constant(0)', 'ROOT p = pred[] compare(a, k), direction=LT']
    given = f'{{ ROOT x = {shape} parameter(0) }}\n'
    made = 'body {\n' + '\n'.join(takes) + '\n}\nless {\n' + '\n'.join(less) + '\n}\n' + ''.join(f'same{i} {given}' for i in range(4))
    return entry([f'x = {shape} parameter(0)', 'p = pred[] parameter(1)', f'w = {shape} while(x), condition=less, body=body',
                  f'c = {shape} call(w), to_apply=same0', f'd = {shape} conditional(p, c, x), true_computation=same1, false_computation=same2',
                  f's = (({shape}), {shape}, u32[]) async-start(d), calls=same3', f'ROOT r = {shape} async-done(s)'], made)


@kind(5000)
def equal_tuples(n):
    """One tuple in a tuple many times, and each taken out again."""
    inner = '(f32[], (f32[], f32[]))'
    return entry(['x = f32[] parameter(0)', 'y = f32[] negate(x)', 'a = (f32[], f32[]) tuple(x, y)', f't = {inner} tuple(y, a)',
                  tuple_of(['t'] * n, inner, 'u'), *(f'g{i} = {inner} get-tuple-element(u), index={i}' for i in range(n)), tuple_of([f'g{i}' for i in range(n)], inner)])


@kind(500, small=500, most=NESTING, not_run='XLA has no constants of tuples', limited=True, power=2.3)
def nested_constant(n):
    return entry([f'ROOT x = {nested("f32[]", n)} constant({nested("1", n)})'])


@kind(10000)
def in_and_out(n):
    lines = ['x0 = f32[] parameter(0)', 'y = f32[] parameter(1)']
    for i in range(1, n):
        lines += [f't{i} = (f32[], f32[]) tuple(x{i - 1}, y)', f'x{i} = f32[] get-tuple-element(t{i}), index={i % 2}']
    return entry([*lines, f'ROOT r = f32[] negate(x{n - 1})'])


# Text

@kind(2000, small=8000, most=NESTING)
def operands_in_operands(n):
    return entry(['x = f32[] parameter(0)', f'ROOT r = f32[] {"negate(" * n}x{")" * n}'])


@kind(1000, small=4000, most=NESTING)
def bodies_in_bodies(n):
    text = 'ROOT z = f32[] constant(1)'
    for _ in range(n): text = f'ROOT z = f32[] call(), to_apply={{ {text} }}'
    return entry([text])


@kind(20000, small=2000)
def braces_in_strings(n):
    return entry(['x = f32[] parameter(0)', f'ROOT r = f32[] negate(x), backend_config={"{" + chr(34) + "a" + chr(34) + ":"}' +
                  '{"a":' * n + '1' + '}' * (n + 1)])


# Calls

def called(n, innermost, outer, last):
    made = innermost + ''.join(outer(i) for i in range(1, n))
    return entry(['x = f32[4] parameter(0)', last], made)


NEGATE = 'g0 { a = f32[4] parameter(0)  ROOT s = f32[4] negate(a) }\n'


@kind(2000, small=4000, most=NESTING)
def calls(n):
    return called(n, NEGATE, lambda i: f'g{i} {{ a = f32[4] parameter(0)  b = f32[4] abs(a)  ROOT s = f32[4] call(b), to_apply=g{i - 1} }}\n',
                  f'ROOT r = f32[4] call(x), to_apply=g{n - 1}')


@kind(2000, small=2000, most=NESTING)
def outfeed_in_calls(n):
    inner = 'g0 { a = f32[4] parameter(0)  t = token[] after-all()  o = token[] outfeed(a, t)  ROOT s = f32[4] negate(a) }\n'
    return called(n, inner, lambda i: f'g{i} {{ a = f32[4] parameter(0)  b = f32[4] abs(a)  ROOT s = f32[4] call(b), to_apply=g{i - 1} }}\n',
                  f'ROOT r = f32[4] call(x), to_apply=g{n - 1}')


@kind(500, small=4000, most=NESTING)
def whiles(n):
    inner = 'g0 { a = s32[] parameter(0)  o = s32[] constant(1)  ROOT s = s32[] add(a, o) }\n'
    less = 'less { a = s32[] parameter(0)  n = s32[] constant(1)  ROOT p = pred[] compare(a, n), direction=LT }\n'
    made = less + inner + ''.join(f'g{i} {{ a = s32[] parameter(0)  ROOT s = s32[] while(a), condition=less, body=g{i - 1} }}\n' for i in range(1, n))
    return entry(['x = s32[] parameter(0)', f'ROOT r = s32[] while(x), condition=less, body=g{n - 1}'], made)


@kind(1000, small=8000, most=NESTING)
def conditionals(n):
    other = 'o { a = (pred[], f32[]) parameter(0)  ROOT s = f32[] get-tuple-element(a), index=1 }\n'
    inner = 'g0 { a = (pred[], f32[]) parameter(0)  b = f32[] get-tuple-element(a), index=1  ROOT s = f32[] cosine(b) }\n'
    made = other + inner + ''.join(
        f'g{i} {{ a = (pred[], f32[]) parameter(0)  p = pred[] get-tuple-element(a), index=0  '
        f'ROOT s = f32[] conditional(p, a, a), true_computation=g{i - 1}, false_computation=o }}\n' for i in range(1, n))
    return entry(['x = (pred[], f32[]) parameter(0)', 'p = pred[] get-tuple-element(x), index=0',
                  f'ROOT r = f32[] conditional(p, x, x), true_computation=g{n - 1}, false_computation=o'], made)


@kind(1000, small=1000, most=NESTING)
def fusions(n):
    return called(n, NEGATE, lambda i: f'g{i} {{ a = f32[4] parameter(0)  b = f32[4] abs(a)  ROOT s = f32[4] fusion(b), kind=kLoop, calls=g{i - 1} }}\n',
                  f'ROOT r = f32[4] fusion(x), kind=kLoop, calls=g{n - 1}')


@kind(1000, small=4000, most=NESTING)
def async_calls(n):
    shape = '((f32[4]), f32[4], u32[])'
    return called(n, NEGATE, lambda i: f'g{i} {{ a = f32[4] parameter(0)  b = {shape} async-start(a), async_execution_thread="t", calls=g{i - 1}  ROOT s = f32[4] async-done(b) }}\n',
                  f's = {shape} async-start(x), async_execution_thread="t", calls=g{n - 1}  ROOT r = f32[4] async-done(s)')


@kind(1000, small=8000, most=NESTING)
def maps(n):
    inner = 'g0 { a = f32[] parameter(0)  ROOT s = f32[] cosine(a) }\n'
    made = inner + ''.join(f'g{i} {{ a = f32[] parameter(0)  ROOT s = f32[] map(a), dimensions={{}}, to_apply=g{i - 1} }}\n' for i in range(1, n))
    return entry(['x = f32[4] parameter(0)', f'ROOT r = f32[4] map(x), dimensions={{0}}, to_apply=g{n - 1}'], made)


@kind(500, small=8000, most=NESTING)
def scatters(n):
    """Combiners that scatter."""
    inner = 'g0 { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n'
    into = 'v = f32[1] broadcast(a), dimensions={{}}  i = s32[1] constant({{0}})  w = f32[1] scatter(v, i, b), update_window_dims={{}}, ' \
        'inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=0, to_apply=g{}'
    made = inner + ''.join(f'g{i} {{ a = f32[] parameter(0)  b = f32[] parameter(1)  {into.format(i - 1)}  ROOT r = f32[] reshape(w) }}\n' for i in range(1, n))
    return entry(['a = f32[] parameter(0)', 'b = f32[] parameter(1)', into.format(n - 1), 'ROOT r = f32[1] negate(w)'], made)


# Ranks and layouts

@kind(5000, small=5000)
def ranks(n):
    shape, dims = f32_type(n), ','.join(map(str, range(n)))
    back = ','.join(map(str, reversed(range(n))))
    return entry([f'x = {shape} parameter(0)', f'y = {shape} add(x, x)', f't = {shape} transpose(y), dimensions={{{back}}}',
                  'z = f32[] constant(0)', f'b = {shape} broadcast(z), dimensions={{}}', f'm = {shape} multiply(t, b)',
                  f'v = {shape} reverse(m), dimensions={{{dims}}}', f's = f32[1] reshape(v)',
                  f'ROOT r = f32[] reduce(m, z), dimensions={{{dims}}}, to_apply=add'], ADD)


@kind(2000)
def ranks_of_movement(n):
    shape, ones, zeros = f32_type(n), ','.join(['1'] * n), ', '.join(['k'] * n)
    ranges = ', '.join(['[0:1]'] * n)
    return entry([f'x = {shape} parameter(0)', 'k = s32[] parameter(1)', 'z = f32[] constant(0)', f's = {shape} slice(x), slice={{{ranges}}}',
                  f'd = {shape} dynamic-slice(s, {zeros}), dynamic_slice_sizes={{{ones}}}',
                  f'u = {shape} dynamic-update-slice(s, d, {zeros})', f'p = {shape} pad(u, z), padding={"x".join(["0_0"] * n)}',
                  f'ROOT c = {f32_type(n - 1)[:-1]},2] concatenate(p, p), dimensions={{{n - 1}}}'])


@kind(1000)
def ranks_of_constants(n):
    return entry([f'ROOT c = {f32_type(n)} constant({"{ " * n}1{" }" * n})'])


@kind(5000)
def tiles(n):
    return entry([f'ROOT x = f32[8]{{0:T{"(8)" * n}}} parameter(0)'])


# Long parts

@kind(100000)
def constant(n):
    return entry([f'c = f32[{n}] constant({{{", ".join(str(i) for i in range(n))}}})', f'ROOT r = f32[{n}] negate(c)'])


@kind(10000)
def rows(n):
    return entry([f'c = s32[{n},2] constant({{{", ".join(f"{{{i}, 0}}" for i in range(n))}}})', f'ROOT r = s32[{n},2] negate(c)'])


@kind(20000)
def frontend_attributes(n):
    return entry(['x = f32[] parameter(0)', f'ROOT r = f32[] negate(x), frontend_attributes={{{", ".join(f"a{i}={json.dumps(str(i))}" for i in range(n))}}}'])


@kind(10000)
def many_attributes(n):
    """Each instruction with attributes and metadata of its own."""
    return entry(['x0 = f32[] parameter(0)', *(
        f'x{i} = f32[] negate(x{i - 1}), frontend_attributes={{a{i}="{i}"}}, metadata={{op_type="n" op_name="a/b{i % 50}/g{i}" source_file="f{i}.py" source_line={i}}}'
        for i in range(1, n)), f'ROOT r = f32[] abs(x{n - 1})'])


@kind(10000)
def scopes(n):
    """A name of many levels."""
    name = '/'.join(f's{i}' for i in range(n))
    return entry(['x = f32[] parameter(0)', f'ROOT r = f32[] negate(x), metadata={{op_name="{name}"}}'])


@kind(1000)
def scopes_of_all(n):
    """Every instruction one level deeper."""
    lines = ['x0 = f32[] parameter(0)']
    name = 'jit'
    for i in range(1, n):
        name += '/s'
        lines.append(f'x{i} = f32[] negate(x{i - 1}), metadata={{op_name="{name}"}}')
    return entry([*lines, f'ROOT r = f32[] abs(x{n - 1})'])


@kind(10000)
def stack_frames(n):
    tables = 'FileNames\n1 "a.py"\n\nFunctionNames\n' + ''.join(f'{i} "f{i}"\n' for i in range(1, n + 1))
    tables += '\nFileLocations\n' + ''.join(f'{i} {{file_name_id=1 function_name_id={i} line={i} end_line={i} column=1 end_column=2}}\n' for i in range(1, n + 1))
    tables += '\nStackFrames\n' + ''.join(f'{i} {{file_location_id={i} parent_frame_id={max(i - 1, 1)}}}\n' for i in range(1, n + 1))
    return entry(['x = f32[] parameter(0)', f'y = f32[] negate(x), metadata={{stack_frame_id={n}}}',
                  f'ROOT r = f32[] abs(y), metadata={{stack_frame_id={n // 2}}}'], tables + '\n')


@kind(10000, not_run='as many devices as groups')
def replica_groups(n):
    groups = ','.join(f'{{{2 * i},{2 * i + 1}}}' for i in range(n))
    return entry(['x = f32[] parameter(0)', f'ROOT r = f32[] all-reduce(x), replica_groups={{{groups}}}, to_apply=add'], ADD, f', replica_count={2 * n}')


@kind(10000, not_run='as many devices as pairs')
def permutation(n):
    pairs = ','.join(f'{{{i},{(i + 1) % n}}}' for i in range(n))
    return entry(['x = f32[] parameter(0)', f'ROOT r = f32[] collective-permute(x), source_target_pairs={{{pairs}}}'], header=f', replica_count={n}')


@kind(5000)
def shardings(n):
    parts = ', '.join(['{replicated}', '{maximal device=0}'] * n)
    return entry([f'x = ({", ".join(["f32[]"] * 2 * n)}) parameter(0), sharding={{{parts}}}', 'ROOT g = f32[] get-tuple-element(x), index=0'])


@kind(20000, not_run='as many devices as it lists')
def devices(n):
    return entry([f'x = f32[{n}] parameter(0), sharding={{devices=[{n}]{",".join(map(str, range(n)))}}}', f'ROOT r = f32[{n}] negate(x)'],
                 header=f', num_partitions={n}')


@kind(1000, small=1000, most=NESTING, limited=True, power=2.3)
def origins(n):
    return entry([f'ROOT x = {nested("f32[]", n)} parameter(0), origin={{{nested("{" + chr(34) + "x" + chr(34) + "}", n)}}}'])


@kind(100000)
def name(n):
    return entry([f'{"x" * n} = f32[] parameter(0)', f'ROOT r = f32[] negate({"x" * n})'])


@kind(5000, not_run='nobody defines its target')
def custom_call(n):
    return entry(['x = f32[] parameter(0)', f'ROOT r = f32[] custom-call({", ".join(["x"] * n)}), custom_call_target="f"'])


@kind(2000)
def schedule(n):
    return entry(['x0 = f32[4] parameter(0)', *(f'x{i} = f32[4] cosine(x{i - 1})' for i in range(1, n)),
                  tuple_of([f'x{i}' for i in range(n)], 'f32[4]')], header=', is_scheduled=true')
