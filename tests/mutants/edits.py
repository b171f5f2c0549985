"""What every catalogue of mutants is made of: TOML files whose entries replace stretches of text in the project's files."""

from __future__ import annotations

import functools
import pathlib
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMON = {"name", "kind", "what", "edits", "file", "find", "replace"}


class EntryError(ValueError):
    """What is wrong with an entry: a field that is missing or unknown, a text that is not there exactly once."""


@dataclass(frozen=True)
class Edit:
    """One stretch of text in one file, found exactly once, and what stands there instead."""

    file: str
    find: str
    replace: str


class Named(Protocol):
    """Whatever a catalogue makes of an entry."""

    name: str


Entry = TypeVar("Entry", bound=Named)


@functools.cache
def text_of(name: str) -> str:
    """A file of the project."""
    path = ROOT / name
    if not path.is_file():
        raise EntryError(f"{name}: no such file")
    return path.read_text()


def edits_of(entry: dict, further: set[str]) -> list[Edit]:
    """The edits of an entry, which may have `further` fields beside those that every mutant has."""
    if unknown := set(entry) - COMMON - further:
        raise EntryError(f"unknown {', '.join(sorted(unknown))}; expected {', '.join(sorted(COMMON | further))}")
    if missing := {"name", "kind", "what"} - set(entry):
        raise EntryError(f"lacks {', '.join(sorted(missing))}")
    edits = [Edit(**edit) for edit in entry.get("edits", [])]
    if "file" in entry:
        edits.append(Edit(entry["file"], entry["find"], entry["replace"]))
    for edit in edits:
        count = text_of(edit.file).count(edit.find)
        if count != 1:
            raise EntryError(f"{edit.file} holds the text to replace {count} times; expected once:\n{edit.find}")
    return edits


def read_folder(name: str, make: Callable[[dict], Entry]) -> list[Entry]:
    """Every entry of tests/mutants/<name>/*.toml, in the order of the files. SystemExit lists all that are wrong."""
    entries: list[Entry] = []
    wrong = 0
    for path in sorted((ROOT / "tests" / "mutants" / name).glob("*.toml")):
        for entry in tomllib.loads(path.read_text())["mutant"]:
            try:
                entries.append(make(entry))
            except EntryError as error:
                wrong += 1
                print(f"{path.relative_to(ROOT)}: {entry.get('name', 'a mutant without a name')}: {error}", file=sys.stderr)
    names = [entry.name for entry in entries]
    if len(names) != len(set(names)):
        raise SystemExit(f"two mutants are called {next(n for n in names if names.count(n) > 1)}")
    if wrong:
        raise SystemExit(f"tests/mutants/{name}: {wrong} mutants are wrong or no longer fit")
    return entries
