"""A callable on the clock, where it lives."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay import _arrays
from assay._shapes import Spec
from assay._subject import Scalars, Subject


class Clock:
    """A callable bound to copies of its inputs, which take turns. Raises Wrong where it does not return what it must."""

    def __init__(self, subject: Subject, scalars: Scalars, specs: Sequence[Spec], copies: Sequence[Sequence[_arrays.Array]]) -> None:
        names = [spec.name for spec in specs if spec.role == "in"]
        self._subject = subject
        self._outputs = [spec for spec in specs if spec.role == "out"]
        self._calls = [subject.bind(scalars, names, inputs) for inputs in copies]
        self._next = 0
        self._answer: Any = self._calls[0]()  # which loads, compiles and warms what it needs

    def round(self, seconds: float) -> tuple[float, float, int]:
        """Of a call: seconds of processor time, of all threads, and by the wall; and how many threads there are. At least so many seconds of
        calls; with 0 one call of each copy."""
        count, calls = 0, self._calls
        cpu, begun = time.process_time(), time.perf_counter()
        while True:
            self._answer = calls[self._next % len(calls)]()
            self._next += 1
            count += 1
            if (time.perf_counter() - begun >= seconds) if seconds else count == len(calls):
                break
        wall = time.perf_counter() - begun
        return (time.process_time() - cpu) / count, wall / count, len(list(Path("/proc/self/task").iterdir()))

    def kept(self) -> tuple[int, list[_arrays.Array]]:
        """The last call: which copy it had, and what it returned."""
        return (self._next - 1) % len(self._calls), self._subject.outputs(self._outputs, self._answer)
