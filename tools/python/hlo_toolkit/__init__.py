"""HLO modules: read, built, optimised, compiled, run, compared and drawn.

    import hlo_toolkit as hlo

    module = hlo.Module(open("mlp.hlo").read())   # or hlo.load("mlp.hlo"), hlo.from_jax(jax.jit(f), x)
    mlp = hlo.compile(module)
    y = mlp(x, w)                                 # anything that holds an array; numpy.asarray(y) copies nothing
    hlo.diff(module, module.run_passes("@simplify"))

Errors are exceptions below HloError, of which each is also the built-in one that says the same: InvalidArgument a
ValueError, DeadlineExceeded a TimeoutError.
"""
from ._native import (
    Aborted, Array, Buffer, Builder, Cancelled, Client, Comparison, ConvolutionDimensionNumbers, DeadlineExceeded, Diff,
    DotDimensionNumbers, Executable, Execution, FailedPrecondition, GatherDimensionNumbers, HloError, InternalError,
    InvalidArgument, MemoryReport, Module, Op, PassEvent, Profile, ProfileRow, ProgramShape, ResourceExhausted,
    ScatterDimensionNumbers, Shape, Unavailable, Unimplemented, compare, diff, ops, pass_names)
from ._jax import from_jax
from ._run import compile, default_client, load, run  # noqa: A004: what it does is called so

__version__ = "0.1.0"

__all__ = [
    "Aborted", "Array", "Buffer", "Builder", "Cancelled", "Client", "Comparison", "ConvolutionDimensionNumbers",
    "DeadlineExceeded", "Diff", "DotDimensionNumbers", "Executable", "Execution", "FailedPrecondition",
    "GatherDimensionNumbers", "HloError", "InternalError", "InvalidArgument", "MemoryReport", "Module", "Op",
    "PassEvent", "Profile", "ProfileRow", "ProgramShape", "ResourceExhausted", "ScatterDimensionNumbers", "Shape",
    "Unavailable", "Unimplemented", "compare", "compile", "default_client", "diff", "from_jax", "load", "ops",
    "pass_names", "run",
]
