"""golden/MANIFEST.json: every data file under golden/ with its sha256, size, source and licence, and the beginning of each dataset's.

    python manifest.py GOLDEN_DIR       writes it anew
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path

import h5py

DATA = ("ops/**/*.h5", "tokenizer/**/*.h5", "traces/**/*.h5", "models/**/*", "texts/**/*")
OURS = "Apache-2.0"
KJV = "trained for Assay on the King James Version (public domain)"
KJV_GGUF = KJV + "; written as GGUF, then quantised by llama.cpp"
TINY = "llama.cpp of 2026-08-18: a Qwen3 of random weights, written as GGUF, then quantised by llama.cpp"
SUMS = "sha256 of tensors as PyPI's gguf and llama.cpp's quantiser write them (record/tensor_sums.py)"
TEXT = "King James Version (public domain), Debian package bible-kjv-text 4.38 (record/extract_text.py)"


def provenance(path: Path) -> tuple[str, str]:
    """Source and licence: an HDF5 file's own root attributes; a model's are those of the model."""
    if path.suffix == ".h5":
        with h5py.File(path, "r") as file:
            if "source" in file.attrs:
                text = [file.attrs["source"], file.attrs.get("licence", OURS)]
                return tuple(t.decode() if isinstance(t, bytes) else str(t) for t in text)
    if path.suffix == ".txt":
        return TEXT, "public domain"
    if path.name.endswith(".sha256.json"):
        return SUMS, OURS
    if path.name.startswith("tiny-a"):
        return TINY, OURS
    return KJV_GGUF if path.suffix == ".gguf" else KJV, OURS


def dataset_sums(path: Path) -> str:
    """Eight digits of the sha256 of each dataset's bytes, in the order of their names: what tells which of them was damaged."""
    sums: dict[str, str] = {}

    def add(name: str, found: h5py.Group | h5py.Dataset) -> None:
        if isinstance(found, h5py.Dataset):
            sums["/" + name] = hashlib.sha256(found[()].tobytes()).hexdigest()[:8]

    with h5py.File(path, "r") as file:
        file.visititems(add)
    return "".join(sums[name] for name in sorted(sums, key=str.encode))


def entry(path: Path) -> dict[str, str | int]:
    source, licence = provenance(path)
    raw = path.read_bytes()
    found = {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw), "source": source, "licence": licence}
    return found | {"datasets": dataset_sums(path)} if path.suffix == ".h5" else found


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
