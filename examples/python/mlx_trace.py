"""What MLX computes in a model of mlx-lm, as a trace: `python mlx_trace.py MODEL OUT.h5 float32 1,2,3`. The arithmetic: float32, float16 or bfloat16."""

import sys

import mlx.core as mx
import mlx_lm
import numpy as np

from assay.record import QWEN3, Head, Recording, calls

folder, out, dtype, ids = sys.argv[1], sys.argv[2], sys.argv[3], [int(one) for one in sys.argv[4].split(",")]
model, _, config = mlx_lm.load(folder, return_config=True)
weights = {mx.bfloat16: "bf16", mx.float16: "f16", mx.float32: "f32"}[model.model.norm.weight.dtype]
model.set_dtype(getattr(mx, dtype))
rotated = {f"layers.{{layer}}.{site}": "model.layers.{layer}.self_attn.rope" for site in ("q_rope", "k_rope")}

with calls(dict(model.named_modules()), {**QWEN3, **rotated}, config["num_hidden_layers"]) as seen:
    seen["lm_head"] = model(mx.array([ids]))
sites = {site: np.array(value[0].astype(mx.float32)) for site, value in seen.items()}
sites |= {site: sites[site].swapaxes(0, 1) for site in sites if site.endswith("_rope")}  # from [head, token, dim]

quantised = "quantization" in config
narrow_sums = {"base": f"mlx-{dtype}", "sums": {"bfloat16": "bf16", "float16": "f16", "float32": "wide"}[dtype]}  # of 4-bit products
head = Head("kjv", "f32" if quantised else weights, recipe=narrow_sums if quantised else f"mlx-{dtype}", dtype=dtype, source=f"mlx {mx.__version__}")
Recording(head).add("prompt", ids, sites, sites.pop("lm_head")).write(out)
