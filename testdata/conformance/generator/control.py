"""Suites of control flow and random numbers."""
import numpy as np
import jax, jax.numpy as jnp
from jax import lax
from generator.machinery import DT, H, J, close, execute, suite, ulp
from generator.data import ints, normal, program, shp

# --------------------------------------------------------------------------- control flow
@suite('control_flow')
def control_flow():
    x = normal('cf', (5, 4)); s = np.float32(0.7)
    yield J('while_count', lambda n: lax.while_loop(lambda c: c < n, lambda c: c + 3, 0), np.int32(17), compare='exact')
    yield J('while_zero_trips', lambda n: lax.while_loop(lambda c: c < n, lambda c: c + 3, 5), np.int32(2), compare='exact')
    yield J('while_tuple', lambda x: lax.while_loop(lambda c: c[0] < 6, lambda c: (c[0] + 1, c[1] * 0.5 + c[2], c[1]), (0, x, x + 1)), x)
    yield J('while_data_dependent', lambda x: lax.while_loop(lambda v: jnp.sum(v * v) > 0.1, lambda v: v * 0.8, x), x)
    yield J('while_collatz', lambda n: lax.while_loop(lambda c: c[0] != 1, lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1), (n, 0)), np.int32(27), compare='exact')
    yield J('while_gcd', lambda a, b: lax.while_loop(lambda c: c[1] != 0, lambda c: (c[1], c[0] % c[1]), (a, b))[0], np.int32(3528), np.int32(3780), compare='exact')
    yield J('while_vmapped', lambda n: jax.vmap(lambda k: lax.while_loop(lambda c: c < k, lambda c: c * 2 + 1, 0))(n), np.array([1, 5, 100, 0, 31], 'i4'), compare='exact')
    yield J('nested_while', lambda n: lax.fori_loop(0, n, lambda i, a: lax.fori_loop(0, i, lambda j, b: b + i * j, a), 0), np.int32(9), compare='exact')
    yield J('triple_nested', lambda x: lax.fori_loop(0, 3, lambda i, a: lax.fori_loop(0, 2, lambda j, b: lax.fori_loop(0, 2, lambda k, c: c * 0.9 + (i + j * k), b), a), x), x)
    yield J('fori_carry_tuple', lambda x: lax.fori_loop(0, 7, lambda i, c: (c[1], c[0] + c[1] * 0.1, c[2] + i), (x, x * 2, 0)), x)
    yield J('fori_update_rows', lambda x: lax.fori_loop(0, 5, lambda i, a: a.at[i].set(a[(i + 4) % 5] + i), x), x)
    yield J('fori_dynamic_bound', lambda x, n: lax.fori_loop(1, n, lambda i, a: a + x * i, jnp.zeros_like(x)), x, np.int32(6))
    yield J('fori_negative_step', lambda x: lax.fori_loop(-3, 4, lambda i, a: a - i, x), ints('fn', 3, 's32', 0, 9), compare='exact')
    yield J('scan_cumsum', lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(4), x), x)
    yield J('scan_reverse', lambda x: lax.scan(lambda c, v: (c * 0.5 + v, c), jnp.ones(4), x, reverse=True), x)
    yield J('scan_no_input', lambda: lax.scan(lambda c, _: (c * 2 + 1, c), jnp.int32(0), None, length=9), compare='exact')
    yield J('scan_pytree', lambda x: lax.scan(lambda c, v: ({'a': c['a'] + v[0], 'b': c['b'] * 0.9}, (v[1], c['a'].sum())), {'a': jnp.zeros(4), 'b': jnp.ones(2)}, (x, x > 0)), x)
    yield J('scan_unroll', lambda x: lax.scan(lambda c, v: (jnp.tanh(c + v), c), jnp.zeros(4), x, unroll=2), x)
    yield J('scan_zero_length', lambda x: lax.scan(lambda c, v: (c + v, c), jnp.ones(4), x[:0]), x)
    yield J('scan_in_while', lambda x: lax.while_loop(lambda c: c[1] < 3, lambda c: (lax.scan(lambda a, v: (a + v * 0.1, None), c[0], x)[0], c[1] + 1), (jnp.zeros(4), 0)), x)
    yield J('associative_scan', lambda x: lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, x + 1)), x)
    yield J('map', lambda x: lax.map(lambda v: jnp.dot(v, v) + v, x), x)
    for p in (True, False):
        yield J(f'cond_{p}', lambda p, x: lax.cond(p, lambda v: v + 1, lambda v: v * 2, x), np.bool_(p), x)
        yield J(f'cond_tuple_{p}', lambda p, x: lax.cond(p, lambda v, w: (v + w, v[0]), lambda v, w: (v - w, w[1]), x, x * 3), np.bool_(p), x)
    for i in (-1, 0, 1, 2, 7): yield J(f'switch_{i}'.replace('-', 'm'), lambda i, x: lax.switch(i, [lambda v: v.sum(), lambda v: v.max(), lambda v: v[0, 0] * 2], x), np.int32(i), x)
    yield J('cond_in_scan', lambda x: lax.scan(lambda c, v: (lax.cond(v[0] > 0, lambda a: a + v, lambda a: a * 0.5, c), c.sum()), jnp.zeros(4), x), x)
    yield J('cond_vmapped', lambda p, x: jax.vmap(lambda q, v: lax.cond(q, lambda a: a + 1, lambda a: a * 2, v))(p, x), np.array([1, 0, 1, 1, 0], bool), x)
    yield J('while_in_cond', lambda p, n: lax.cond(p, lambda k: lax.while_loop(lambda c: c < 50, lambda c: c * 2 + 1, k), lambda k: k - 1, n), np.bool_(True), np.int32(3), compare='exact')
    yield J('nested_cond', lambda a, b, x: lax.cond(a, lambda v: lax.cond(b, jnp.sin, jnp.cos, v), lambda v: lax.cond(b, jnp.exp, jnp.abs, v), x), np.bool_(True), np.bool_(False), x)
    yield J('call_jit', lambda x: jax.jit(lambda v: jnp.tanh(v) + 1)(x) * jax.jit(lambda v: v - 1)(x), x)
    yield J('call_shared', lambda x: (lambda g: g(x) + g(x * 2) + g(g(x)))(jax.jit(lambda v: v * v - 1)), x)
    yield J('custom_jvp', lambda x: jax.nn.silu(x) + jax.nn.relu6(x), x); yield J('checkpoint', jax.grad(lambda x: jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))(x).sum()), x)
    yield J('optimization_barrier', lambda x: lax.optimization_barrier((x * 2, x + 1)), x)
    yield J('newton_sqrt', lambda a: lax.while_loop(lambda c: jnp.abs(c[0] * c[0] - a) > 1e-5, lambda c: (0.5 * (c[0] + a / c[0]), c[1] + 1), (a, 0))[0], np.float32(7.5))
    yield J('bisection', lambda a: lax.fori_loop(0, 30, lambda i, c: jnp.where(jnp.cos((c[0] + c[1]) / 2) > (c[0] + c[1]) / 2, jnp.stack([(c[0] + c[1]) / 2, c[1]]), jnp.stack([c[0], (c[0] + c[1]) / 2])), a), np.array([0, 1], 'f4'), compare=close(1e-6))
    yield J('sieve', lambda: lax.fori_loop(2, 11, lambda i, s: jnp.where((jnp.arange(120) % i == 0) & (jnp.arange(120) > i), False, s), jnp.ones(120, bool)), compare='exact')
    yield J('fibonacci_u64', lambda n: lax.fori_loop(0, n, lambda i, c: (c[1], c[0] + c[1]), (jnp.uint64(0), jnp.uint64(1))), np.int32(100), compare='exact', x64=True)
    yield H('call', program('x = f32[4]{0} parameter(0)\na = f32[4]{0} call(x), to_apply=f\nr = f32[4]{0} call(a), to_apply=f', comps='f {\n  x = f32[4]{0} parameter(0)\n  ROOT r = f32[4]{0} multiply(x, x)\n}\n'), normal('cl', 4), compare=ulp(0))
    yield H('call_tuple', program('x = s32[4]{0} parameter(0)\nt = (s32[4]{0}, s32[]) call(x), to_apply=f\na = s32[4]{0} get-tuple-element(t), index=0\nb = s32[] get-tuple-element(t), index=1\nc = s32[4]{0} broadcast(b), dimensions={}\nr = s32[4]{0} add(a, c)', comps='f {\n  x = s32[4]{0} parameter(0)\n  k = s32[] constant(7)\n  n = s32[4]{0} negate(x)\n  ROOT r = (s32[4]{0}, s32[]) tuple(n, k)\n}\n'), ints('ct', 4, 's32', -9, 9))
    yield H('map_two', program('x = s32[3,4]{1,0} parameter(0)\ny = f32[3,4]{1,0} parameter(1)\nr = f32[3,4]{1,0} map(x, y), dimensions={0,1}, to_apply=f', comps='f {\n  x = s32[] parameter(0)\n  y = f32[] parameter(1)\n  z = f32[] convert(x)\n  h = f32[] constant(0.5)\n  m = f32[] multiply(z, h)\n  ROOT r = f32[] add(m, y)\n}\n'), ints('mt', (3, 4), 's32', -9, 9), normal('mu', (3, 4)), compare=ulp(1, 'f32'))
    yield H('map_one', program('x = f32[7]{0} parameter(0)\nr = f32[7]{0} map(x), dimensions={0}, to_apply=f', comps='f {\n  x = f32[] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] maximum(x, z)\n}\n'), normal('mo', 7))
    for i in (-5, 0, 1, 3): yield H(f'conditional_index_{i}'.replace('-', 'm'), program('i = s32[] parameter(0)\nx = s32[3]{0} parameter(1)\ny = s32[] parameter(2)\nt = (s32[3]{0}, s32[]) tuple(x, y)\nr = s32[3]{0} conditional(i, x, y, t), branch_computations={a, b, c}',
        comps='a {\n  x = s32[3]{0} parameter(0)\n  ROOT r = s32[3]{0} negate(x)\n}\n\nb {\n  y = s32[] parameter(0)\n  ROOT r = s32[3]{0} broadcast(y), dimensions={}\n}\n\nc {\n  t = (s32[3]{0}, s32[]) parameter(0)\n  x = s32[3]{0} get-tuple-element(t), index=0\n  y = s32[] get-tuple-element(t), index=1\n  z = s32[3]{0} broadcast(y), dimensions={}\n  ROOT r = s32[3]{0} add(x, z)\n}\n'), np.int32(i), np.array([1, 2, 3], 'i4'), np.int32(50))
    yield H('while_swaps_tuple', program('a = s32[2]{0} parameter(0)\nb = s32[2]{0} parameter(1)\nz = s32[] constant(0)\nt = (s32[2]{0}, s32[2]{0}, s32[]) tuple(a, b, z)\nr = (s32[2]{0}, s32[2]{0}, s32[]) while(t), condition=c, body=b',
        comps='c {\n  t = (s32[2]{0}, s32[2]{0}, s32[]) parameter(0)\n  i = s32[] get-tuple-element(t), index=2\n  n = s32[] constant(5)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n\nb {\n  t = (s32[2]{0}, s32[2]{0}, s32[]) parameter(0)\n  x = s32[2]{0} get-tuple-element(t), index=0\n  y = s32[2]{0} get-tuple-element(t), index=1\n  i = s32[] get-tuple-element(t), index=2\n  k = s32[] constant(1)\n  j = s32[] add(i, k)\n  ROOT r = (s32[2]{0}, s32[2]{0}, s32[]) tuple(y, x, j)\n}\n'), np.array([1, 2], 'i4'), np.array([3, 4], 'i4'))
    yield H('while_known_trip_count', program('z = s32[] constant(0)\nr = s32[] while(z), condition=c, body=b, backend_config={"known_trip_count":{"n":"6"}}', comps='c {\n  i = s32[] parameter(0)\n  n = s32[] constant(6)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n\nb {\n  i = s32[] parameter(0)\n  k = s32[] constant(1)\n  ROOT r = s32[] add(i, k)\n}\n'))
    for rev in (False, True):
        for assoc in (False, True):
            comps = 'f {\n  x = f32[3]{0} parameter(0)\n  c = f32[3]{0} parameter(1)\n  s = f32[3]{0} add(x, c)\n  ROOT r = (f32[3]{0}, f32[3]{0}) tuple(s, s)\n}\n'
            def value(i, rev=rev):
                v, c = i; ys = []
                for k in (range(4, -1, -1) if rev else range(5)): c = v[:, k] + c; ys.append(c)
                return [np.stack(ys[::-1] if rev else ys, 1), c]
            yield H(f"scan_opcode{'_reverse' if rev else ''}{'_associative' if assoc else ''}", program(f"x = f32[3,5]{{1,0}} parameter(0)\nc = f32[3]{{0}} parameter(1)\nr = (f32[3,5]{{1,0}}, f32[3]{{0}}) scan(x, c), dimensions={{1}}, num_carries=1{', is_reverse=true' if rev else ''}, is_associative={'true' if assoc else 'false'}, to_apply=f", comps=comps), ints('so', (3, 5), 's32', -9, 9).astype('f4'), ints('sp', 3, 's32', -9, 9).astype('f4'), expect=value, by='definition')

