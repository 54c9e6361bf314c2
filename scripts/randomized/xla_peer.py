"""Runs modules in XLA's CPU client and compares results with those in files; one process for many modules.

Each line of the input is JSON: {"module", "inputs", "outputs": paths, "exact": one boolean per result}. Each line of the
output is JSON too: {"status": "same" | "differs" | "refused", "why"}. With "write", a path, results are not compared but
written there, {"status": "written"}. Needs a Python with jax.
"""
import json
import os
import sys

os.environ.setdefault('JAX_ENABLE_X64', '1')
os.environ.setdefault('JAX_PLATFORMS', 'cpu')

def leaves(shapes):
    for shape in shapes:
        if shape.is_tuple(): yield from leaves(shape.tuple_shapes())
        else: yield shape

class Peer:
    def __init__(self):
        import jax
        import jaxlib.xla_client
        from jaxlib import _hlo, _jax, lapack
        import numpy
        lapack._lapack.initialize()  # JAX does it when it traces linear algebra
        self.jax, self.hlo, self.stablehlo, self.np = jax, _hlo, _jax.mlir.hlo_to_stablehlo, numpy
        self.client = jax.devices('cpu')[0].client
        self.devices = jaxlib.xla_client.DeviceList(tuple(self.client.local_devices()[:1]))
        self.options = jaxlib.xla_client.CompileOptions

    def arguments(self, proto, path):
        shapes = list(leaves(self.hlo.XlaComputation(proto).program_shape().parameter_shapes()))
        if not shapes: return []
        with self.np.load(path) as file:
            members = [file[name] for name in file.files]
        return [self.jax.device_put(self.of_type(a, s.numpy_dtype()).reshape(s.dimensions())) for a, s in zip(members, shapes)]

    def of_type(self, array, dtype):
        """Types NumPy lacks are taken bit by bit."""
        if array.dtype == dtype: return array
        return array.view(dtype) if array.dtype.itemsize == dtype.itemsize and array.dtype.kind == 'V' else array.astype(dtype)

    def run(self, text, inputs):
        proto = self.hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        program = self.client.compile_and_load(self.stablehlo(proto), self.devices, self.options())
        return [self.np.asarray(x) for x in program.execute(self.arguments(proto, inputs))]

    def difference(self, ours, theirs, exact):
        """Of one result: None or a description."""
        np = self.np
        if not theirs.shape and ours.size == 1: ours = ours.reshape(())  # scalars are written as arrays of one
        if ours.shape != theirs.shape: return f'{ours.shape} and {theirs.shape}'
        ours = self.of_type(ours, theirs.dtype)
        if theirs.dtype == np.bool_ or 'int' in theirs.dtype.name: wrong = ours != theirs
        else:
            wide = np.complex128 if theirs.dtype.kind == 'c' else np.float64
            a, b = ours.astype(wide), theirs.astype(wide)
            bound = 0 if exact else .05
            with np.errstate(all='ignore'):
                near = np.abs(a - b) <= bound * np.maximum(1, np.abs(b))
                wrong = ~((a == b) | near | (np.isnan(a) & np.isnan(b)))
                # A complex number with a NaN is one, as is what overflows in products.
                if wide is np.complex128: wrong &= ~((~np.isfinite(a)) & (~np.isfinite(b)))
        wrong = np.asarray(wrong)
        if not wrong.any(): return None
        at = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
        return f'{theirs.dtype.name}{list(theirs.shape)}: {int(wrong.sum())} of {wrong.size}, at {at} {ours[at]}, XLA {theirs[at]}'

    def compare(self, job):
        with open(job['module'], encoding='utf-8') as f: text = f.read()
        try: theirs = self.run(text, job['inputs'])
        except Exception as error: return {'status': 'refused', 'why': f'{type(error).__name__}: {error}'.split('\n')[0][:300]}
        if 'write' in job:
            self.np.savez(job['write'], **{f'out{i}': x for i, x in enumerate(theirs)})
            return {'status': 'written', 'why': ''}
        with self.np.load(job['outputs']) as file: ours = [file[name] for name in file.files]
        if len(ours) != len(theirs): return {'status': 'differs', 'why': f'{len(ours)} results, XLA {len(theirs)}'}
        exact = job['exact']
        found = [f'result {i}, {why}' for i, (a, b) in enumerate(zip(ours, theirs)) if (why := self.difference(a, b, exact[i]))]
        return {'status': 'differs', 'why': '; '.join(found[:3])} if found else {'status': 'same', 'why': ''}

def main():
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # what libraries print is no answer
    peer = Peer()
    for line in sys.stdin:
        print(json.dumps(peer.compare(json.loads(line))), file=answers, flush=True)

if __name__ == '__main__': main()
