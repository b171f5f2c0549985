"""Brings dumps of other engines into the schema of traces.

    python from_dumps.py hf DUMP.h5 WEIGHTS OUT.h5            # one group a prompt, sites by name: what record_hf.py used to write
    python from_dumps.py llama.cpp DUMP.h5 MODEL.gguf OUT.h5  # nodes of the graph in execution order

Values stay as they are; nodes that are no site are left out. WEIGHTS is the model.safetensors that was run.
"""
from __future__ import annotations

import argparse
from pathlib import Path

import h5py
import numpy as np

from formats import Bf16
from llama_sites import Node, sites_of
from trace import Greedy, Prompt, Trace, Values, all_sites, sha256_of, write_trace

GENERATOR = "golden/record/from_dumps.py"
# How the runs of each type are known: recipe, rope.
HF_RECIPES = {"float64": ("definition", "f64"), "float32": ("hf", "hf"), "bfloat16": ("hf", "hf")}


def text_of(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def values_of(dataset: h5py.Dataset) -> Values:
    raw = dataset[()]
    return Bf16(raw) if text_of(dataset.attrs.get("dtype", "")) == "bfloat16" else raw


def hf_prompt(group: h5py.Group) -> Prompt:
    stored = sorted(group["sites"].items(), key=lambda item: int(item[1].attrs["step"]))
    greedy = None
    if "greedy" in group:
        part = group["greedy"]
        greedy = Greedy(part["tokens"][()], part["gap"][()], text_of(part.attrs.get("text", "")))
    return Prompt(group["tokens"][()], group["positions"][()], values_of(group["logits"]), {n: values_of(d) for n, d in stored},
                  text_of(group.attrs["text"]), greedy)


def from_hf(dump: Path, weights: Path) -> Trace:
    with h5py.File(dump) as file:
        dtype = text_of(file.attrs["dtype"])
        recipe, rope = HF_RECIPES[dtype]
        trace = Trace(text_of(file.attrs["model"]), "bf16", sha256_of(weights), recipe, rope, dtype, GENERATOR,
                      text_of(file.attrs["source"]), prompts={name: hf_prompt(group) for name, group in file.items()})
    for name, prompt in trace.prompts.items():
        layers = sum(site.endswith(".attn_norm") for site in prompt.sites)
        if prompt.sites.keys() != all_sites(layers):
            raise ValueError(f"{dump}: {name}: sites {sorted(prompt.sites.keys() ^ all_sites(layers))}")
    return trace


def from_llama(dump: Path, gguf: Path, prompt_name: str, text: str | None) -> Trace:
    with h5py.File(dump) as file:
        tokens = file["tokens"][()]
        nodes = [Node(text_of(d.attrs["name"]), text_of(d.attrs["op"]), text_of(d.attrs["src0"]),
                      d[()].reshape(d.attrs["ne"][::-1]))
                 for _, d in sorted(file["nodes"].items())]
        logits = file["logits"][()]
        source = text_of(file.attrs["source"])
    layers = sum(node.name.startswith("l_out-") for node in nodes)
    prompt = Prompt(tokens, np.arange(len(tokens)), logits, sites_of(nodes, layers, len(tokens)), text)
    model, _, weights = gguf.stem.rpartition("-")
    settings = "" if "KV cache" in source else ", CPU, f32 KV cache, flash attention off"
    return Trace(model, weights, sha256_of(gguf), "llama.cpp", "ggml", "float32", GENERATOR, source + settings,
                 "Apache-2.0; values: outputs of llama.cpp (MIT)", {prompt_name: prompt})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["hf", "llama.cpp"])
    parser.add_argument("dump", type=Path)
    parser.add_argument("model", type=Path, metavar="WEIGHTS")
    parser.add_argument("out", type=Path)
    parser.add_argument("--prompt", default="prompt", help="llama.cpp: the name that the one prompt is given")
    parser.add_argument("--text", help="llama.cpp: its text, where there is one")
    args = parser.parse_args()
    if args.kind == "hf":
        trace = from_hf(args.dump, args.model)
    else:
        trace = from_llama(args.dump, args.model, args.prompt, args.text)
    write_trace(args.out, trace)


if __name__ == "__main__":
    main()
