"""`assay.check`: the whole verdict over a callable, a function pointer of ctypes, or a plugin."""

from __future__ import annotations

import ctypes
import os
import secrets
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from assay import _arrays, _host, _shapes, _subject
from assay._errors import ArgumentError, AssayError
from assay._extension import _assay
from assay._ops import require
from assay._report import Report

Isolation = Literal["auto", "required", "none"]
Judged = _host.Isolated | _host.Here
_KEPT_BYTES = 64 << 20
_FunctionPointer: type = ctypes.CFUNCTYPE(None).__mro__[1]


@dataclass(frozen=True)
class Limits:
    """How a kernel is run."""

    isolation: Isolation = "auto"
    time_limit: float = 10.0
    allow_read: Sequence[str] = ()


def check(
    op: str | None,
    kernel: object,
    *,
    case: str | None = None,
    tag: str | None = None,
    shape: Mapping[str, int | float | str] | None = None,
    data: str | None = None,
    cases: int = 3,
    seed: int | None = None,
    checks: str | None = None,
    arrays: str | None = None,
    traits: str = "",
    isolation: Isolation = "auto",
    time_limit: float = 10.0,
    allow_read: Sequence[str | os.PathLike[str]] = (),
    progress: Callable[[str, str, str], object] | None = None,
    exchange: Judged | None = None,
) -> Report:
    """Holds a kernel to goldens, generated shapes and the reference: the verdict of `assay check`.

    `kernel` is one of
    - a callable on arrays. It gets its inputs and scalars by the names of the op's specification, as many as it names, and returns the output
      (several: a tuple in the specification's order, or a mapping). It runs in a fresh interpreter; what cannot be pickled runs here, and the
      report's `isolation` says so. Guard pages, alignment and the like cannot be asked of it: `report.not_asked`.
    - a function pointer of ctypes that takes the op's argument struct: it is called as a plugin's kernel is, in assay-runner.
    - the path of a plugin (docs/your-kernel.md); `op` None: every op that it has.

    case, tag, shape, data, cases, seed, checks: as the options of `assay check`; without a seed each run draws other random cases.
    arrays: what a callable gets: "numpy", "torch", "jax" or "mlx"; None: what it is made of, else NumPy's.
    traits: what the kernel declares, such as "nan=no" (docs/declaring.md); of a plugin, what is declared beside what it says itself.
    isolation: "required" raises where something is missing, "none" leaves all of it out (a callable then runs in this interpreter).
    time_limit: seconds that a call may take. allow_read: files that a plugin may read.
    progress: told op, variant and case of each case that is done. exchange: the interpreter that holds the callable already (pytest's plugin).

    Raises AssayError for wrong use. A kernel that fails raises nothing: see Report.raise_for_status.
    """
    request = request_of(op, case=case, shape=shape, cases=cases, seed=seed)
    request |= {"checks": checks or "", "tag": tag or "", "kept_bytes": _KEPT_BYTES, "time_limit": time_limit, "isolation": isolation}
    if data is not None:
        request["data"] = data
    if exchange is not None and op is not None:
        return Report(judged(with_callable(request, op, kernel, exchange, traits), progress))
    limits = Limits(isolation, time_limit, [str(Path(path).absolute()) for path in allow_read])
    return run(op, kernel, request, limits, arrays, traits, progress)


def request_of(op: str | None, *, case: str | None, shape: Mapping[str, int | float | str] | None, cases: int, seed: int | None) -> dict[str, Any]:
    """What the extension is asked for: which cases of an op. Without a seed random ones."""
    request: dict[str, Any] = {"seed": secrets.randbits(31) if seed is None else seed, "random_cases": cases, "case": case or "", "shapes": True}
    if op is not None:
        request["ops"] = [require(op)]
    if shape is not None:
        request["shape"] = {name: plain(op or "shape", name, value) for name, value in shape.items()}
    return request


def run(
    op: str | None,
    kernel: object,
    request: dict[str, Any],
    limits: Limits,
    arrays: str | None,
    traits: str,
    progress: Callable[[str, str, str], object] | None,
) -> Report:
    """A request of the extension, with the kernel put into it."""
    if limits.isolation not in ("auto", "required", "none"):
        raise AssayError(f"isolation is {limits.isolation!r}; expected 'auto', 'required' or 'none'")
    if not limits.time_limit > 0:
        raise AssayError(f"time_limit is {limits.time_limit!r}; expected seconds above 0")
    plugin = plugin_of(op, kernel)
    if plugin is not None:
        return Report(judged({**request, "plugins": [plugin], "allow_read": list(limits.allow_read), "declared": properties(traits)}, progress))
    if op is None:
        raise AssayError("op is None; expected the op that the callable is a kernel of")
    with judge(op, kernel, limits, arrays) as exchange:
        return Report(judged(with_callable(request, op, kernel, exchange, traits), progress))


def with_callable(request: Mapping[str, Any], op: str, kernel: object, exchange: Judged, traits: str) -> dict[str, Any]:
    """A request for a callable that is there already."""
    callables = [(op, "python:" + name_of(kernel), exchange, properties(traits))]
    return {"repeat": _repeat, **request, "callables": callables, "isolation": exchange.description}


def properties(traits: str) -> str:
    """What a plugin would say."""
    return traits if not traits or traits.endswith(";") else traits + ";"


def judged(request: dict[str, Any], progress: Callable[[str, str, str], object] | None) -> dict[str, Any]:
    """What the extension finds. Raises AssayError for wrong use."""
    return cast("dict[str, Any]", asked(_assay.check, request, progress))


