"""The tools: each is the program of its name, which takes this process's place."""
import os
import sys


def _become(name: str) -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "hlo")
    os.execv(program, [name, *sys.argv[1:]])


def hlo_opt() -> None:
    """Checks, prints, converts and optimises modules."""
    _become("hlo-opt")


def hlo_run() -> None:
    """Runs modules and compares results."""
    _become("hlo-run")


def hlo_diff() -> None:
    """Says what differs between modules."""
    _become("hlo-diff")


def hlo_viz() -> None:
    """Draws modules."""
    _become("hlo-viz")
