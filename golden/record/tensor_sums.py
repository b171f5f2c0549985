"""The sha256 of each tensor's bytes in a GGUF file, as JSON: what a file made anew is held to.

    python tensor_sums.py MODEL.gguf OUT.sha256.json
"""
from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from formats import Blocks, tensor_array
from gguf_tensors import PLAIN, GgufFile

TYPES = {0: "f32", 1: "f16"}
assert TYPES.keys() == PLAIN.keys()


def tensor_sums(path: Path) -> dict[str, dict[str, str]]:
    file = GgufFile(path)
    sums = {}
    for name, (_, kind, _) in file.infos.items():
        tensor = file.tensor(name)
        form = tensor.format if isinstance(tensor, Blocks) else TYPES[kind]
        sums[name] = {"type": form, "sha256": hashlib.sha256(tensor_array(tensor).tobytes()).hexdigest()}
    return sums


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    sums = {"file": args.model.name, "tensors": tensor_sums(args.model)}
    args.out.write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
