"""golden/MANIFEST.json: every data file under golden/ with its sha256, size, source and licence.

    python manifest.py GOLDEN_DIR       writes it anew
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path

import h5py

DATA = ("ops/**/*.h5", "tokenizer/**/*.h5", "traces/**/*", "models/**/*")
OURS = "Apache-2.0"
KJV = "trained for Assay on the King James Version (public domain)"


def provenance(path: Path) -> tuple[str, str]:
    """Source and licence: an HDF5 file's own root attributes; a model's are those of the model."""
    if path.suffix == ".h5":
        with h5py.File(path, "r") as file:
            if "source" in file.attrs:
                text = [file.attrs["source"], file.attrs.get("licence", OURS)]
                return tuple(t.decode() if isinstance(t, bytes) else str(t) for t in text)
    return KJV, OURS


def entry(path: Path) -> dict[str, str | int]:
    source, licence = provenance(path)
    raw = path.read_bytes()
    return {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw), "source": source, "licence": licence}


def write_manifest(golden: Path) -> None:
    found = {p for pattern in DATA for p in golden.glob(pattern) if p.is_file() and not p.name.startswith(".")}
    files = {p.relative_to(golden).as_posix(): entry(p) for p in sorted(found)}
    beside = golden / "MANIFEST.json.part"
    with open(beside, "w", encoding="utf-8", newline="\n") as out:
        out.write(json.dumps({"schema": 1, "files": files}, indent=1) + "\n")
        out.flush()
        os.fsync(out.fileno())
    os.replace(beside, golden / "MANIFEST.json")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden", type=Path)
    write_manifest(parser.parse_args().golden)
