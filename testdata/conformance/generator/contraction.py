"""Suites of dot and convolution."""
import re
import numpy as np
import jax, jax.numpy as jnp
from jax import lax
from generator.machinery import H, J, close, suite
from generator.data import data, ints, normal, program, shp

# --------------------------------------------------------------------------- dot
DOTS = [  # lhs, rhs, lhs batch, rhs batch, lhs contracting, rhs contracting
    ((5, 7), (7, 4), (), (), (1,), (0,)), ((7, 5), (7, 4), (), (), (0,), (0,)), ((5, 7), (4, 7), (), (), (1,), (1,)), ((7, 5), (4, 7), (), (), (0,), (1,)), ((9,), (9,), (), (), (0,), (0,)), ((3, 9), (9,), (), (), (1,), (0,)), ((9,), (9, 3), (), (), (0,), (0,)),
    ((3,), (4,), (), (), (), ()), ((2, 3), (4, 5), (), (), (), ()), ((3, 5, 7), (3, 7, 4), (0,), (0,), (2,), (1,)), ((3, 5, 7), (7, 4, 3), (0,), (2,), (2,), (0,)), ((5, 3, 7), (4, 3, 7), (1,), (1,), (2,), (2,)), ((2, 3, 4, 5), (2, 3, 5, 6), (0, 1), (0, 1), (3,), (2,)),
    ((2, 3, 4, 5), (3, 2, 4, 6), (0, 1), (1, 0), (2,), (2,)), ((3, 4, 5), (5, 4, 6), (), (), (1, 2), (1, 0)), ((3, 4, 5), (5, 4, 3), (0,), (2,), (1, 2), (1, 0)), ((6, 0), (0, 3), (), (), (1,), (0,)), ((0, 4), (4, 3), (), (), (1,), (0,)), ((1, 1), (1, 1), (), (), (1,), (0,)), ((33, 65), (65, 17), (), (), (1,), (0,)),
    ((4, 3), (4, 3), (0, 1), (0, 1), (), ()), ((2, 1, 3, 2, 2), (2, 3, 1, 2), (0,), (0,), (2, 3), (1, 3))]

def dot_case(name, k, lt, rt, ot, extra='', x=None, y=None, **kw):
    ls, rs, lb, rb, lc, rc = DOTS[k]; j = lambda v: ','.join(map(str, v))
    out = [ls[i] for i in lb] + [s for i, s in enumerate(ls) if i not in lb + lc] + [s for i, s in enumerate(rs) if i not in rb + rc]
    at = (f', lhs_batch_dims={{{j(lb)}}}' if lb else '') + f', lhs_contracting_dims={{{j(lc)}}}' + (f', rhs_batch_dims={{{j(rb)}}}' if rb else '') + f', rhs_contracting_dims={{{j(rc)}}}'
    def val(key, d, t):
        if t == 'pred' or t[0] in 'su' : return data(key, d, t) if t in ('pred', 's32', 'u32', 's64', 'u64', 's4', 'u4') else ints(key, d, t)
        return normal(key, d, t)
    x = val(('d', k, lt), ls, lt) if x is None else x; y = val(('e', k, rt), rs, rt) if y is None else y
    return H(name, program(f'x = {shp(lt, ls)} parameter(0)\ny = {shp(rt, rs)} parameter(1)\nr = {shp(ot, out)} dot(x, y){at}{extra}', name=re.sub(r'\W', '_', name)), x, y, **kw)

