"""Machine code of mutants side by side in one assembly listing: which of them are the kernel's own, instruction by instruction."""

from __future__ import annotations

import re

LABEL = re.compile(r"^([.\w$]+):")
SPACE = re.compile(r"mutant_\d{4}")
CONSTANT = re.compile(r"\.LC\d+")
LOCAL = re.compile(r"\.L\w+")
# What says nothing of what is executed.
SILENT = re.compile(r"^\s*\.(cfi_|loc|file|p2align|align|type|size|globl|hidden|local|section|text|data|weak|ident|set)\b|^\s*#|^\s*$")


def constants(lines: list[str]) -> dict[str, str]:
    """The contents of each literal that the compiler keeps beside the code."""
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        if label := LABEL.match(line):
            name = label[1] if CONSTANT.fullmatch(label[1]) else ""
        elif alias := re.match(r"^\s*\.set\s+(\.LC\d+),(.*)$", line):
            found[alias[1]] = alias[2]
        elif name and not SILENT.match(line):
            found[name] = found.get(name, "") + line.strip() + ";"
    return {name: CONSTANT.sub(lambda m: found.get(m[0], m[0]), text) for name, text in found.items()}


def by_mutant(listing: str) -> dict[str, str]:
    """Namespace to all its code and data, with labels numbered as they come, and literals by what they hold."""
    lines = listing.split("\n")
    literal = constants(lines)
    chunks: dict[str, list[list[str]]] = {}
    chunk: list[str] | None = None
    for line in lines:
        label = LABEL.match(line)
        if label and CONSTANT.fullmatch(label[1]):
            chunk = None
        elif label and not label[1].startswith(".L"):
            owner = SPACE.search(label[1])
            chunk = [] if owner else None
            if owner:
                chunks.setdefault(owner[0], []).append(chunk)
        if chunk is not None and not SILENT.match(line):
            chunk.append(line)
    return {owner: "\n".join(sorted(normal(chunk, literal) for chunk in own)) for owner, own in chunks.items()}


def normal(chunk: list[str], literal: dict[str, str]) -> str:
    """One function or table without the names that differ from copy to copy."""
    numbers: dict[str, str] = {}
    text = SPACE.sub("mutant", "\n".join(chunk))
    text = CONSTANT.sub(lambda m: f"[{literal.get(m[0], '?')}]", text)
    return LOCAL.sub(lambda m: numbers.setdefault(m[0], f".L{len(numbers)}"), text)
