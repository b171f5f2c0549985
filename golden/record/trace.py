"""Traces: golden/SCHEMA.md, "Traces". What a model computes at each site, written byte for byte the same by the same libraries.

Unlike the ops' goldens, traces are compressed; HDF5's 1.10 format keeps the index of a dataset's single chunk to a few bytes, where the
1.8 format would spend 2 KiB on each of the hundreds of sites.
"""
from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import h5py
import numpy as np

from formats import Bf16
from schema import make_group, set_scalar, set_text

SCHEMA = 1
VERSION = "1"
SMALL = 256  # bytes: below, a filter saves nothing

SITES_OF_LAYER = ("attn_norm", "q_proj", "k_proj", "v_proj", "q_norm", "k_norm", "q_rope", "k_rope", "attn", "o_proj", "attn_residual",
                  "ffn_norm", "gate_proj", "up_proj", "swiglu", "down_proj", "ffn_residual")

Values = np.ndarray | Bf16


@dataclass
class Greedy:
    """The continuation at temperature 0 that stops at no token; gap: first minus second logit."""

    tokens: np.ndarray
    gap: np.ndarray
    text: str = ""


@dataclass
class Prompt:
    """One run: `sites` in execution order, each with the rows of `positions`."""

    tokens: np.ndarray
    positions: np.ndarray
    logits: Values
    sites: dict[str, Values]
    text: str | None = None
    greedy: Greedy | None = None


@dataclass
class Trace:
    """`recipe`: whose roundings (definition, hf, llama.cpp); `rope`: the recipe of its table (f64, hf, ggml); `keep`: globs of the sites
    that are written, lm_head for the logits."""

    model: str
    weights: str
    model_sha256: str
    recipe: str
    rope: str
    dtype: str
    generator: str
    source: str
    licence: str = "Apache-2.0"
    prompts: dict[str, Prompt] = field(default_factory=dict)
    keep: tuple[str, ...] = ("*",)

    def keeps(self, site: str) -> bool:
        return any(fnmatch(site, glob) for glob in self.keep)


def layer_site(layer: int, name: str) -> str:
    return f"layers.{layer:02d}.{name}"


def all_sites(layers: int) -> set[str]:
    """Every site of a trace but lm_head, whose values are the logits."""
    return {"embed", "final_norm"} | {layer_site(i, name) for i in range(layers) for name in SITES_OF_LAYER}


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def put(parent: h5py.Group, name: str, values: Values) -> h5py.Dataset:
    raw = np.ascontiguousarray(values.bits if isinstance(values, Bf16) else values)
    packed = raw.nbytes > SMALL
    filters = {"chunks": raw.shape, "compression": "gzip", "compression_opts": 9, "shuffle": True} if packed else {}
    dataset = parent.create_dataset(name, data=raw, track_times=False, **filters)
    if isinstance(values, Bf16):
        set_text(dataset, "dtype", "bfloat16")
    return dataset


def put_text(parent: h5py.Group, name: str, text: str) -> None:
    put(parent, name, np.frombuffer(text.encode(), np.uint8))


def put_prompt(parent: h5py.Group, name: str, prompt: Prompt, trace: Trace) -> None:
    group = make_group(parent, name)
    if prompt.text is not None:
        put_text(group, "text", prompt.text)
    put(group, "tokens", prompt.tokens.astype(np.int32))
    put(group, "positions", prompt.positions.astype(np.int32))
    if trace.keeps("lm_head"):
        put(group, "logits", prompt.logits)
    sites = make_group(group, "sites")
    for step, (site, values) in enumerate(prompt.sites.items()):
        if trace.keeps(site):
            set_scalar(put(sites, site, values), "step", step)
    if prompt.greedy:
        greedy = make_group(group, "greedy")
        put(greedy, "tokens", prompt.greedy.tokens.astype(np.int32))
        put(greedy, "gap", prompt.greedy.gap.astype(np.float32))
        if prompt.greedy.text:
            put_text(greedy, "text", prompt.greedy.text)


def write_trace(path: Path, trace: Trace) -> None:
    """Writes beside the file, flushes, renames."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".h5.part")
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_obj_track_times(False)
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    with h5py.File(h5py.h5f.create(str(beside).encode(), h5py.h5f.ACC_TRUNC, creation, access)) as file:
        set_scalar(file, "schema", SCHEMA)
        texts = {"kind": "trace", "model": trace.model, "weights": trace.weights, "model_sha256": trace.model_sha256,
                 "recipe": trace.recipe, "rope": trace.rope, "dtype": trace.dtype, "generator": trace.generator,
                 "version": VERSION, "source": trace.source, "licence": trace.licence}
        for name, text in texts.items():
            set_text(file, name, text)
        prompts = make_group(file["/"], "prompts")
        for name, prompt in trace.prompts.items():
            put_prompt(prompts, name, prompt, trace)
    with open(beside, "rb") as written:
        os.fsync(written.fileno())
    os.replace(beside, path)
