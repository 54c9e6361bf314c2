"""The short way to what clients do."""
from __future__ import annotations

import _thread
import os

from ._native import Client, Module

TYPE_CHECKING = False  # typing's own would have to be imported
if TYPE_CHECKING:
    from typing import Any

    from ._native import Array, Executable

_clients: dict[str, Client] = {}
_lock = _thread.allocate_lock()


def default_client(platform: str = "cpu") -> Client:
    """The client of this process for a platform, with the default settings."""
    with _lock:
        client = _clients.get(platform)
        if client is None:
            client = _clients[platform] = Client(platform)
        return client


def load(path: str | os.PathLike[str]) -> Module:
    """The module of a file: HLO text, or a protocol buffer of XLA, also packed by gzip.

    Raises InvalidArgument, `path:line:column: ...`, and OSError.
    """
    path = os.fspath(path)
    with open(path, "rb") as file:
        return Module.from_bytes(file.read(), str(path))


def compile(module: Module, platform: str = "cpu", **options: Any) -> Executable:  # noqa: A001: what it does is called so
    """Compiles a module for a platform: cpu, interpreter, gpu, gpu-emu; `options` are those of Client.compile()."""
    return default_client(platform).compile(module, **options)


def run(module: Module, *arguments: Any, platform: str = "cpu") -> Array | tuple[Any, ...]:
    """Compiles a module and runs it once. Arguments and results are those of an Executable."""
    return compile(module, platform)(*arguments)
