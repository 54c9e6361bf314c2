"""Modules from JAX."""
from __future__ import annotations

from ._native import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def from_jax(function: Any, *arguments: Any, **keywords: Any) -> Module:
    """The module of a function of JAX, before XLA has optimised it.

    `function`: what `jax.jit(f).lower(...)` gave, or `jax.jit(f)` or a plain function with arguments to lower it for;
    these may be `jax.ShapeDtypeStruct`s. Raises TypeError for what is none of these.
    """
    lowered = function
    if not hasattr(lowered, "compiler_ir"):
        if not hasattr(function, "lower"):
            if not callable(function):
                raise TypeError(f"a {type(function).__name__} is no function, and nothing that JAX has lowered")
            import jax

            function = jax.jit(function)
        lowered = function.lower(*arguments, **keywords)
    elif arguments or keywords:
        raise TypeError("what is lowered has its arguments")
    computation = lowered.compiler_ir(dialect="hlo")
    return Module.from_bytes(computation.as_serialized_hlo_module_proto(), "<jax>")