def asked(function: Callable[..., Any], *arguments: object) -> Any:
    """What a function of the extension gives. Raises AssayError with its words for wrong use."""
    try:
        return function(*arguments)
    except (ValueError, RuntimeError) as error:
        raise AssayError(str(error)) from None


def judge(op: str, kernel: object, limits: Limits, arrays: str | None) -> Judged:
    """The callable, ready to be asked. Raises ArgumentError where it is none, or names what the op does not have."""
    if not callable(kernel):
        raise ArgumentError(op, "the kernel", f"a {type(kernel).__name__}", "a callable, a function pointer of ctypes or a plugin's path")
    framework = _framework(op, kernel, arrays)
    _require_names(op, kernel)
    if limits.isolation == "none":
        return _host.Here(op, kernel, framework, "isolation='none'")
    try:
        return _host.Isolated(op, _host.pickled(kernel), framework, limits.time_limit)
    except _host.Unpicklable as error:
        if limits.isolation == "required":
            raise AssayError(f"{op}: isolation='required', but the callable cannot be pickled: {error}") from None
        return _host.Here(op, kernel, framework, f"it cannot be pickled: {error}")


def _framework(op: str, kernel: object, arrays: str | None) -> str:
    if arrays is not None:
        if arrays not in _arrays.FRAMEWORKS:
            raise ArgumentError(op, "arrays", repr(arrays), "one of " + ", ".join(map(repr, _arrays.FRAMEWORKS)))
        return arrays
    known = _arrays.framework_of(kernel)
    hints = [str(hint) for hint in getattr(kernel, "__annotations__", {}).values()]
    named = [framework for framework in _arrays.FRAMEWORKS[1:] if any(framework + "." in hint for hint in hints)]
    return known or (named[0] if named else _made_of(kernel))


def _made_of(kernel: object) -> str:
    """The framework of a module that the function's code names."""
    code = getattr(kernel, "__code__", None)
    scope = getattr(kernel, "__globals__", {})
    values = [scope.get(name) for name in (code.co_names if code else ())]
    values += [cell.cell_contents for cell in getattr(kernel, "__closure__", None) or ()]
    names = [getattr(value, "__name__", "").partition(".")[0] for value in values]
    names += [getattr(value, "__module__", None) or "" for value in values if not hasattr(value, "__name__")]
    return next((framework for framework in _arrays.FRAMEWORKS[1:] if framework in names), "numpy")


def _require_names(op: str, kernel: Callable[..., Any]) -> None:
    names = _subject.wanted_names(kernel)
    known = [*_shapes.inputs_of(op), *_shapes.parameter_names(op)]
    for name in sorted(names[0]) if names else ():
        if name not in known:
            raise ArgumentError(op, f"the kernel's argument '{name}'", "none of the op's", "one of " + ", ".join(known))


def plugin_of(op: str | None, kernel: object) -> str | None:
    """The path by which a runner loads it; None: it is a callable. Raises AssayError for a path without a file."""
    if isinstance(kernel, (str, os.PathLike)):
        path = Path(kernel).absolute()
        if not path.is_file():
            raise AssayError(f"plugin {path}: there is no such file")
        return str(path)
    if not isinstance(kernel, _FunctionPointer):
        return None
    if op is None:
        raise AssayError("op is None; expected the op that the function pointer is a kernel of")
    library, symbol = _symbol_of(kernel)
    return f"{library}#{symbol}={op}"


class _DlInfo(ctypes.Structure):
    _fields_ = (("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("symbol", ctypes.c_char_p), ("address", ctypes.c_void_p))


def _symbol_of(pointer: object) -> tuple[str, str]:
    """The library and the name that a function pointer has. Raises AssayError for one of no library, such as a callback."""
    address = ctypes.cast(pointer, ctypes.c_void_p).value  # type: ignore[arg-type]
    found = _DlInfo()
    known = address and ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(found))
    if not known or not found.symbol or found.address != address:
        raise AssayError("the function pointer lies in no library, so that no runner can load it; expected one of ctypes.CDLL(...), exported")
    return str(Path(os.fsdecode(found.file)).absolute()), found.symbol.decode()


def name_of(kernel: object) -> str:
    """What reports call a callable."""
    name = getattr(kernel, "__name__", None) or type(kernel).__name__
    return "".join(letter if letter.isalnum() or letter in "_-." else "_" for letter in name)


def _repeat(line: str) -> str:
    """The command that repeats a case as this package has it: "assay check OP --variant NAME --case C --seed S"."""
    words = shlex.split(line)[2:]
    op, name, options = words[0], words[2], words[3:]
    arguments, at = [], 0
    while at < len(options):
        key = options[at].removeprefix("--")
        values = []
        at += 1
        while at < len(options) and not options[at].startswith("--"):
            values.append(options[at])
            at += 1
        text = " ".join(values)
        if key == "shape":
            pairs = [pair.partition("=") for pair in text.split(",")]
            text = "{" + ", ".join(f"{n!r}: {_plain_text(v)}" for n, _, v in pairs) + "}"
        elif key not in ("seed", "cases"):
            text = repr(text)
        arguments.append(f"{key}={text}")
    return f"assay.check({op!r}, {name.partition(':')[2]}, {', '.join(arguments)})"


def _plain_text(value: str) -> str:
    try:
        float(value)
    except ValueError:
        return repr(value)
    return value


def plain(op: str, name: str, value: object) -> int | float | str:
    """A value of a shape. Raises ArgumentError."""
    if isinstance(value, (str, float)):
        return value
    if not hasattr(value, "__index__"):
        raise ArgumentError(op, name, repr(value), "a number or a word")
    return int(value.__index__())
