"""The command `assay`, which came with the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROGRAM = Path(__file__).absolute().parent / "bin" / "assay"


def main() -> None:
    """Becomes the program."""
    os.execv(PROGRAM, ["assay", *sys.argv[1:]])
