"""Parity as tests: one for each case.

    @assay.parity("rms_norm")
    def test_my_norm():
        return my_rms_norm

The function returns the kernel (what `assay.check` takes) and may ask for fixtures. Its tests are the op's golden cases, and bias, shapes,
random and refusals, which are made from seeds. pytest finds this plugin by its entry point.
"""

from __future__ import annotations

import functools
import inspect
import secrets
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay._check import Judged
    from assay._report import Report

_MADE = ("shapes", "random", "refusals")  # beside goldens, and bias where the op has it
_CASE = "assay_case"
_MARK = "__assay_op__"
_MOST_SHOWN = 10
_MOST_KEPT = 4  # interpreters that wait for their next case


def parity(op: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Makes tests of a function that returns a kernel of `op`. `options`: those of `assay.check` but case, seed and progress."""
    for name in ("case", "seed", "progress"):
        if name in options:
            raise TypeError(f"parity() has no option '{name}': a test is one case, and pytest's --assay-seed sets the seed")

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(function)
        def test(*instance: Any, assay_case: str, request: pytest.FixtureRequest, **fixtures: Any) -> None:
            if "request" in own:
                fixtures["request"] = request
            _judge(op, function(*instance, **fixtures), assay_case, options, request)

        own = inspect.signature(function).parameters
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in (_CASE, "request") if name not in own]
        test.__signature__ = inspect.Signature([*own.values(), *more])  # type: ignore[attr-defined]
        setattr(test, _MARK, op)
        return test

    return decorate


class _Interpreters:
    """The callables' interpreters, kept from one case to the next; the one that was not used for the longest time goes first."""

    def __init__(self) -> None:
        self._open: OrderedDict[object, tuple[ExitStack, Judged]] = OrderedDict()

    def get(self, key: object, make: Callable[[], Judged]) -> Judged:
        if key not in self._open:
            judged = make()
            stack = ExitStack()
            stack.enter_context(judged)
            self._open[key] = (stack, judged)
            if len(self._open) > _MOST_KEPT:
                self._open.popitem(last=False)[1][0].close()
        self._open.move_to_end(key)
        return self._open[key][1]

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1][0].close()


_SEED = pytest.StashKey[int]()
_INTERPRETERS = pytest.StashKey[_Interpreters]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """--assay-seed."""
    parser.getgroup("assay").addoption("--assay-seed", type=int, default=None, help="Seed of the random cases of assay.parity; without it one of chance")


def pytest_configure(config: pytest.Config) -> None:
    """One seed for the run."""
    given = config.getoption("--assay-seed")
    config.stash[_SEED] = secrets.randbits(31) if given is None else given
    config.stash[_INTERPRETERS] = _Interpreters()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves no interpreter behind."""
    if _INTERPRETERS in config.stash:
        config.stash[_INTERPRETERS].close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a case."""
    op = getattr(metafunc.function, _MARK, None)
    if op is not None:
        metafunc.parametrize(_CASE, case_names(op))


@functools.cache
def case_names(op: str) -> list[str]:
    """What the tests of an op are called."""
    from assay import _shapes, cases

    return [*cases(op).names, *(["bias"] if _shapes.info(op)["bias"] else []), *_MADE]


def _judge(op: str, kernel: object, case: str, options: dict[str, Any], request: pytest.FixtureRequest) -> None:
    __tracebackhide__ = True
    seed = request.config.stash[_SEED]
    report = _report(op, kernel, case, options, seed, request.config.stash[_INTERPRETERS])
    if not report.cases and report.not_asked:
        pytest.skip(report.not_asked[-1])
    if report.passed:
        return
    if not report.failures and all(fault.endswith("nothing was compared") for fault in report.faults):
        pytest.skip("the kernel came back, but the case has no output to compare")
    lines = [f"{one.op} {one.variant}, case {one.case}: {one.check}\n  {one.message}" for one in report.failures[:_MOST_SHOWN]]
    if len(report.failures) > _MOST_SHOWN:
        lines.append(f"and {len(report.failures) - _MOST_SHOWN} more")
    lines += report.faults
    lines.append(f'  repeat: pytest "{request.node.nodeid}" --assay-seed {seed}')
    pytest.fail("\n".join(lines), pytrace=False)


def _report(op: str, kernel: object, case: str, options: dict[str, Any], seed: int, interpreters: _Interpreters) -> Report:
    from assay import _check, _host
    from assay import check as whole

    isolation = options.get("isolation", "auto")
    if isolation == "none" or _check.plugin_of(op, kernel) is not None or not callable(kernel):
        return whole(op, kernel, case=case, seed=seed, **options)
    try:
        key = (op, _host.pickled(kernel), repr(sorted(options.items())))
    except _host.Unpicklable:
        return whole(op, kernel, case=case, seed=seed, **options)
    limits = _check.Limits(isolation, options.get("time_limit", 10.0))
    exchange = interpreters.get(key, lambda: _check.judge(op, kernel, limits, options.get("arrays")))
    return whole(op, kernel, case=case, seed=seed, **options, exchange=exchange)
