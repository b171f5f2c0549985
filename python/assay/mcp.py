"""The bench over MCP, for programs that write kernels: `python -m assay.mcp` serves list, spec, check, bench, order, explain and reduce
on standard input and output.

A kernel is named by a file: a plugin's library, or FILE.py:FUNCTION, which is loaded in the interpreter that judges it and nowhere else.
Needs `pip install assay-bench[mcp]`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

import assay
from assay import _subject
from assay._errors import AssayError

_MOST_FAILURES = 5

server = MCPServer("assay")


class FromFile:
    """A function of a file of Python, loaded where it is first called."""

    def __init__(self, file: str, name: str) -> None:
        self.file = file
        self.__name__ = name
        self._function: Callable[..., Any] | None = None

    def __call__(self, **given: Any) -> Any:
        """The function's answer, with those of the arguments that it names."""
        if self._function is None:
            self._function = self._loaded()
        names = _subject.wanted_names(self._function)
        known = given if names is None or names[2] else {name: value for name, value in given.items() if name in names[1]}
        return self._function(**known)

    def _loaded(self) -> Callable[..., Any]:
        spec = importlib.util.spec_from_file_location("kernel_under_test", self.file)
        if spec is None or spec.loader is None:
            raise AssayError(f"{self.file}: is no file of Python")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function: Callable[..., Any] = getattr(module, self.__name__)
        return function


def kernel_of(kernel: str) -> str | FromFile:
    """What a tool's `kernel` names. Raises AssayError where there is no such file."""
    file, colon, name = kernel.rpartition(":")
    if colon and file.endswith(".py"):
        if not Path(file).is_file():
            raise AssayError(f"{file}: there is no such file")
        return FromFile(str(Path(file).absolute()), name)
    return kernel


def _given(kernel: str, arrays: str) -> dict[str, Any]:
    """What the package's functions get for a tool's `kernel` and `arrays`."""
    given = kernel_of(kernel)
    return {"kernel": given, "arrays": arrays} if isinstance(given, FromFile) else {"kernel": given}


def list_ops() -> list[str]:
    """The names of all ops that the bench judges."""
    return assay.ops()


def spec(op: str) -> str:
    """An op's specification: tensors, parameters, domain, bound, canonical order, equation."""
    return str(assay.op(op))


def check(op: str, kernel: str, arrays: str = "numpy", case: str = "", seed: int = 1, traits: str = "", time_limit: float = 10.0) -> dict[str, Any]:
    """Judges a kernel: a plugin's path, or FILE.py:FUNCTION, which gets arrays of numpy, torch, jax or mlx by the specification's names. Says whether it
    passed, its largest margin (above 1 is wrong), the first failures with the element, both values and what repeats them, and what was not asked."""
    report = assay.check(op, **_given(kernel, arrays), case=case or None, seed=seed, traits=traits, time_limit=time_limit)
    failures = [{"case": one.case, "check": one.check, "message": one.message} for one in report.failures]
    return {
        "passed": report.passed,
        "cases": len(report.cases),
        "margin": None if report.margin == float("inf") else report.margin,
        "failed": len(failures),
        "failures": failures[:_MOST_FAILURES],
        "faults": report.faults,
        "isolation": report.isolation,
        "not_asked": report.not_asked,
    }


def bench(op: str, kernel: str, arrays: str = "numpy", traits: str = "", warm: bool = False) -> list[dict[str, Any]]:
    """Times a kernel that passes, at the op's own shapes, beside the bench's best and the roof of this machine: seconds a call, per cent of the roof,
    speed against ours (above 1 is faster)."""
    report = assay.bench(op, **_given(kernel, arrays), traits=traits, warm=warm)
    return [dict(vars(one)) for one in report.timings]


def order(op: str, kernel: str, arrays: str = "numpy") -> dict[str, Any]:
    """In which order a kernel adds up: for each length the tree in words, the accumulator, whether it is the canonical order. kernel: as in check."""
    found = assay.order(op, **_given(kernel, arrays))
    rows = [{"variant": one.variant, **{name: value for name, value in vars(s).items() if name != "joins"}} for one in found.kernels for s in one.sums]
    return {"passed": found.passed, "sums": rows}


def reduce(op: str, kernel: str, arrays: str = "numpy", case: str = "", c: str = "", seconds: float = 60.0) -> dict[str, Any]:
    """The smallest call that a kernel still fails: its sizes, what is wrong, how many numbers are left. kernel: as in check; `c`: of a plugin a file that
    gets it as a program in C which needs nothing of the bench."""
    found = assay.reduce(op, **_given(kernel, arrays), case=case or None, c=c or None, seconds=seconds, seed=1)
    return {"check": found.check, "from": vars(found.from_), "reduced": vars(found.reduced), "calls": found.calls, "ended_early": found.ended_early}


def explain(op: str, kernel: str, arrays: str = "numpy", seconds: float = 60.0) -> list[dict[str, Any]]:
    """Why a kernel fails (as in check): the other computation that fits every case, in words, in which calls, and the line of the specification that it
    breaks; where none fits, what comes near and a case that it does not fit. Empty if nothing fails."""
    found = assay.explain(op, **_given(kernel, arrays), seconds=seconds)
    return [
        {
            "variant": kernel.variant,
            "failing": len(kernel.failing),
            "explanations": [{"words": one.words, "when": one.when and one.when.words, "breaks": one.law} for one in kernel.explanations],
            "near": [dict(vars(one)) for one in kernel.near],
            "ended_early": kernel.ended_early,
        }
        for kernel in found.kernels
    ]


for tool in (list_ops, spec, check, bench, order, explain, reduce):
    server.add_tool(tool)

if __name__ == "__main__":
    server.run()
