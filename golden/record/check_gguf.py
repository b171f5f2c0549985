"""Holds the files that `assay quantize` and `assay synth` write to two strangers: PyPI's gguf reads them whole, and llama.cpp, through
llama-cpp-python, makes of them the logits that Assay's engine makes.

    python check_gguf.py build/release/assay golden [--keep DIR]

A line a file; exit 1 if one is refused, read otherwise than it was written, cut into other tokens, or further than KL 2e-3 from llama.cpp over
the first two verses of the golden text.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

MOST_KL = 2e-3
TYPES = ("f32", "f16", "bf16", "q4_0", "q5_0", "q8_0", "q4_k", "q5_k", "q6_k", "q4_k_m")
# Two layers of the real shape with the full vocabulary, in types that divide its rows; and a small vocabulary in a few more.
SYNTHS = {
    "synth-0.6b-q4_k_m": ("--like", "qwen3-0.6b", "--layers", "2", "--type", "q4_k_m"),
    "synth-0.6b-q8_0": ("--like", "qwen3-0.6b", "--layers", "2", "--type", "q8_0"),
    "synth-8b-q4_k_m": ("--like", "qwen3-8b", "--layers", "1", "--vocab", "4096", "--type", "q4_k_m"),  # with an lm_head of its own
    "synth-0.6b-f16": ("--like", "qwen3-0.6b", "--layers", "3", "--vocab", "4096", "--type", "f16"),
}


class Refused(Exception):
    """Why a file does not pass."""


@dataclass
class Assay:
    """The program, and the folder it writes to."""

    program: Path
    folder: Path

    def run(self, *arguments: str) -> dict:
        ran = subprocess.run([self.program, *arguments, "--json"], check=False, capture_output=True, text=True)
        if ran.returncode != 0:
            raise Refused(f"assay {arguments[0]}: {ran.stderr.strip()}")
        return json.loads(ran.stdout)

    def write(self, command: str, name: str, *arguments: str) -> tuple[Path, list[dict]]:
        """The file, and what it holds as the program says."""
        path = self.folder / f"{name}.gguf"
        return path, self.run(command, *arguments, "-o", str(path))["tensors"]


def check_reader(path: Path, written: list[dict]) -> int:
    """Every key decodes, every tensor is there as it was written and holds finite numbers. Their count."""
    reader = gguf.GGUFReader(path)
    for field in reader.fields.values():
        if field.contents() is None:
            raise Refused(f"gguf: {field.name} has no contents")
    found = {tensor.name: tensor for tensor in reader.tensors}
    if found.keys() != {tensor["name"] for tensor in written} or not found:
        raise Refused("gguf: other tensors than were written")
    for tensor in written:
        read = found[tensor["name"]]
        # gguf names the innermost dimension first.
        seen = (read.tensor_type.name.lower(), [int(n) for n in read.shape[::-1]], int(read.n_bytes))
        expected = (tensor["type"], [int(n) for n in tensor["shape"]], tensor["bytes"])
        if seen != expected:
            raise Refused(f"gguf: {read.name} is {seen}; expected {expected}")
        values = gguf.quants.dequantize(read.data, read.tensor_type)
        if not np.isfinite(values).all() or not values.any():
            raise Refused(f"gguf: {read.name} holds no finite numbers, or zeros alone")
    return len(found)


def logits_against_llama(assay: Assay, path: Path, text: str) -> dict:
    """What `assay eval` finds against llama.cpp's trace of the same file and text."""
    trace = path.with_suffix(".h5")
    recorder = Path(__file__).with_name("record_llama.py")
    ran = subprocess.run([sys.executable, recorder, path, trace, "--text", text], check=False, capture_output=True, text=True)
    if ran.returncode != 0:
        raise Refused(f"llama.cpp: {ran.stderr.strip().splitlines()[-1]}")
    prompt = assay.run("eval", str(path), "--rope", "ggml", "--against", str(trace))["prompts"][0]
    if not prompt["same_tokens"]:
        raise Refused("llama.cpp cuts the text into other tokens")
    if prompt["logits"]["rows"] != prompt["tokens"]:
        raise Refused(f"{prompt['logits']['rows']} rows of logits for {prompt['tokens']} tokens")
    return prompt["logits"]


def check(assay: Assay, command: str, name: str, arguments: tuple[str, ...], text: str) -> bool:
    """Prints the file's line; whether it passes."""
    try:
        path, written = assay.write(command, name, *arguments)
        tensors = check_reader(path, written)
        logits = logits_against_llama(assay, path, text)
        passed = logits["kl"] <= MOST_KL
        print(f"{name:20} {tensors:4} tensors  {logits['rows']:3} rows  KL {logits['kl']:.2e}, at most {logits['largest_kl']:.2e}  "
              f"NMSE {logits['nmse']:.2e}  top-1 {logits['top1']:.3f}  {'pass' if passed else 'FAIL'}", flush=True)
    except Refused as why:
        print(f"{name:20} FAIL {why}", flush=True)
        return False
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay", type=Path, help="the program")
    parser.add_argument("golden", type=Path, help="the golden folder, for the model kjv and the text")
    parser.add_argument("--keep", type=Path, help="write the files and traces there, and leave them")
    args = parser.parse_args()
    text = "".join((args.golden / "texts" / "revelation-22.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:2])
    with tempfile.TemporaryDirectory() as temporary:
        assay = Assay(args.assay.resolve(), args.keep or Path(temporary))
        kjv = str(args.golden / "models" / "kjv")
        results = [check(assay, "quantize", f"kjv-{kind}", (kjv, "--type", kind), text) for kind in TYPES]
        results += [check(assay, "synth", name, arguments, text) for name, arguments in SYNTHS.items()]
    print(f"{len(results)} files, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
