"""Traces as files: golden/SCHEMA.md, "Traces". Written byte for byte the same by the same libraries.

Unlike the ops' goldens, traces are compressed; HDF5's 1.10 format keeps the index of a dataset's single chunk to a few bytes, where the
1.8 format would spend 2 KiB on each of the hundreds of sites.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Self

import ml_dtypes
import numpy as np
import numpy.typing as npt

from assay._errors import AssayError

SCHEMA = 1
VERSION = "1"
SMALL = 256  # bytes: below, a filter saves nothing

SITES_OF_LAYER = (
    *("attn_norm", "q_proj", "k_proj", "v_proj", "q_norm", "k_norm", "q_rope", "k_rope", "attn", "o_proj", "attn_residual"),
    *("ffn_norm", "gate_proj", "up_proj", "swiglu", "down_proj", "ffn_residual"),
)
WHOLE_SITES = ("embed", "final_norm")

Array = npt.NDArray[Any]


@dataclass
class Head:
    """Who computed what. `recipe`: whose roundings, one of docs/audit.md, what differs from one, {"base": "hf-float32", ...}, or
    a name of one's own (`assay.audit` is then told which to allow);
    `rope`: the recipe of its table (f64, hf, ggml); `dtype`: what was computed in; `weights`: their type."""

    model: str
    weights: str = "unknown"
    recipe: str | Mapping[str, Any] = "hf"
    rope: str = "hf"
    dtype: str = "float32"
    source: str = "unknown"
    model_sha256: str = "unknown"
    generator: str = "assay.record"
    licence: str = "Apache-2.0"


@dataclass
class Greedy:
    """The continuation at temperature 0 that stops at no token; gap: first minus second logit."""

    tokens: Array
    gap: Array
    text: str = ""


@dataclass
class _Prompt:
    tokens: Array
    rows: Array
    logits: Array
    sites: dict[str, Array]
    text: str | None
    greedy: Greedy | None


def layer_site(layer: int, name: str) -> str:
    """layers.02.q_proj."""
    return f"layers.{layer:02d}.{name}"


def expanded(mapping: Mapping[str, str], layers: int) -> Iterator[tuple[str, str]]:
    """Sites and the parts that they name: `{layer}` stands for 0 .. layers - 1; in a site's name it has two digits."""
    for site, name in mapping.items():
        for layer in range(layers) if "{layer}" in site else [0]:
            yield site.replace("{layer}", f"{layer:02d}"), name.replace("{layer}", str(layer))


def all_sites(layers: int) -> set[str]:
    """Every site of a trace but lm_head, whose values are the logits."""
    return {*WHOLE_SITES, *(layer_site(i, name) for i in range(layers) for name in SITES_OF_LAYER)}


