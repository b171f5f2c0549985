"""A copy of a model with one fault in it, for traces that an audit must find wrong (golden/traces/altered).

    python alter_model.py MODEL OUT FAULT

MODEL and OUT are both folders in Hugging Face's layout or both GGUF files; all but what the fault names stays byte for byte.

    kv_exchanged   the k_proj and the v_proj of layer 2 have each other's name
    q_norm_zeroed  number 37 of layer 2's q_norm is 0
    theta          rope's base is 250000
    eps            the norms' epsilon is 1e-5
    q6_k_block     GGUF alone: in row 100 of layer 2's ffn_down, a Q6_K tensor, the middle block has its low bits inverted
"""
from __future__ import annotations

import argparse
import json
import shutil
import struct
from pathlib import Path

from gguf_tensors import BLOCKS, GgufFile

LAYER, NORM_INDEX, THETA, EPS = 2, 37, 250000.0, 1e-5
ROW, BLOCK, Q6_K_BYTES, LOW_BYTES = 100, 1, 210, 128


def exchange(raw: bytearray, a: bytes, b: bytes, end: int) -> None:
    """Two names of one length, each once before `end`."""
    first, second = raw.find(a, 0, end), raw.find(b, 0, end)
    if min(first, second) < 0 or len(a) != len(b) or max(raw.count(a, 0, end), raw.count(b, 0, end)) != 1:
        raise ValueError(f"{a.decode()} and {b.decode()} are not there once each")
    raw[first:first + len(a)], raw[second:second + len(b)] = b, a


def alter_folder(source: Path, out: Path, fault: str) -> None:
    shutil.copytree(source, out)
    config_path, weights_path = out / "config.json", out / "model.safetensors"
    config = json.loads(config_path.read_text())
    raw = bytearray(weights_path.read_bytes())
    end = 8 + int.from_bytes(raw[:8], "little")
    attention = f"model.layers.{LAYER}.self_attn"
    if fault == "kv_exchanged":
        exchange(raw, f'"{attention}.k_proj.weight"'.encode(), f'"{attention}.v_proj.weight"'.encode(), end)
    elif fault == "q_norm_zeroed":
        info = json.loads(raw[8:end])[f"{attention}.q_norm.weight"]
        if info["dtype"] != "BF16":
            raise ValueError("a q_norm in bf16 is expected")
        struct.pack_into("<H", raw, end + info["data_offsets"][0] + 2 * NORM_INDEX, 0)
    elif fault == "theta":
        config["rope_parameters"]["rope_theta"] = THETA
    elif fault == "eps":
        config["rms_norm_eps"] = EPS
    else:
        raise ValueError(f"{fault}: not for a checkpoint of Hugging Face")
    config_path.write_text(json.dumps(config, indent=2) + "\n")
    weights_path.write_bytes(raw)


def set_f32(raw: bytearray, key: bytes, value: float) -> None:
    at = raw.find(struct.pack("<Q", len(key)) + key + struct.pack("<I", 6))
    if at < 0:
        raise ValueError(f"no f32 {key.decode()}")
    struct.pack_into("<f", raw, at + 8 + len(key) + 4, value)


def alter_gguf(source: Path, out: Path, fault: str) -> None:
    file = GgufFile(source)
    raw = bytearray(file.raw)

    def data(name: str) -> int:
        return file.start + file.infos[name][2]

    if fault == "kv_exchanged":
        exchange(raw, f"blk.{LAYER}.attn_k.weight".encode(), f"blk.{LAYER}.attn_v.weight".encode(), file.start)
    elif fault == "q_norm_zeroed":
        struct.pack_into("<f", raw, data(f"blk.{LAYER}.attn_q_norm.weight") + 4 * NORM_INDEX, 0.0)
    elif fault == "theta":
        set_f32(raw, b"qwen3.rope.freq_base", THETA)
    elif fault == "eps":
        set_f32(raw, b"qwen3.attention.layer_norm_rms_epsilon", EPS)
    elif fault == "q6_k_block":
        name = f"blk.{LAYER}.ffn_down.weight"
        shape, kind, _ = file.infos[name]
        if BLOCKS.get(kind) != "q6_k":
            raise ValueError(f"{name} is not q6_k")
        at = data(name) + (ROW * shape[1] // 256 + BLOCK) * Q6_K_BYTES
        raw[at:at + LOW_BYTES] = bytes(b ^ 0x11 for b in raw[at:at + LOW_BYTES])
    else:
        raise ValueError(f"no fault {fault}")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(raw)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("fault", choices=["kv_exchanged", "q_norm_zeroed", "theta", "eps", "q6_k_block"])
    args = parser.parse_args()
    (alter_folder if args.model.is_dir() else alter_gguf)(args.model, args.out, args.fault)


if __name__ == "__main__":
    main()
