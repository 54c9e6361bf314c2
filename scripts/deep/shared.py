"""Modules whose computations are shared: each calls the one before it twice, so that copies for each call, and steps of a
run, double with every level.
"""
from kinds import entry, kind

LONG = 'its program takes as many steps as 2 to the power of its size'
LEVELS = 60
ALL_COPIED = 30  # levels from which on calls are inlined until what may be copied is, a time that grows no more; with every level it doubles before


def doubling(inner, outer, n, last, type_of='f32[4]', also=''):
    made = also + inner + ''.join(outer(i - 1).replace('NAME', f'g{i}') for i in range(1, n))
    return entry([f'x = {type_of} parameter(0)', last(n - 1)], made)


NEGATE = 'g0 { a = f32[4] parameter(0)  ROOT s = f32[4] negate(a) }\n'


@kind(LEVELS, small=LEVELS, not_run=LONG, limited=True, least=ALL_COPIED)
def doubling_calls(n):
    return doubling(NEGATE, lambda i: f'NAME {{ a = f32[4] parameter(0)  b = f32[4] call(a), to_apply=g{i}  ROOT s = f32[4] call(b), to_apply=g{i} }}\n',
                    n, lambda i: f'ROOT r = f32[4] call(x), to_apply=g{i}')


@kind(LEVELS, small=LEVELS, not_run=LONG, limited=True)
def doubling_fusions(n):
    return doubling(NEGATE, lambda i: f'NAME {{ a = f32[4] parameter(0)  b = f32[4] fusion(a), kind=kLoop, calls=g{i}  ROOT s = f32[4] fusion(b), kind=kLoop, calls=g{i} }}\n',
                    n, lambda i: f'ROOT r = f32[4] fusion(x), kind=kLoop, calls=g{i}')


@kind(LEVELS, small=LEVELS, limited=True)
def doubling_conditionals(n):
    return doubling(NEGATE, lambda i: f'NAME {{ a = f32[4] parameter(0)  z = f32[1] slice(a), slice={{[0:1]}}  y = f32[] reshape(z)  k = s32[] convert(y)  '
                    f'ROOT s = f32[4] conditional(k, a, a), branch_computations={{g{i}, g{i}}} }}\n', n, lambda i: f'ROOT r = f32[4] call(x), to_apply=g{i}')


@kind(LEVELS, small=LEVELS, limited=True)
def doubling_whiles(n):
    less = 'less { a = s32[] parameter(0)  n = s32[] constant(1)  ROOT p = pred[] compare(a, n), direction=LT }\n'
    return doubling('g0 { a = s32[] parameter(0)  o = s32[] constant(1)  ROOT s = s32[] add(a, o) }\n',
                    lambda i: f'NAME {{ a = s32[] parameter(0)  b = s32[] while(a), condition=less, body=g{i}  ROOT s = s32[] while(b), condition=less, body=g{i} }}\n',
                    n, lambda i: f'ROOT r = s32[] while(x), condition=less, body=g{i}', 's32[]', less)


@kind(LEVELS, small=LEVELS, not_run=LONG, limited=True)
def doubling_maps(n):
    return doubling('g0 { a = f32[] parameter(0)  ROOT s = f32[] cosine(a) }\n',
                    lambda i: f'NAME {{ a = f32[] parameter(0)  b = f32[] map(a), dimensions={{}}, to_apply=g{i}  ROOT s = f32[] map(b), dimensions={{}}, to_apply=g{i} }}\n',
                    n, lambda i: f'ROOT r = f32[4] map(x), dimensions={{0}}, to_apply=g{i}')


@kind(LEVELS, small=LEVELS, not_run=LONG, limited=True, least=ALL_COPIED)
def doubling_async(n):
    shape = '((f32[4]), f32[4], u32[])'
    return doubling(NEGATE, lambda i: f'NAME {{ a = f32[4] parameter(0)  b = f32[4] call(a), to_apply=g{i}  ROOT s = f32[4] call(b), to_apply=g{i} }}\n',
                    n, lambda i: f's = {shape} async-start(x), async_execution_thread="t", calls=g{i}  ROOT r = f32[4] async-done(s)')
