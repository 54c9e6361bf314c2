"""A program as type checkers see it: `mypy --strict` has nothing to say, and says what these are."""
import hlo_toolkit as hlo

module: hlo.Module = hlo.load("mlp.hlo")
smaller: hlo.Module = module.run_passes("@simplify")
program: hlo.Executable = hlo.compile(module, "interpreter")
same: hlo.Diff = hlo.diff(module, smaller)

builder = hlo.Builder("twice")
x: hlo.Op = builder.parameter(0, "f32[2]", "x")
twice: hlo.Op = x + x

shape = hlo.Shape("f32[2,3]")
dtype: str = shape.dtype
equal: bool = shape == "f32[2,3]"
pair: hlo.Shape = hlo.Shape.tuple([shape, "s32[]"])

client: hlo.Client = hlo.default_client()
try:
    buffer: hlo.Buffer = client.to_device([1, 2], "f32[2]")
    results: list[hlo.Buffer] = client.compile(module).execute([buffer])
except hlo.InvalidArgument as error:
    value_error: ValueError = error