def sha256_of(path: str | os.PathLike[str]) -> str:
    """Of a file's bytes."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class Recording:
    """Runs of a model, to be written as a trace."""

    def __init__(self, head: Head, keep: Sequence[str] = ("*",)) -> None:
        """`keep`: globs of the sites that are written, lm_head for the logits."""
        self.head = head
        self.keep = tuple(keep)
        self._prompts: dict[str, _Prompt] = {}

    def add(
        self,
        prompt: str,
        tokens: npt.ArrayLike,
        sites: Mapping[str, Array],
        logits: Array,
        *,
        rows: Sequence[int] | None = None,
        text: str | None = None,
        greedy: Greedy | None = None,
    ) -> Self:
        """A run: `sites` in execution order, each [tokens, ...], as are the logits; of them `rows` are kept (None: all). An axis of 1 before that,
        the batch, is dropped. Raises AssayError for a site with another number of rows, and for a prompt that is there already."""
        ids = np.asarray(tokens, np.int32).reshape(-1)
        kept = np.arange(len(ids)) if rows is None else np.asarray(rows, np.int64)
        if prompt in self._prompts:
            raise AssayError(f"prompt '{prompt}' is there already")
        if len(kept) and not (0 <= kept.min() and kept.max() < len(ids) and (np.diff(kept) > 0).all()):
            raise AssayError(f"prompt '{prompt}': rows are {kept.tolist()}; expected ascending ones of 0 to {len(ids) - 1}")
        values = {name: _rows_of(prompt, name, array, len(ids))[kept] for name, array in {**sites, "lm_head": logits}.items()}
        self._prompts[prompt] = _Prompt(ids, kept, values.pop("lm_head"), values, text, greedy)
        return self

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes beside the file, flushes, renames."""
        import h5py

        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        beside = out.with_name(out.name + ".part")
        creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        creation.set_obj_track_times(False)
        access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
        access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
        try:
            with h5py.File(h5py.h5f.create(os.fsencode(beside), h5py.h5f.ACC_TRUNC, creation, access)) as file:
                self._write_to(file)
            with beside.open("rb") as written:
                os.fsync(written.fileno())
            beside.replace(out)
        finally:
            beside.unlink(missing_ok=True)

    def _write_to(self, file: Any) -> None:
        file.attrs.create("schema", SCHEMA, dtype="i8")
        _set_text(file, "kind", "trace")
        for field in fields(self.head):
            value = getattr(self.head, field.name)
            _set_text(file, field.name, value if isinstance(value, str) else json.dumps(value))
        _set_text(file, "version", VERSION)
        prompts = _group(file["/"], "prompts")
        for name, prompt in self._prompts.items():
            self._put_prompt(_group(prompts, name), prompt)

    def _put_prompt(self, group: Any, prompt: _Prompt) -> None:
        if prompt.text is not None:
            _put(group, "text", np.frombuffer(prompt.text.encode(), np.uint8))
        _put(group, "tokens", prompt.tokens)
        _put(group, "positions", prompt.rows.astype(np.int32))
        if self._keeps("lm_head"):
            _put(group, "logits", prompt.logits)
        sites = _group(group, "sites")
        for step, (site, values) in enumerate(prompt.sites.items()):
            if self._keeps(site):
                _put(sites, site, values).attrs.create("step", step, dtype="i8")
        if prompt.greedy is not None:
            greedy = _group(group, "greedy")
            _put(greedy, "tokens", np.asarray(prompt.greedy.tokens, np.int32))
            _put(greedy, "gap", np.asarray(prompt.greedy.gap, np.float32))
            if prompt.greedy.text:
                _put(greedy, "text", np.frombuffer(prompt.greedy.text.encode(), np.uint8))

    def _keeps(self, site: str) -> bool:
        return any(fnmatch(site, glob) for glob in self.keep)


def _rows_of(prompt: str, site: str, values: Array, tokens: int) -> Array:
    array = np.asarray(values)
    if array.ndim > 2 and array.shape[:2] == (1, tokens):
        array = array[0]
    if array.ndim < 2 or array.shape[0] != tokens:
        raise AssayError(f"prompt '{prompt}', site {site}: is {list(array.shape)}; expected [{tokens}, ...], a row a token")
    return array


def _group(parent: Any, name: str) -> Any:
    import h5py

    creation = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    creation.set_obj_track_times(False)
    return h5py.Group(h5py.h5g.create(parent.id, name.encode(), gcpl=creation))


def _put(parent: Any, name: str, values: Array) -> Any:
    is_bf16 = values.dtype == ml_dtypes.bfloat16
    raw = np.ascontiguousarray(values.view(np.uint16) if is_bf16 else values)
    filters = {"chunks": raw.shape, "compression": "gzip", "compression_opts": 9, "shuffle": True} if raw.nbytes > SMALL else {}
    dataset = parent.create_dataset(name, data=raw, track_times=False, **filters)
    if is_bf16:
        _set_text(dataset, "dtype", "bfloat16")
    return dataset


def _set_text(target: Any, name: str, text: str) -> None:
    import h5py

    raw = text.encode()
    length = max(1, len(raw))
    target.attrs.create(name, np.array(raw, f"S{length}"), dtype=h5py.string_dtype("utf-8", length))
