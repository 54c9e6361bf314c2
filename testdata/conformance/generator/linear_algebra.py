"""Suites of FFT, Cholesky, triangular solve."""
import numpy as np
import jax.numpy as jnp
from generator.machinery import COMPLEX, DT, H, J, suite
from generator.data import normal, program, shp

# --------------------------------------------------------------------------- fft, cholesky, triangular-solve
@suite('fft')
def fft():
    for t, r in (('c64', 'f32'), ('c128', 'f64')):
        for k, (d, n) in enumerate([((8,), 1), ((7,), 1), ((3, 12), 1), ((1,), 1), ((2, 30), 1), ((4, 6), 2), ((3, 5, 7), 2), ((2, 4, 3, 5), 3), ((97,), 1), ((4, 0), 1), ((64,), 1)]):
            L = ','.join(map(str, d[len(d) - n:]))
            for kind in ('FFT', 'IFFT'):
                if 0 in d and kind == 'IFFT': continue
                yield H(f'{kind.lower()}_{t}_{k}', program(f'x = {shp(t, d)} parameter(0)\nr = {shp(t, d)} fft(x), fft_type={kind}, fft_length={{{L}}}'), normal(('fft', k), d, t), compare='auto')
            if 0 in d: continue
            h = d[:-1] + (d[-1] // 2 + 1,)
            yield H(f'rfft_{r}_{k}', program(f'x = {shp(r, d)} parameter(0)\nr = {shp(t, h)} fft(x), fft_type=RFFT, fft_length={{{L}}}'), normal(('rfft', k), d, r), compare='auto')
            yield H(f'irfft_{t}_{k}', program(f'x = {shp(t, h)} parameter(0)\nr = {shp(r, d)} fft(x), fft_type=IRFFT, fft_length={{{L}}}'), normal(('irfft', k), h, t), compare='auto')
    yield J('jnp_fftshift', lambda x: jnp.fft.fftshift(jnp.fft.fft2(x)), normal('fs', (6, 5))); yield J('jnp_fftconv', lambda a, b: jnp.fft.irfft(jnp.fft.rfft(a, 32) * jnp.fft.rfft(b, 32), 32), normal('fa', 20), normal('fb', 9)); yield J('jnp_pad_fft', lambda x: jnp.fft.fft(x, 10, axis=0), normal('fp', (7, 3)))

def spd(key, d, t='f32'):
    a = normal(key, d, 'c128' if t in COMPLEX else 'f64'); n = d[-1]
    return (a @ np.conj(np.swapaxes(a, -1, -2)) / max(n, 1) + 0.5 * np.eye(n)).astype(DT[t])

@suite('linalg')
def linalg():
    for t in ('f32', 'f64', 'c64', 'c128'):
        for d in [(1, 1), (5, 5), (2, 3, 4, 4)] + ([(33, 33), (0, 0), (3, 0, 0)] if t == 'f32' else []):
            for low in ('true', 'false'):
                n = 'x'.join(map(str, d)); a = spd((t, n), d, t)
                tri = np.tril if low == 'true' else np.triu
                yield H(f'cholesky_{t}_{n}_{low}', program(f'x = {shp(t, d)} parameter(0)\nc = {shp(t, d)} cholesky(x), lower={low}\n' + triangle(t, d, low)), a, compare='auto')
        for k, (ad, bd, left) in enumerate([((4, 4), (4, 3), 1), ((4, 4), (3, 4), 0), ((2, 5, 5), (2, 5, 2), 1), ((1, 1), (1, 4), 1), ((2, 2, 3, 3), (2, 2, 4, 3), 0), ((9, 9), (9, 1), 1)]):
            for low in (True, False):
                for tr in (['NO_TRANSPOSE', 'TRANSPOSE'] + (['ADJOINT'] if t in COMPLEX else [])):
                    if t in ('f64', 'c128') and (k + low) % 2: continue
                    unit = (k + low) % 2 == 0
                    a = normal(('ta', k, t), ad, t) + (3 * np.eye(ad[-1])).astype(DT[t]); b = normal(('tb', k, t), bd, t); a = a.astype(DT[t])
                    if unit: a = (a * 0.3).astype(DT[t])
                    a = np.where(np.tril(np.ones(ad)) > 0 if low else np.triu(np.ones(ad)) > 0, a, 77).astype(DT[t])     # the other triangle must not be read
                    yield H(f"triangular_solve_{t}_{k}_{'lower' if low else 'upper'}_{tr.lower()}", program(f"a = {shp(t, ad)} parameter(0)\nb = {shp(t, bd)} parameter(1)\nr = {shp(t, bd)} triangular-solve(a, b)" + (', left_side=true' if left else '') + (', lower=true' if low else '') + (', unit_diagonal=true' if unit else '') + f', transpose_a={tr}'), a, b, compare='auto')
    yield H('cholesky_not_positive', program('x = f32[2,3,3]{2,1,0} parameter(0)\nc = f32[2,3,3]{2,1,0} cholesky(x), lower=true\n' + triangle('f32', (2, 3, 3), 'true', 'nan')), np.stack([np.eye(3), -np.eye(3)]).astype('f4'))
    yield H('cholesky_reads_one_triangle', program('x = f32[4,4]{1,0} parameter(0)\nc = f32[4,4]{1,0} cholesky(x), lower=true\n' + triangle('f32', (4, 4), 'true')), (np.tril(spd('one', (4, 4))) + np.triu(np.full((4, 4), 99.), 1)).astype('f4'), compare='auto')

def triangle(t, d, low, other='zero'):
    """Lines that clear the triangle that the operation may fill as it likes."""
    n = len(d); dirn = 'GE' if low == 'true' else 'LE'; z = 'constant((0, 0))' if t in COMPLEX else 'constant(0)'
    return (f'i = {shp("s32", d)} iota(), iota_dimension={n - 2}\nj = {shp("s32", d)} iota(), iota_dimension={n - 1}\nk = {shp("pred", d)} compare(i, j), direction={dirn}\n'
            f'z = {t}[] {z}\nzb = {shp(t, d)} broadcast(z), dimensions={{}}\nROOT r = {shp(t, d)} select(k, c, zb)')
