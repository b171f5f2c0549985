"""Makes engine/tokenizer/{classes,apart}.inc: where `tokenizers` and another Unicode than its own part ways.

    python tokenizer_tables.py ENGINE_TOKENIZER_DIR

`tokenizers` is asked about every code point; Python's Unicode data, of the oldest and the newest version at hand (PCRE2 and
utf8proc have theirs from somewhere between), says what the libraries may answer instead.
"""
from __future__ import annotations

import argparse
import unicodedata as oldest
from pathlib import Path
from types import ModuleType

import unicodedata2 as newest
from tokenizers import Regex, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
NFC = normalizers.NFC().normalize_str
NFD = normalizers.NFD().normalize_str
# Spaces by PCRE2's \s beside category Z: the ASCII controls, NEL, and U+180E, which is of category Cf since Unicode 6.3.
PCRE2_SPACES = {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x180E}
HANGUL_T_BASE = 0x11A7
Rows = list[tuple[int, int, str]]


def matching(pattern: str) -> set[int]:
    """The code points that `tokenizers`' regex engine matches."""
    rest = pre_tokenizers.Split(Regex(pattern), "removed").pre_tokenize_str("".join(map(chr, CODE_POINTS)))
    return set(CODE_POINTS) - {ord(c) for text, _ in rest for c in text}


def class_by(data: ModuleType, code_point: int) -> str:
    category = data.category(chr(code_point))
    if category[0] == "Z" or code_point in PCRE2_SPACES:
        return "space"
    return {"L": "letter", "N": "number"}.get(category[0], "other")


def differing_classes() -> dict[int, str]:
    sets = {"letter": matching(r"\p{L}"), "number": matching(r"\p{N}"), "space": matching(r"\s")}
    out = {}
    for c in CODE_POINTS:
        theirs = next((name for name, members in sets.items() if c in members), "other")
        if any(class_by(data, c) != theirs for data in (oldest, newest)):
            out[c] = theirs
    assert "space" not in out.values()
    return out


def reorders_otherwise(code_point: int) -> bool:
    """Whether a mark is moved by `tokenizers` as the newest Unicode moves it, among marks of classes 1 to 240."""
    c = chr(code_point)
    texts = (f"a{c}\u0334", f"a\u0301\u035d\u0345{c}", f"a\u0327{c}\u0301", f"a{c}\u0301")
    return any(NFC(t) != newest.normalize("NFC", t) for t in texts)


def apart() -> dict[int, str]:
    out = {c for c in CODE_POINTS if newest.combining(chr(c)) and reorders_otherwise(c)}
    for c in CODE_POINTS:
        parts = newest.normalize("NFD", chr(c))
        if NFD(chr(c)) != parts:
            out |= {c} | {ord(p) for p in parts if newest.combining(p) == 0}
    return dict.fromkeys(out | {HANGUL_T_BASE}, "")


def rows(values: dict[int, str]) -> Rows:
    out: Rows = []
    for c, value in sorted(values.items()):
        if out and out[-1][1] == c - 1 and out[-1][2] == value:
            out[-1] = (out[-1][0], c, value)
        else:
            out.append((c, c, value))
    return out


def write(path: Path, values: dict[int, str], per_line: int) -> None:
    cells = [f"{{{a:#x}, {b:#x}{f', Class::{v}' if v else ''}}}," for a, b, v in rows(values)]
    lines = [" ".join(cells[i:i + per_line]) for i in range(0, len(cells), per_line)]
    path.write_text("// Made by golden/record/tokenizer_tables.py.\n" + "\n".join(lines) + "\n", encoding="utf-8")
    print(path, len(cells), "ranges")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    write(args.out / "classes.inc", differing_classes(), 3)
    write(args.out / "apart.inc", apart(), 6)


if __name__ == "__main__":
    main()