@suite('dot')
def dot():
    for k in range(len(DOTS)):
        yield dot_case(f'f32_{k}', k, 'f32', 'f32', 'f32', compare='auto')
        t = ['s32', 's8', 'u8', 's64', 'u16', 's16', 'u32', 'u64'][k % 8]; yield dot_case(f'{t}_{k}', k, t, t, t)
        t = ['bf16', 'f64', 'f16', 'c64', 'c128'][k % 5]; yield dot_case(f'{t}_{k}', k, t, t, t, compare='auto')
    for k in (0, 3, 9, 14):
        if k in (0, 9): yield dot_case(f's4_s4_s32_{k}', k, 's4', 's4', 's32', by='definition', expect=lambda i: [np.matmul(i[0].astype(np.int32), i[1].astype(np.int32))])
        for lt, rt, ot in [('bf16', 'bf16', 'f32'), ('f16', 'f16', 'f32'), ('s8', 's8', 's32'), ('u8', 'u8', 's32'), ('u8', 's8', 's32'), ('f8e4m3fn', 'f8e5m2', 'f32'), ('f8e4m3fn', 'f8e4m3fn', 'bf16'), ('f32', 'f32', 'f64'), ('bf16', 'f32', 'f32'), ('pred', 'pred', 's32')]:
            if k in (3, 14) and lt in ('s4', 'pred', 'f32'): continue
            yield dot_case(f'{lt}_{rt}_{ot}_{k}', k, lt, rt, ot, compare='auto')
    yield dot_case('pred_pred_pred', 0, 'pred', 'pred', 'pred'); yield dot_case('s4_s4_s4', 0, 's4', 's4', 's4'); yield dot_case('u4_u4_u4', 2, 'u4', 'u4', 'u4')
    for t in ('f8e5m2', 'f8e4m3fn'): yield dot_case(f'{t}_{t}_{t}', 0, t, t, t, compare=close(0.3, 0.3))
    for p in ('high', 'highest'): yield dot_case(f'precision_{p}', 0, 'f32', 'f32', 'f32', f', operand_precision={{{p},{p}}}', compare='auto')
    for a, lt in [('dot_f32_f32_f32', 'f32'), ('dot_bf16_bf16_f32_x9', 'f32'), ('dot_bf16_bf16_f32_x6', 'f32'), ('dot_bf16_bf16_f32', 'bf16')]:
        c = dot_case(f'algorithm_{a}', 0, lt, lt, 'f32', f', algorithm={a}', compare='auto'); c.equiv = re.sub(', algorithm=.*', '', c.text); yield c
    x = normal('di', (5, 7)); x[1, 2] = np.inf; x[3, 3] = np.nan; y = normal('dj', (7, 4)); y[2, 1] = 0.0; y[2, 2] = -np.inf
    yield dot_case('special', 0, 'f32', 'f32', 'f32', x=x, y=y, compare='auto')
    yield H('layouts', program('x = f32[5,7]{0,1} parameter(0)\ny = f32[7,4]{0,1} parameter(1)\nr = f32[5,4]{0,1} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}'), normal('dl', (5, 7)), normal('dm', (7, 4)), compare='auto')
    a, b, c = normal('ea', (3, 4, 5)), normal('eb', (3, 5, 6)), normal('ec', (4, 6))
    for name, f in dict(bij_bjk=lambda a, b, c: jnp.einsum('bij,bjk->bik', a, b), bij_bjk_ik=lambda a, b, c: jnp.einsum('bij,bjk,ik->b', a, b, c), trace=lambda a, b, c: jnp.einsum('bij,bjk->kb', a, b), outer=lambda a, b, c: jnp.einsum('ij,kl->ikjl', c, a[0]), diag=lambda a, b, c: jnp.einsum('ii->i', c[:, :4]), tensordot=lambda a, b, c: jnp.tensordot(a, b, ((0, 2), (0, 1))), matmul=lambda a, b, c: a @ b @ c.T, vecdot=lambda a, b, c: jnp.vecdot(a, a + 1), inner=lambda a, b, c: jnp.inner(a, b.swapaxes(1, 2)), power=lambda a, b, c: jnp.linalg.matrix_power(c[:, :4], 5), multi=lambda a, b, c: jnp.linalg.multi_dot([a[0], b[0], c.T])).items():
        yield J('jnp_' + name, f, a, b, c)
    for t in ('bf16', 'f16'): yield J(f'chain_{t}', lambda a, b: jax.nn.relu(a @ b) @ b.T, normal(('h', t), (6, 16), t), normal(('i', t), (16, 8), t))
    yield J('ragged_dot', lambda x, w, g: lax.ragged_dot(x, w, g), normal('rx', (11, 5)), normal('rw', (3, 5, 4)), np.array([4, 0, 7], 'i4'))
    sizes = np.array([3, 0, 5, 1], 'i4')
    def ragged(i):
        x, w, g = i; out = np.zeros((11, 4)); s = 0
        for k, n in enumerate(g): out[s:s + n] = x[s:s + n].astype(np.float64) @ w[k].astype(np.float64); s += n
        return [out.astype(np.float32)]
    yield H('ragged_dot_opcode', program('x = f32[11,5]{1,0} parameter(0)\nw = f32[4,5,4]{2,1,0} parameter(1)\ng = s32[4]{0} parameter(2)\nr = f32[11,4]{1,0} ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}'),
        normal('qx', (11, 5)), normal('qw', (4, 5, 4)), sizes, expect=ragged, by='definition', compare=close(2e-6, 2e-6), note='rows beyond the last group are zero')

