"""The trained model, its quantised files, its fp64 trace and ggml's goldens: the sources that recorders are given."""
from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np

from formats import Bf16
from gguf_tensors import GgufFile


class Real:
    """Weights (safetensors, bf16) and activations (an fp64 trace) of one model."""

    def __init__(self, model: Path, trace: Path, quantised: list[Path] = ()) -> None:
        self.name = model.name
        self.config = json.loads((model / "config.json").read_text())
        self.raw = (model / "model.safetensors").read_bytes()
        header = int.from_bytes(self.raw[:8], "little")
        self.start = 8 + header
        self.index = json.loads(self.raw[8:self.start])
        self.trace = h5py.File(trace, "r")["prompts"]
        self.quantised = {path.stem.removeprefix(f"{model.name}-"): path for path in quantised}
        self.opened: dict[str, GgufFile] = {}

    def weight(self, name: str) -> Bf16:
        entry = self.index[name + ".weight"]
        assert entry["dtype"] == "BF16", (name, entry)
        first, last = (self.start + offset for offset in entry["data_offsets"])
        return Bf16(np.frombuffer(self.raw[first:last], "<u2").reshape(entry["shape"]))

    def layer(self, layer: int, name: str) -> Bf16:
        return self.weight(f"model.layers.{layer}.{name}")

    def gguf(self, kind: str) -> GgufFile:
        """The model's file quantised as `kind`: Q8_0, Q4_K_M."""
        if kind not in self.quantised:
            raise SystemExit(f"this op's cases need {self.name}-{kind}.gguf: give it with --gguf")
        if kind not in self.opened:
            self.opened[kind] = GgufFile(self.quantised[kind])
        return self.opened[kind]

    def site(self, site: str, prompt: str = "genesis") -> np.ndarray:
        """A site's rows, rounded to f32: what a kernel is fed."""
        group = self.trace[prompt]
        rows = group["logits"] if site == "lm_head" else group["sites"][site]
        return rows[()].astype(np.float32)

    def at(self, layer: int, site: str, prompt: str = "genesis") -> np.ndarray:
        return self.site(f"layers.{layer:02d}.{site}", prompt)

    def positions(self, prompt: str = "genesis") -> np.ndarray:
        return self.trace[prompt]["positions"][()].astype(np.int32)

    def tokens(self, prompt: str = "genesis") -> np.ndarray:
        return self.trace[prompt]["tokens"][()].astype(np.int32)
