"""A Qwen3 checkpoint in Hugging Face's layout, read without transformers: configuration, weights widened exactly to fp64, prompts."""
from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# bfloat16 is the upper half of a float32.
PLAIN = {"F32": "<f4", "F16": "<f2"}


@dataclass(frozen=True)
class PromptSpec:
    """prompts.json: a text, how many of its last rows are kept (0: all), how many tokens to continue it by."""

    name: str
    text: str
    last: int
    greedy: int

    def rows(self, tokens: int) -> np.ndarray:
        return np.arange(max(0, tokens - self.last) if self.last else 0, tokens)


def read_prompts(path: Path) -> list[PromptSpec]:
    specs = json.loads(path.read_text(encoding="utf-8"))
    return [PromptSpec(name, s["text"], s.get("last", 0), s.get("greedy", 0)) for name, s in specs.items()]


def weight_files(model: Path) -> list[Path]:
    """model.safetensors, or the shards that the index names."""
    index = model / "model.safetensors.index.json"
    if not index.exists():
        return [model / "model.safetensors"]
    return sorted({model / shard for shard in json.loads(index.read_text())["weight_map"].values()})


def load(model: Path) -> tuple[dict, dict[str, np.ndarray]]:
    config = json.loads((model / "config.json").read_text())
    weights: dict[str, np.ndarray] = {}
    for path in weight_files(model):
        raw = path.read_bytes()
        header = int.from_bytes(raw[:8], "little")
        for name, info in json.loads(raw[8:8 + header]).items():
            if name == "__metadata__":
                continue
            first, last = (8 + header + offset for offset in info["data_offsets"])
            if info["dtype"] == "BF16":
                values = (np.frombuffer(raw[first:last], "<u2").astype(np.uint32) << 16).view(np.float32)
            else:
                values = np.frombuffer(raw[first:last], PLAIN[info["dtype"]])
            weights[name] = values.reshape(info["shape"]).astype(np.float64)
    return config, weights


def theta_of(config: dict) -> float:
    """transformers 5 keeps it in rope_parameters."""
    return config.get("rope_theta") or config["rope_parameters"]["rope_theta"]
