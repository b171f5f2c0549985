"""A callable that is judged: how it is called, and what of its answer is an answer. Runs in an interpreter of its own (`main`), or here."""

from __future__ import annotations

import ctypes
import inspect
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from assay import _arrays, _frames
from assay._errors import ArgumentError
from assay._shapes import Spec

Kernel = Callable[..., Any]
Scalars = Mapping[str, int | float | str]


class Wrong(Exception):
    """What a callable did, in the words of the verdict."""


def wanted_names(kernel: Kernel) -> tuple[set[str], set[str], bool] | None:
    """The arguments that a callable must be given, all that it has, and whether it takes any other too; None: it does not say."""
    try:
        parameters = inspect.signature(kernel).parameters.values()
    except (TypeError, ValueError):
        return None
    named = [one for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    must = {one.name for one in named if one.default is one.empty}
    return must, {one.name for one in named}, any(one.kind is one.VAR_KEYWORD for one in parameters)


class Subject:
    """A callable, and in which framework's arrays it gets its inputs."""

    def __init__(self, op: str, kernel: Kernel, framework: str) -> None:
        self.op = op
        self.kernel = kernel
        self.framework = framework
        self.names = wanted_names(kernel)

    def bind(self, scalars: Scalars, names: Sequence[str], inputs: Sequence[_arrays.Array]) -> Callable[[], Any]:
        """The call, ready to be made: inputs by name, and those scalars that the callable names."""
        dense = _dense_view(scalars, names, inputs)
        arguments: dict[str, Any] = {n: _arrays.to_framework(array, self.framework) for n, array in zip(names, dense, strict=True)}
        if self.names is None:
            return partial(self.kernel, *arguments.values())
        arguments |= {name: value for name, value in scalars.items() if name not in arguments}
        if not self.names[2]:
            arguments = {name: value for name, value in arguments.items() if name in self.names[1]}
        return partial(self.kernel, **arguments)

    def call(self, scalars: Scalars, specs: Sequence[Spec], inputs: Sequence[_arrays.Array]) -> list[_arrays.Array]:
        """The outputs for inputs that are writable copies. Raises Wrong."""
        names = [spec.name for spec in specs if spec.role == "in"]
        before = [array.copy() for array in inputs]
        try:
            with warnings.catch_warnings(action="ignore"):  # goldens hold NaN and infinities: NumPy warns of each
                answer = self.bind(scalars, names, inputs)()
        except Exception as error:
            raise Wrong(f"raised {type(error).__name__}: {error}; {_place(error)}") from None
        found = self.outputs([spec for spec in specs if spec.role == "out"], answer)
        for name, array, old in zip(names, inputs, before, strict=True):
            if array.tobytes() != old.tobytes():
                raise Wrong(f"changed its input {name}")
        return found

    def outputs(self, specs: Sequence[Spec], answer: Any) -> list[_arrays.Array]:
        """An answer as dense arrays, one an output. Raises Wrong."""
        return [self._output(spec, one) for spec, one in zip(specs, self._split(specs, answer), strict=True)]

    def _split(self, outputs: Sequence[Spec], answer: Any) -> list[Any]:
        names = ", ".join(spec.name for spec in outputs)
        if isinstance(answer, Mapping):
            if set(answer) != {spec.name for spec in outputs}:
                raise Wrong(f"returned a mapping of {', '.join(map(str, answer)) or 'nothing'}; expected {names}")
            return [answer[spec.name] for spec in outputs]
        if len(outputs) == 1:
            return [answer[0] if isinstance(answer, tuple) and len(answer) == 1 else answer]
        if not isinstance(answer, (tuple, list)) or len(answer) != len(outputs):
            count = len(answer) if isinstance(answer, (tuple, list)) else type(answer).__name__
            raise Wrong(f"returned {count}; expected {len(outputs)} arrays: {names}")
        return list(answer)

    def _output(self, spec: Spec, value: Any) -> _arrays.Array:
        wanted = _arrays.wanted_text(spec.dtype, spec.shape)
        try:
            array = np.asarray(value) if isinstance(value, np.generic) else _arrays.as_numpy(self.op, spec.name, value)
        except ArgumentError as error:
            raise Wrong(f"returned {error.got} for {spec.name}; expected {wanted}") from None
        if array.dtype != _arrays.numpy_dtype(spec.dtype) or array.shape != _arrays.numpy_shape(spec.dtype, spec.shape):
            raise Wrong(f"returned {_arrays.describe(array)} for {spec.name}; expected {wanted}")
        return np.ascontiguousarray(array).copy()


def _dense_view(scalars: Scalars, names: Sequence[str], inputs: Sequence[_arrays.Array]) -> list[_arrays.Array]:
    """The inputs; of attention K and V as [n_kv, length, head_dim], in the order of positions: the spans that a view is made of
    (golden/SCHEMA.md, "Views") are layout, of which a callable knows nothing."""
    if not {"q", "k", "v"} <= set(names):
        return list(inputs)
    return [_positions(scalars, name, array) if name in ("k", "v") else array for name, array in zip(names, inputs, strict=True)]


def _positions(scalars: Scalars, name: str, array: _arrays.Array) -> _arrays.Array:
    length = int(scalars["length"])
    first, step = int(scalars.get("first_slot", 0)), int(scalars.get("slot_step", 1))
    shift = int(scalars.get("v_slot_shift", 0)) if name == "v" else 0
    slots, heads, room, width = array.shape
    if scalars.get("only_seen"):
        seen = np.full((heads, length, width), np.nan, array.dtype)
        begin = _first_seen(scalars, length) if room else 0
        seen[:, begin : begin + room] = array[0]
        return seen
    spans: list[_arrays.Array] = []
    held = 0
    while held < length:
        span = array[(first + len(spans) * step + shift) % slots]
        odd = bin(len(spans)).count("1") % 2 == 1
        if odd and scalars.get("turned"):
            span = span.swapaxes(0, 1)
        elif scalars.get("uneven") == (1 if odd else 2):
            apart = f"{name}_head_stride" in scalars
            span = span[:, :16] if apart else span.reshape(heads * room, width)[: heads * 16].reshape(heads, 16, width)
        spans.append(span)
        held += span.shape[1]
    return np.ascontiguousarray(np.concatenate(spans, axis=1)[:, :length]) if spans else array[0][:, :length].copy()


def _first_seen(scalars: Scalars, length: int) -> int:
    """The row of the view that the first query's window begins with."""
    first, window = int(scalars.get("first_position", 0)), int(scalars.get("window", 0))
    position = int(scalars.get("position", first + length - int(scalars.get("rows", 1))))
    return max(position - window + 1 - first, 0) if scalars.get("causal") and window else 0


def _place(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}"


def _die_with_host() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def main(handle: int) -> None:
    """Serves calls over the socket `handle` until it closes: first the callable, pickled, then calls."""
    _die_with_host()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host ends this process
    channel = socket.socket(fileno=handle)
    try:
        _serve(channel)
    except _frames.Ended:
        sys.exit(0)


def _serve(channel: socket.socket) -> None:
    head, (pickled,) = _frames.receive(channel)
    try:
        import cloudpickle

        subject = Subject(head["op"], cloudpickle.loads(bytes(pickled)), head["framework"])
        _arrays.to_framework(np.zeros(1, np.float32), subject.framework)  # which imports it, outside any call's time
    except BaseException as error:
        _frames.send(channel, {"wrong": f"{type(error).__name__}: {error}"})
        return
    _frames.send(channel, {"ready": True})
    clock = Timer(subject)
    while True:
        head, buffers = _frames.receive(channel)
        if "clock" in head:
            _frames.send(channel, *clock.answer(head, buffers))
            continue
        specs, inputs = unpack(head, buffers)
        try:
            outputs = subject.call(head["scalars"], specs, inputs)
        except Wrong as wrong:
            _frames.send(channel, {"wrong": str(wrong)})
        else:
            _frames.send(channel, {}, [np.ascontiguousarray(one).reshape(-1).view(np.uint8) for one in outputs])


class Timer:
    """Answers what `assay.bench` asks."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._clock: Any = None

    def answer(self, head: Mapping[str, Any], buffers: Sequence[bytearray]) -> tuple[dict[str, Any], list[_arrays.Array]]:
        """A frame for a frame."""
        from assay._clock import Clock

        try:
            if head["clock"] == "prepare":
                each = len(buffers) // head["copies"]
                copies = [unpack(head, buffers[i * each : (i + 1) * each]) for i in range(head["copies"])]
                self._clock = Clock(self._subject, head["scalars"], copies[0][0], [inputs for _, inputs in copies])
                return {}, []
            if head["clock"] == "round":
                cpu, wall, threads = self._clock.round(head["seconds"])
                return {"cpu": cpu, "wall": wall, "threads": threads}, []
            copy, outputs = self._clock.kept()
        except Wrong as wrong:
            return {"wrong": str(wrong)}, []
        except Exception as error:
            return {"wrong": f"raised {type(error).__name__}: {error}"}, []
        return {"copy": copy}, [one.reshape(-1).view(np.uint8) for one in outputs]


def unpack(head: Mapping[str, Any], buffers: Sequence[bytearray]) -> tuple[list[Spec], list[_arrays.Array]]:
    """A call's tensors out of its frame; the arrays are writable."""
    specs = [Spec(**{**one, "shape": tuple(one["shape"])}) for one in head["specs"]]
    ins = [spec for spec in specs if spec.role == "in"]
    arrays = []
    for spec, buffer in zip(ins, buffers, strict=True):
        arrays.append(_arrays.from_wire((spec.dtype, spec.shape, np.frombuffer(buffer, np.uint8))))
    return specs, arrays
