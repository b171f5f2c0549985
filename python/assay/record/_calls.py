"""Parts of a model that are objects which one calls: MLX's modules, tinygrad's, one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from assay._errors import AssayError, unknown
from assay.record._recording import expanded


@contextmanager
def calls(parts: Mapping[str, Any], mapping: Mapping[str, str], layers: int = 0) -> Iterator[dict[str, Any]]:
    """Listens to calls of `parts`, objects by name, by way of their classes' `__call__`, and stops again. Yields what each site's part returned
    or, with a `<` before its name, was given first: the engine's own arrays, in execution order. Sites that name the same part take its calls in
    turn. `mapping` and `layers`: see `assay.record.taps`. Raises AssayError for a part that is not there, and for one called more often."""
    listened: dict[int, dict[bool, list[str]]] = {}
    for site, name in expanded(mapping, layers):
        path = name.removeprefix("<")
        if path not in parts:
            raise AssayError(f"site {site}: {unknown('part', path, [one for one in parts if one])}")
        listened.setdefault(id(parts[path]), {}).setdefault(name.startswith("<"), []).append(site)
    seen: dict[str, Any] = {}
    kinds = {type(part) for part in parts.values() if id(part) in listened}
    with ExitStack() as undo:
        for kind in kinds:
            undo.callback(setattr, kind, "__call__", kind.__call__)
            kind.__call__ = _listening(kind.__call__, listened, seen)
        yield seen


def _listening(called: Callable[..., Any], listened: Mapping[int, dict[bool, list[str]]], seen: dict[str, Any]) -> Callable[..., Any]:
    def keep(part: Any, before: bool, value: Any) -> None:
        sites = listened.get(id(part), {}).get(before, [])
        free = [site for site in sites if site not in seen]
        if sites and not free:
            raise AssayError(f"site {sites[-1]} was produced twice: one run at a time, without a cache")
        if free:
            seen[free[0]] = value

    def call(part: Any, *given: Any, **options: Any) -> Any:
        if given:
            keep(part, True, given[0])
        answer = called(part, *given, **options)
        keep(part, False, answer)
        return answer

    return call
