"""The extension, told where this package's programs and goldens lie."""

from __future__ import annotations

from pathlib import Path

from assay import _assay

__all__ = ["FOLDER", "PROGRAMS", "VERSION", "_assay"]

FOLDER = Path(__file__).absolute().parent
PROGRAMS = FOLDER / "bin"
VERSION: str = _assay.version

_assay.set_program_folder(str(PROGRAMS))