# --------------------------------------------------------------------------- convolution
CONVS = [  # lhs, rhs, strides, padding, lhs dilation, rhs dilation, dimension labels, feature groups, batch groups
    ((2, 9, 3), (4, 3, 5), (1,), ((0, 0),), (1,), (1,), 'NWC,WIO,NWC', 1, 1), ((2, 3, 9), (5, 3, 4), (2,), ((1, 2),), (1,), (1,), 'NCW,OIW,NCW', 1, 1), ((1, 7, 8, 3), (3, 3, 3, 4), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 1, 1), ((2, 7, 8, 3), (3, 2, 3, 4), (2, 1), ((0, 1), (1, 0)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 1, 1),
    ((2, 3, 7, 8), (4, 3, 3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), (1, 1), 'NCHW,OIHW,NCHW', 1, 1), ((1, 6, 5, 2), (3, 3, 2, 3), (1, 1), ((2, 2), (2, 1)), (2, 2), (1, 1), 'NHWC,HWIO,NHWC', 1, 1), ((1, 9, 9, 2), (3, 2, 2, 3), (1, 1), ((1, 1), (0, 2)), (1, 1), (2, 3), 'NHWC,HWIO,NHWC', 1, 1), ((1, 6, 6, 4), (3, 3, 1, 8), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 4, 1),
    ((2, 6, 6, 6), (3, 3, 2, 9), (1, 2), ((1, 1), (0, 0)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 3, 1), ((4, 5, 5, 3), (2, 2, 3, 6), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 1, 2), ((6, 5, 2), (3, 2, 6), (1,), ((1, 1),), (1,), (1,), 'NWC,WIO,NWC', 1, 3), ((1, 4, 5, 6, 2), (2, 2, 3, 2, 3), (1, 2, 1), ((0, 1), (1, 0), (1, 1)), (1, 1, 1), (1, 1, 1), 'NDHWC,DHWIO,NDHWC', 1, 1),
    ((2, 2, 3, 4, 5), (3, 2, 2, 2, 2), (1, 1, 1), ((0, 0), (0, 0), (0, 0)), (1, 2, 1), (2, 1, 1), 'NCDHW,OIDHW,NCDHW', 1, 1), ((7, 8, 3, 2), (4, 3, 3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1), 'HWCN,OIHW,HWNC', 1, 1), ((2, 5), (5, 3), (), (), (), (), 'NC,IO,NC', 1, 1), ((1, 6, 6, 2), (2, 2, 2, 3), (1, 1), ((-1, 0), (0, -2)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 1, 1),
    ((1, 3, 3, 2), (5, 5, 2, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 1, 1), ((1, 5, 5, 1), (1, 1, 1, 7), (3, 2), ((0, 0), (0, 0)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 1, 1), ((0, 5, 5, 2), (3, 3, 2, 4), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 1, 1), ((1, 7, 7, 2), (3, 3, 2, 3), (2, 3), ((3, 2), (1, 4)), (3, 2), (2, 1), 'NHWC,HWIO,NHWC', 1, 1)]

def conv_fn(c, out=None):
    _, _, s, p, ld, rd, dl, fg, bg = c; dn = tuple(dl.split(','))
    return lambda x, k: lax.conv_general_dilated(x, k, s, p, ld, rd, dn, fg, bg, preferred_element_type=out)

@suite('convolution')
def convolution():
    for k, c in enumerate(CONVS):
        yield J(f'f32_{k}', conv_fn(c), normal(('cx', k), c[0]), normal(('ck', k), c[1]))
        t = ['s32', 'bf16', 'f64', 's8', 'f16', 'c64', 'u8', 's64'][k % 8]
        val = (lambda key, d: ints(key, d, t, 0 if t[0] == 'u' else -9, 9)) if t[0] in 'su' else (lambda key, d: normal(key, d, t))
        yield J(f'{t}_{k}', conv_fn(c), val(('cy', k), c[0]), val(('cz', k), c[1]), x64=True)
    for lt, ot in [('bf16', np.float32), ('s8', np.int32), ('f16', np.float32), ('f8e4m3fn', np.float32)]:
        c = CONVS[2]; v = (lambda key, d: ints(key, d, lt)) if lt == 's8' else (lambda key, d: normal(key, d, lt))
        yield J(f'{lt}_to_{np.dtype(ot).name}', conv_fn(c, ot), v(('co', lt), c[0]), v(('cp', lt), c[1]))
    for name, w, out in [('reversal', 'size=3x2 pad=1_1x0_0 rhs_reversal=1x1', (1, 7, 7, 4)), ('reversal_one', 'size=3x2 rhs_reversal=0x1', (1, 5, 7, 4)), ('reversal_dilated', 'size=3x2 stride=1x2 pad=2_2x1_1 lhs_dilate=2x1 rhs_reversal=1x0', (1, 15, 5, 4))]:
        yield H(name, program(f'x = f32[1,7,8,3]{{3,2,1,0}} parameter(0)\nk = f32[3,2,3,4]{{3,2,1,0}} parameter(1)\nr = {shp("f32", out)} convolution(x, k), window={{{w}}}, dim_labels=b01f_01io->b01f'), normal('rvx', (1, 7, 8, 3)), normal('rvk', (3, 2, 3, 4)), compare='auto')
    for lab, ld, kd, od in [('01bf_io01->f01b', (7, 8, 2, 3), (3, 4, 3, 3), (4, 5, 6, 2)), ('f0b1_1oi0->0bf1', (3, 7, 2, 8), (3, 4, 3, 3), (5, 2, 4, 6)), ('bf01_oi01->b01f', (2, 3, 7, 8), (4, 3, 3, 3), (2, 5, 6, 4)), ('b10f_10io->b10f', (2, 8, 7, 3), (3, 3, 3, 4), (2, 6, 5, 4))]:
        yield H('labels_' + re.sub(r'\W+', '_', lab), program(f'x = {shp("f32", ld)} parameter(0)\nk = {shp("f32", kd)} parameter(1)\nr = {shp("f32", od)} convolution(x, k), window={{size=3x3}}, dim_labels={lab}'), normal('lx', ld), normal('lk', kd), compare='auto')
    x = normal('nanx', (1, 5, 5, 1)); x[0, 0, 0, 0] = np.nan; x[0, 4, 4, 0] = np.inf
    yield J('nan_and_padding', conv_fn(((1,), (1,), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), 'NHWC,HWIO,NHWC', 1, 1)), x, normal('nank', (3, 3, 1, 2)))
    yield J('transposed', lambda x, k: lax.conv_transpose(x, k, (2, 2), 'SAME'), normal('tx', (1, 4, 5, 3)), normal('tk', (3, 3, 3, 2)))
    yield J('same_strided', lambda x, k: lax.conv_general_dilated(x, k, (2, 3), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')), normal('sx', (2, 9, 10, 2)), normal('sk', (3, 4, 2, 5)))
    yield J('convolve_1d', lambda x, k: jnp.convolve(x, k, 'same'), normal('c1', 30), normal('c2', 7)); yield J('correlate_2d', lambda x, k: jax.scipy.signal.correlate2d(x, k), normal('c3', (8, 9)), normal('c4', (3, 4)))
    yield J('patches', lambda x: lax.conv_general_dilated_patches(x, (2, 3), (1, 2), 'VALID'), normal('cp', (1, 2, 6, 7)))
    yield J('vmap_conv', lambda x, k: jax.vmap(lambda a, b: lax.conv(a[None], b, (1, 1), 'VALID'))(x, k), normal('vx', (3, 2, 6, 6)), normal('vk', (3, 4, 2, 3, 3)))
