"""Qwen3's forward pass from its definition, in NumPy fp64: the truth that every engine is held against, Hugging Face's runs included.

    PYTHONPATH=python python record_fp64.py MODEL_DIR OUT.h5 [--prompts prompts.json]

No code of transformers is used. Angles of rope are computed in fp64 (recipe f64). OUT.h5 is a trace (golden/SCHEMA.md).
"""
from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from assay.record import Head, Recording, layer_site, sha256_of
from tokenizers import Tokenizer

from hf_model import load, read_prompts, theta_of, weight_files

HERE = Path(__file__).parent


def rms_norm(x: np.ndarray, w: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def rope(x: np.ndarray, theta: float) -> np.ndarray:
    """x [T, H, D]: the pair (i, i + D/2) turns by position * theta^(-2i/D)."""
    t, _, d = x.shape
    angle = np.arange(t)[:, None] * theta ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = x[..., :d // 2], x[..., d // 2:]
    return np.concatenate([a * c - b * s, b * c + a * s], -1)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q [T, heads, D]; k, v [T, kv heads, D], each serving heads / kv heads neighbours; causal."""
    t, heads, d = q.shape
    k, v = np.repeat(k, heads // k.shape[1], 1), np.repeat(v, heads // v.shape[1], 1)
    mask = np.where(np.tril(np.ones((t, t), bool)), 0.0, -np.inf)
    scores = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(d) + mask
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hij,jhd->ihd", e / e.sum(-1, keepdims=True), v).reshape(t, heads * d)


def layer(config: dict, weights: dict[str, np.ndarray], i: int, x: np.ndarray, keep: Callable[[str, np.ndarray], np.ndarray]) -> np.ndarray:
    eps, d, theta = config["rms_norm_eps"], config["head_dim"], theta_of(config)
    heads, kv_heads, t = config["num_attention_heads"], config["num_key_value_heads"], len(x)
    prefix = f"model.layers.{i}."

    def linear(v: np.ndarray, name: str) -> np.ndarray:
        return v @ weights[prefix + name + ".weight"].T

    h = keep("attn_norm", rms_norm(x, weights[prefix + "input_layernorm.weight"], eps))
    q = keep("q_proj", linear(h, "self_attn.q_proj")).reshape(t, heads, d)
    q = keep("q_norm", rms_norm(q, weights[prefix + "self_attn.q_norm.weight"], eps))
    k = keep("k_proj", linear(h, "self_attn.k_proj")).reshape(t, kv_heads, d)
    k = keep("k_norm", rms_norm(k, weights[prefix + "self_attn.k_norm.weight"], eps))
    v = keep("v_proj", linear(h, "self_attn.v_proj")).reshape(t, kv_heads, d)
    q, k = keep("q_rope", rope(q, theta)), keep("k_rope", rope(k, theta))
    a = keep("attn", attention(q, k, v))
    x = keep("attn_residual", x + keep("o_proj", linear(a, "self_attn.o_proj")))
    h = keep("ffn_norm", rms_norm(x, weights[prefix + "post_attention_layernorm.weight"], eps))
    gate, up = keep("gate_proj", linear(h, "mlp.gate_proj")), keep("up_proj", linear(h, "mlp.up_proj"))
    f = keep("swiglu", gate / (1 + np.exp(-gate)) * up)
    return keep("ffn_residual", x + keep("down_proj", linear(f, "mlp.down_proj")))


def forward(config: dict, weights: dict[str, np.ndarray], ids: list[int]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Every site's output, in execution order, and the logits."""
    out: dict[str, np.ndarray] = {}
    x = out["embed"] = weights["model.embed_tokens.weight"][ids]
    for i in range(config["num_hidden_layers"]):
        def keep(name: str, v: np.ndarray, i: int = i) -> np.ndarray:
            return out.setdefault(layer_site(i, name), v)

        x = layer(config, weights, i, x, keep)
    x = out["final_norm"] = rms_norm(x, weights["model.norm.weight"], config["rms_norm_eps"])
    head = "model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"
    return out, x @ weights[head].T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL_DIR")
    parser.add_argument("out", type=Path, metavar="OUT.h5")
    parser.add_argument("--prompts", type=Path, default=HERE / "prompts.json")
    args = parser.parse_args()
    config, weights = load(args.model)
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    weights_type = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}[config.get("dtype") or config.get("torch_dtype")]
    recording = Recording(Head(args.model.resolve().name, weights_type, "definition", "f64", "float64",
                               f"Qwen3's definition in NumPy {np.__version__}, fp64 throughout, rope angles in fp64",
                               sha256_of(weight_files(args.model)[0]), "golden/record/record_fp64.py"))
    for spec in read_prompts(args.prompts):
        ids = tokenizer.encode(spec.text, add_special_tokens=False).ids
        sites, logits = forward(config, weights, ids)
        recording.add(spec.name, ids, sites, logits, rows=spec.rows(len(ids)), text=spec.text)
    recording.write(args.out)


if __name__ == "__main__":
    main()
