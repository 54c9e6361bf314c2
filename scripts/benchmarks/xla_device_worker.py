"""XLA on a device, module after module: xla_device_worker.py cpu|gpu; each line of the input names a file and repetitions.

For each a line of JSON: {"us": time of one execution, "compile": seconds, "bytes": of arguments, results and temporary arrays}
of inputs made on the device, or {"error"}. The
executions are started one after the other and waited for together, as programs do; the best of several rounds. Needs a Python
with jaxlib. Memory of the device is taken as it is needed and given back after each module.
"""
import json, os, sys, time
os.environ.setdefault('JAX_ENABLE_X64', '1')
os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')
ROUNDS = 5
SLOW = 1  # seconds of what is not repeated

def made(shape, seed, device):
    """Values as random modules have them: none is special, none fills the caches with the same line."""
    import jax, numpy as np
    dtype, dims = np.dtype(shape.numpy_dtype()), tuple(shape.dimensions())
    with jax.default_device(device):
        key = jax.random.key(seed)
        if dtype == np.bool_: return jax.random.bernoulli(key, shape=dims)
        if np.issubdtype(dtype, np.integer): return jax.random.randint(key, dims, 0, 100).astype(dtype)
        return jax.random.normal(key, dims, 'float32').astype(dtype)

def measured(path, repeats, device, xla_worker):
    import jax
    import jaxlib.xla_client as xc
    from jaxlib import _hlo, _jax
    with open(path, encoding='utf-8') as file: text = xla_worker.without_aliases(file.read())
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    program = _jax.mlir.hlo_to_stablehlo(proto)
    begin = time.perf_counter()
    executable = device.client.compile_and_load(program, xc.DeviceList((device,)), xc.CompileOptions())
    compiled = time.perf_counter() - begin
    parameters = xla_worker.leaves(_hlo.XlaComputation(proto).program_shape().parameter_shapes())
    arrays = [jax.block_until_ready(made(shape, i, device)) for i, shape in enumerate(parameters)]
    def seconds(times):
        begin = time.perf_counter()
        for _ in range(times): results = executable.execute(arrays)
        for result in results: result.block_until_ready()
        return (time.perf_counter() - begin) / times
    once = (seconds(1), seconds(1))[1]
    repeats = max(1, min(repeats, int(SLOW / once)))
    rounds = ROUNDS if once * repeats < SLOW else 1
    memory = executable.get_compiled_memory_stats()
    return {'us': round(min(seconds(repeats) for _ in range(rounds)) * 1e6, 2), 'compile': round(compiled, 3),
            'bytes': memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes}

def main():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import xla_worker
    import jax
    device = jax.devices(sys.argv[1])[0]
    print(json.dumps({'device': device.device_kind, 'jax': jax.__version__, 'flags': os.environ.get('XLA_FLAGS', '')}), flush=True)
    for line in sys.stdin:
        path, repeats = line.split()
        try: answer = measured(path, int(repeats), device, xla_worker)
        except Exception as e: answer = {'error': str(e).split('\n')[0][:200]}
        print(json.dumps(answer), flush=True)

if __name__ == '__main__': main()
