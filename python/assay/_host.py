"""The side that judges: starts the interpreter that holds a callable, asks it, and says in words what befell it."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import cloudpickle
import numpy as np

from assay import _arrays, _frames
from assay._errors import AssayError
from assay._shapes import Spec
from assay._subject import Scalars, Subject, Wrong

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from assay._subject import main; main(int(sys.argv[1]))"
_START_LIMIT = 120.0  # seconds to import what the callable needs, torch and its kin
_MOST_LOST = 3  # calls in a row that it did not come back from

# As the extension's executor asks: the outputs' bytes, or what befell the call.
Exchange = Callable[[Scalars, list[dict[str, Any]], list[_arrays.Wire]], "list[Any] | str"]


class Unpicklable(AssayError):
    """A callable that cannot be sent to another interpreter."""


def pickled(kernel: Callable[..., Any]) -> bytes:
    """The callable as bytes; by value where the other interpreter could not import its module. Raises Unpicklable."""
    module = sys.modules.get(getattr(kernel, "__module__", None) or "")
    by_value = module is not None and module.__name__ != "__main__" and not _importable(module.__name__)
    try:
        if by_value:
            cloudpickle.register_pickle_by_value(module)
        try:
            return bytes(cloudpickle.dumps(kernel))
        finally:
            if by_value:
                cloudpickle.unregister_pickle_by_value(module)
    except Exception as error:  # each object has its own way to refuse
        raise Unpicklable(f"{type(error).__name__}: {error}") from error


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


class Isolated:
    """A callable in a fresh interpreter. A context: on leaving, the interpreter and what it has started are gone."""

    description = "an interpreter of its own, with a time limit"

    def __init__(self, op: str, kernel: bytes, framework: str, time_limit: float) -> None:
        self._op = op
        self._kernel = kernel
        self._framework = framework
        self._limit = time_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._lost = 0

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the interpreter."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        words = [sys.executable, "-c", _START, str(theirs.fileno()), json.dumps(sys.path)]
        with theirs:
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
        self._channel = ours
        try:
            head, _ = self.ask({"op": self._op, "framework": self._framework}, [self._kernel], _START_LIMIT)
        except Wrong as wrong:
            self.close()
            raise AssayError(f"{self._op}: the interpreter for the callable {wrong}") from None
        if "wrong" in head:
            self.close()
            raise AssayError(f"{self._op}: the callable cannot be loaded in an interpreter of its own: {head['wrong']}")

    def ask(self, head: Mapping[str, Any], buffers: Sequence[Any], limit: float) -> tuple[dict[str, Any], list[bytearray]]:
        """An answer, within `limit` seconds. Raises Wrong, with how it ended; then it is gone."""
        if self._channel is None:
            self._start()
        assert self._channel is not None
        try:
            _frames.send(self._channel, dict(head), buffers)
            return _frames.receive(self._channel, time.monotonic() + limit)
        except TimeoutError:
            self.close()
            raise Wrong(f"gave no answer within {limit:g} s (time_limit): an endless loop?") from None
        except _frames.Ended:
            raise Wrong(self._ending()) from None

    def _ending(self) -> str:
        assert self._process is not None
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            code = None
        self.close()
        if code is None:
            return "closed its channel, but lives"
        return f"died of {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"

    def __call__(self, scalars: Scalars, specs: list[dict[str, Any]], inputs: list[_arrays.Wire]) -> list[Any] | str:
        if self._lost == _MOST_LOST:
            return f"was not called: {_MOST_LOST} calls in a row before did not come back"
        try:
            head, buffers = self.ask({"scalars": dict(scalars), "specs": specs}, [one[2] for one in inputs], self._limit)
        except Wrong as wrong:
            self._lost += 1
            return f"the interpreter {wrong}"
        self._lost = 0
        return head["wrong"] if "wrong" in head else outputs_of(specs, buffers)


def outputs_of(specs: Sequence[Mapping[str, Any]], buffers: Sequence[bytearray]) -> list[Any] | str:
    """What came back, held to the sizes that were asked for: the other side is not trusted."""
    outs = [one for one in specs if one["role"] == "out"]
    sizes = [int(np.prod(_arrays.numpy_shape(o["dtype"], o["shape"]))) * _arrays.numpy_dtype(o["dtype"]).itemsize for o in outs]
    if [len(buffer) for buffer in buffers] != sizes:
        return f"the interpreter sent {[len(buffer) for buffer in buffers]} bytes; expected {sizes}"
    return [np.frombuffer(buffer, np.uint8) for buffer in buffers]


class Here:
    """A callable in this interpreter, with neither isolation nor time limit."""

    def __init__(self, op: str, kernel: Callable[..., Any], framework: str, why: str) -> None:
        self.subject = Subject(op, kernel, framework)
        self.description = f"none ({why})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    def __call__(self, scalars: Scalars, specs: list[dict[str, Any]], inputs: list[_arrays.Wire]) -> list[Any] | str:
        arrays = [_arrays.from_wire(one) for one in inputs]
        try:
            outputs = self.subject.call(scalars, [Spec(**one) for one in specs], arrays)
        except Wrong as wrong:
            return str(wrong)
        return [one.reshape(-1).view(np.uint8) for one in outputs]