# --------------------------------------------------------------------------- random numbers
@suite('rng')
def rng():
    for alg in ('rng_three_fry', 'rng_philox', 'rng_default'):
        for t in ('u32', 'u64', 'u8', 'u16', 's32', 's8'):
            for k, d in enumerate([(), (7,), (4, 5), (3, 5, 2), (0,), (1, 1, 9), (64,)]):
                if (k + len(t) + len(alg)) % 2 and t != 'u32': continue
                st = np.array([[7, 42], [2**64 - 1, 2**64 - 2], [0x123456789abcdef, 5], [1, 0]][k % 4], np.uint64)
                text = program(f'x = u64[2]{{0}} parameter(0)\nr = (u64[2]{{0}}, {shp(t, d)}) rng-bit-generator(x), algorithm={alg}')
                plain = text.replace(f' {t}[', f' u{t[1:]}[')        # signed types carry the same bits
                view = lambda i, plain=plain, t=t: [a if k == 0 else a.view(DT[t]) for k, a in enumerate(execute(plain, i))]
                yield H(f'{alg}_{t}_{"x".join(map(str, d)) or "scalar"}', text, st, **(dict(expect=view, by='xla:cpu (unsigned program)') if t[0] == 's' else {}))
    for k, (d, st) in enumerate([((6,), [7, 42, 43]), ((9,), [3, 2**64 - 2, 8]), ((4, 3), [2**64 - 1] * 3)]):
        yield H(f'philox_three_words_{k}', program(f'x = u64[3]{{0}} parameter(0)\nr = (u64[3]{{0}}, {shp("u32", d)}) rng-bit-generator(x), algorithm=rng_philox'), np.array(st, np.uint64))
    key = np.array([0x12345678, 0x9abcdef0], np.uint32)
    w = lambda f: lambda k: f(jax.random.wrap_key_data(k))
    R_ = jax.random
    for name, f in dict(bits=lambda k: R_.bits(k, (5, 7)), bits_u8=lambda k: R_.bits(k, (9,), jnp.uint8), split=lambda k: R_.key_data(R_.split(k, 5)), fold_in=lambda k: R_.key_data(R_.fold_in(k, 123)), randint=lambda k: R_.randint(k, (17,), -5, 90), randint_u8=lambda k: R_.randint(k, (17,), 0, 200, jnp.uint8), permutation=lambda k: R_.permutation(k, 23), shuffle_rows=lambda k: R_.permutation(k, jnp.arange(12).reshape(6, 2)),
                        choice=lambda k: R_.choice(k, jnp.arange(10, 30), (7,)), choice_noreplace=lambda k: R_.choice(k, 20, (6,), replace=False), bernoulli=lambda k: R_.bernoulli(k, 0.3, (4, 9)), rademacher=lambda k: R_.rademacher(k, (11,)), categorical=lambda k: R_.categorical(k, jnp.arange(20.).reshape(4, 5) * 0.3)).items():
        yield J('random_' + name, w(f), key, compare='exact')
    for name, f in dict(uniform=lambda k: R_.uniform(k, (6, 5)), uniform_range=lambda k: R_.uniform(k, (13,), minval=-3, maxval=7), normal=lambda k: R_.normal(k, (6, 5)), normal_bf16=lambda k: R_.normal(k, (31,), jnp.bfloat16), normal_f16=lambda k: R_.normal(k, (31,), jnp.float16), truncated=lambda k: R_.truncated_normal(k, -1., 2., (15,)), exponential=lambda k: R_.exponential(k, (15,)), gumbel=lambda k: R_.gumbel(k, (15,)), laplace=lambda k: R_.laplace(k, (15,)), logistic=lambda k: R_.logistic(k, (15,)), cauchy=lambda k: R_.cauchy(k, (5,)),
                        gamma=lambda k: R_.gamma(k, 2.5, (6,)), beta=lambda k: R_.beta(k, 2., 3., (5,)), dirichlet=lambda k: R_.dirichlet(k, jnp.array([1., 2., 3.]), (3,)), multivariate=lambda k: R_.multivariate_normal(k, jnp.zeros(3), jnp.eye(3) + 0.2, (4,)), orthogonal_free=lambda k: R_.ball(k, 3, shape=(4,)), pareto=lambda k: R_.pareto(k, 2., (7,)), student=lambda k: R_.t(k, 4., (5,)), weibull=lambda k: R_.weibull_min(k, 1., 2., (7,)), maxwell=lambda k: R_.maxwell(k, (6,)), rayleigh=lambda k: R_.rayleigh(k, 1.5, (6,)), complex_normal=lambda k: R_.normal(k, (6,), jnp.complex64), double_sided=lambda k: R_.double_sided_maxwell(k, 0., 1., (5,))).items():
        yield J('random_' + name, w(f), key, compare=close(2e-5, 2e-5) if 'bf16' not in name and 'f16' not in name else close(2e-3, 1e-2), tier='core')
    yield J('random_normal_f64', w(lambda k: R_.normal(k, (20,), jnp.float64)), key, x64=True, compare=close(1e-13, 1e-12)); yield J('random_uniform_f64', w(lambda k: R_.uniform(k, (20,), jnp.float64)), key, x64=True, compare='exact')
    yield J('random_poisson', w(lambda k: R_.poisson(k, 4.0, (9,))), key, compare='exact'); yield J('random_binomial', w(lambda k: R_.binomial(k, 10, 0.4, (7,))), key, compare='exact'); yield J('random_geometric', w(lambda k: R_.geometric(k, 0.3, (7,))), key, compare='exact')
    rbg = lambda f: lambda k: f(jax.random.wrap_key_data(k, impl='rbg')); k4 = np.array([1, 2, 3, 4], np.uint32)
    for name, f in dict(bits=lambda k: R_.bits(k, (9,)), bits64=lambda k: R_.bits(k, (3, 4), jnp.uint16), split=lambda k: R_.key_data(R_.split(k, 3)), randint=lambda k: R_.randint(k, (9,), 0, 1000)).items(): yield J('rbg_' + name, rbg(f), k4, compare='exact')
    yield J('dropout', w(lambda k: jnp.where(R_.bernoulli(k, 0.8, (6, 7)), jnp.arange(42.).reshape(6, 7) / 0.8, 0.)), key)
    shape_only = dict(mode='any')
    for t in ('f32', 'f64', 's32'):
        yield H(f'rng_uniform_structure_{t}', program(f'lo = {t}[] constant(2)\nhi = {t}[] constant(5)\nu = {shp(t, (50,))} rng(lo, hi), distribution=rng_uniform\na = {shp(t, (50,))} broadcast(lo), dimensions={{}}\nb = {shp(t, (50,))} broadcast(hi), dimensions={{}}\ng = pred[50]{{0}} compare(u, a), direction=GE\nl = pred[50]{{0}} compare(u, b), direction={"LE" if t[0] == "f" else "LT"}\nand = pred[50]{{0}} and(g, l)\nROOT t = ({shp(t, (50,))}, pred[50]{{0}}) tuple(u, and)'), compare=[shape_only, 'exact'], note='only the range of the numbers is checked')
    yield H('rng_normal_structure', program('lo = f32[] constant(2)\nhi = f32[] constant(0.5)\nu = f32[64]{0} rng(lo, hi), distribution=rng_normal\nf = pred[64]{0} is-finite(u)\nROOT t = (f32[64]{0}, pred[64]{0}) tuple(u, f)'), compare=[shape_only, 'exact'])
    yield H('rng_get_and_update_state', program('a = u64[2]{0} rng-get-and-update-state(), delta=3\nr = (u64[2]{0}) tuple(a)'), compare=shape_only)
