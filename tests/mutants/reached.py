"""Which of the project's files an object's code comes from, by its debug information: inlined functions too."""

from __future__ import annotations

import pathlib
import re
import subprocess

ENTRY = re.compile(r"^ <\d+><([0-9a-f]+)>: .*\((DW_TAG_\w+)\)$", re.MULTILINE)
FILE = re.compile(r"DW_AT_decl_file\s*: (?:\(\w+\) )?(\d+)")
DECLARATION = re.compile(r"DW_AT_specification: .*<0x([0-9a-f]+)>")
FOLDER = re.compile(r"^\s+(\d+)\t\(.*\): (.*)$", re.MULTILINE)
NAME = re.compile(r"^\s+(\d+)\t(\d+)\t\(.*\): (.*)$", re.MULTILINE)


def dump(kind: str, path: pathlib.Path) -> str:
    """What readelf says."""
    return subprocess.run(["readelf", f"--debug-dump={kind}", path], text=True, stdout=subprocess.PIPE, check=True).stdout


def files(path: pathlib.Path) -> frozenset[str]:
    """Names as #line gives them."""
    lines = dump("rawline", path)
    folders = dict(FOLDER.findall(lines))
    names = {number: f"{folders[folder]}/{name}" for number, folder, name in NAME.findall(lines)}
    parts = ENTRY.split(dump("info", path))
    entries = {offset: (tag, text) for offset, tag, text in zip(parts[1::3], parts[2::3], parts[3::3])}
    found = set()
    for tag, text in entries.values():
        if tag == "DW_TAG_subprogram" and re.search(r"DW_AT_(inline|low_pc)", text):
            if not FILE.search(text) and (declared := DECLARATION.search(text)):
                text = entries[declared[1]][1]
            if number := FILE.search(text):
                found.add(names.get(number[1], ""))
    return frozenset(found - {""})
