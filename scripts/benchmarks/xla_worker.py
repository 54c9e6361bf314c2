"""One measurement of XLA's CPU backend: xla_worker.py FILE INPUTS.npz SECONDS [RESULTS.npz] prints JSON and writes results.

Inputs are the members of the file in order; types NumPy lacks are taken bit by bit.
"""
import json, os, resource, sys, time
os.environ.setdefault('JAX_ENABLE_X64', '1')

def without_aliases(text):
    """Inputs shall survive a run: the header without input_output_alias and buffer_donor."""
    head, newline, rest = text.partition('\n')
    for key in ('input_output_alias=', 'buffer_donor='):
        start = head.find(key)
        if start < 0: continue
        end, depth = head.index('{', start), 0
        for end in range(end, len(head)):
            depth += {'{': 1, '}': -1}.get(head[end], 0)
            if depth == 0: break
        head = head[:start].rstrip(', ') + head[end + 1:]
    return head + newline + rest

def leaves(shapes):
    for shape in shapes:
        if shape.is_tuple(): yield from leaves(shape.tuple_shapes())
        else: yield shape

def main():
    import jax, jaxlib.xla_client as xc, numpy as np
    from jaxlib import _hlo, _jax
    from jaxlib import lapack
    lapack._lapack.initialize()  # JAX does it when it traces linear algebra
    path, inputs, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    text = without_aliases(open(path).read())
    client = jax.devices('cpu')[0].client
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    parsed = time.perf_counter()
    program = _jax.mlir.hlo_to_stablehlo(proto)
    converted = time.perf_counter()
    executable = client.compile_and_load(program, xc.DeviceList(tuple(client.local_devices()[:1])), xc.CompileOptions())
    compiled = time.perf_counter()
    arrays = []
    with np.load(inputs) as file:
        for name, shape in zip(file.files, leaves(_hlo.XlaComputation(proto).program_shape().parameter_shapes())):
            array, dtype = file[name], shape.numpy_dtype()
            if array.dtype != dtype: array = array.view(dtype) if array.dtype.itemsize == dtype.itemsize else array.astype(dtype)
            arrays.append(jax.device_put(array.reshape(shape.dimensions())))
    def run():
        begin = time.perf_counter()
        for result in executable.execute(arrays): result.block_until_ready()
        return time.perf_counter() - begin
    first = run()
    samples, end = [], time.perf_counter() + seconds
    while len(samples) < 3 or time.perf_counter() < end: samples.append(run())
    if len(sys.argv) > 4:
        results = [np.asarray(result) for result in executable.execute(arrays)]
        np.savez(sys.argv[4], **{f'out{i}': x.view(np.uint16) if x.dtype.name == 'bfloat16' else x for i, x in enumerate(results)})
    print(json.dumps({'run': min(samples), 'median': sorted(samples)[len(samples) // 2], 'compile': compiled - converted,
                      'first': parsed - start + compiled - converted + first,
                      'memory': (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) * 1024}))

if __name__ == '__main__': main()
