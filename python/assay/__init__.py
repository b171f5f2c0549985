"""Assay: parity of kernels of CPU inference with derived bounds.

    import assay
    assay.check("rms_norm", my_rms_norm).raise_for_status()

docs/python.md has the whole; `help(assay.check)` and its neighbours say what each takes. Importing this imports nothing else: NumPy and
the extension are loaded at the first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import assay.record  # noqa: F401
    from assay._bench import BenchReport as BenchReport
    from assay._bench import bench as bench
    from assay._check import check as check
    from assay._errors import ArgumentError as ArgumentError
    from assay._errors import AssayError as AssayError
    from assay._errors import ParityError as ParityError
    from assay._forensics import attribute as attribute
    from assay._forensics import audit as audit
    from assay._forensics import bisect as bisect
    from assay._forensics import diff as diff
    from assay._kernels import explain as explain
    from assay._kernels import order as order
    from assay._kernels import reduce as reduce
    from assay._ops import Op as Op
    from assay._ops import include_dir as include_dir
    from assay._ops import op as op
    from assay._ops import ops as ops
    from assay._report import Failure as Failure
    from assay._report import Report as Report
    from assay._trace import Trace as Trace
    from assay._truth import Case as Case
    from assay._truth import Comparison as Comparison
    from assay._truth import Truth as Truth
    from assay._truth import cases as cases
    from assay._truth import compare as compare
    from assay._truth import reference as reference
    from assay.pytest_plugin import parity as parity

_HOMES = {
    "_bench": ("BenchReport", "bench"),
    "_check": ("check",),
    "_errors": ("ArgumentError", "AssayError", "ParityError"),
    "_forensics": ("attribute", "audit", "bisect", "diff"),
    "_kernels": ("explain", "order", "reduce"),
    "_ops": ("Op", "include_dir", "op", "ops"),
    "_report": ("Failure", "Report"),
    "_trace": ("Trace",),
    "_truth": ("Case", "Comparison", "Truth", "cases", "compare", "reference"),
    "pytest_plugin": ("parity",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, "record"])


def __getattr__(name: str) -> object:
    if name == "__version__":
        return importlib.import_module("assay._extension").VERSION
    if name == "record":
        return importlib.import_module("assay.record")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"assay.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
