"""A chapter of the King James Version from Debian's packages, one verse a line: the form in which train_kjv.py read it.

    apt-get install bible-kjv bible-kjv-text
    python extract_text.py rev22 golden/texts/revelation-22.txt
"""
from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path


def verses(chapter: str, bible: list[str]) -> list[str]:
    raw = subprocess.run([*bible, "-f", "gen1:1-rev22:21"], capture_output=True, check=True).stdout.decode("latin-1")
    found = [re.match(r"^(\d?\s?[A-Za-z]+\d+):\d+\s+(.*)$", line.strip()) for line in raw.splitlines()]
    return [m.group(2) for m in found if m and m.group(1).lower() == chapter]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chapter", help="as `bible` spells it: rev22")
    parser.add_argument("out", type=Path)
    parser.add_argument("--bible", default="bible", help="the command")
    parser.add_argument("--data", help="the folder of bible.data, where it is not the installed one")
    args = parser.parse_args()
    command = [args.bible] + (["-p", args.data] if args.data else [])
    args.out.write_text("\n".join(verses(args.chapter, command)) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
