"""What Hugging Face transformers computes for a local Qwen3 checkpoint, site by site, as a trace (golden/SCHEMA.md).

    python record_hf.py MODEL_DIR OUT.h5 --dtype float32 [--prompts prompts.json] [--keep 'layers.02.*' ...]

The weights are the checkpoint's own bits, widened or kept; --dtype is the type that the forward pass runs in. Attention is the `eager` one.
Greedy text reads the whole sequence anew for each token.
"""
from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
import transformers
from transformers import AutoTokenizer, Qwen3ForCausalLM
from transformers.models.qwen3 import modeling_qwen3

from formats import Bf16
from hf_model import PromptSpec, read_prompts, weight_files
from trace import Greedy, Prompt, Trace, Values, all_sites, layer_site, sha256_of, write_trace

HERE = Path(__file__).parent


class Tap:
    """Collects named activations in the order in which they are produced."""

    def __init__(self, model: Qwen3ForCausalLM) -> None:
        self.out: dict[str, torch.Tensor] = {}
        self.layer = 0
        self.after(model.model.embed_tokens, "embed")
        for i, layer in enumerate(model.model.layers):
            self.tap_layer(layer, i)
        self.after(model.model.norm, "final_norm")
        rotate = modeling_qwen3.apply_rotary_pos_emb

        def rotate_and_keep(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, **rest: object) -> tuple:
            turned = rotate(q, k, cos, sin, **rest)
            for name, t in zip(("q_rope", "k_rope"), turned, strict=True):  # [batch, head, token, dim] -> [batch, token, head, dim]
                self.keep(layer_site(self.layer, name), t.transpose(1, 2))
            return turned

        modeling_qwen3.apply_rotary_pos_emb = rotate_and_keep

    def tap_layer(self, layer: torch.nn.Module, i: int) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        attention.register_forward_pre_hook(lambda *_: setattr(self, "layer", i))
        outputs = {layer.input_layernorm: "attn_norm", attention.q_proj: "q_proj", attention.k_proj: "k_proj", attention.v_proj: "v_proj",
                   attention.q_norm: "q_norm", attention.k_norm: "k_norm", attention.o_proj: "o_proj",
                   layer.post_attention_layernorm: "ffn_norm", mlp.gate_proj: "gate_proj", mlp.up_proj: "up_proj", mlp.down_proj: "down_proj",
                   layer: "ffn_residual"}
        inputs = {attention.o_proj: "attn", layer.post_attention_layernorm: "attn_residual", mlp.down_proj: "swiglu"}
        for module, name in inputs.items():
            module.register_forward_pre_hook(lambda _m, given, site=layer_site(i, name): self.keep(site, given[0]))
        for module, name in outputs.items():
            self.after(module, layer_site(i, name))

    def after(self, module: torch.nn.Module, site: str) -> None:
        module.register_forward_hook(lambda _m, _i, out: self.keep(site, out[0] if isinstance(out, tuple) else out))

    def keep(self, site: str, t: torch.Tensor) -> None:
        if site in self.out:
            raise RuntimeError(f"{site} was produced twice")
        self.out[site] = t.detach()[0].clone()


def values(t: torch.Tensor) -> Values:
    t = t.contiguous()
    return Bf16(t.view(torch.uint16).numpy()) if t.dtype == torch.bfloat16 else t.numpy()


def continue_greedily(model: Qwen3ForCausalLM, tap: Tap, tokenizer: object, ids: list[int], count: int) -> Greedy:
    sequence, gaps = list(ids), []
    for _ in range(count):
        tap.out.clear()
        row = model(input_ids=torch.tensor([sequence]), use_cache=False).logits[0, -1].float()
        top = row.topk(2).values
        gaps.append(float(top[0] - top[1]))
        sequence.append(int(row.argmax()))
    new = sequence[len(ids):]
    return Greedy(np.array(new), np.array(gaps), tokenizer.decode(new))


def record(model: Qwen3ForCausalLM, tap: Tap, tokenizer: object, spec: PromptSpec) -> Prompt:
    ids = tokenizer(spec.text, add_special_tokens=False).input_ids
    tap.out.clear()
    logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    if tap.out.keys() != all_sites(model.config.num_hidden_layers):
        raise RuntimeError(f"sites {sorted(tap.out.keys() ^ all_sites(model.config.num_hidden_layers))}")
    rows = spec.rows(len(ids))
    prompt = Prompt(np.array(ids), rows, values(logits[rows]), {site: values(t[rows]) for site, t in tap.out.items()}, spec.text)
    if spec.greedy:
        prompt.greedy = continue_greedily(model, tap, tokenizer, ids, spec.greedy)
    return prompt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL_DIR")
    parser.add_argument("out", type=Path, metavar="OUT.h5")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], required=True)
    parser.add_argument("--prompts", type=Path, default=HERE / "prompts.json")
    parser.add_argument("--keep", nargs="+", default=["*"], metavar="GLOB", help="sites to write, lm_head for the logits; all if not given")
    parser.add_argument("--note", default="", help="added to the trace's source")
    args = parser.parse_args()
    torch.use_deterministic_algorithms(True)
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = Qwen3ForCausalLM.from_pretrained(args.model, dtype=getattr(torch, args.dtype), attn_implementation="eager").eval()
    stored = {"torch.bfloat16": "bf16", "torch.float16": "f16", "torch.float32": "f32"}
    weights = stored[str(transformers.AutoConfig.from_pretrained(args.model).dtype)]
    tap = Tap(model)
    trace = Trace(args.model.resolve().name, weights, sha256_of(weight_files(args.model)[0]), "hf", "hf", args.dtype,
                  "golden/record/record_hf.py",
                  f"transformers {transformers.__version__} Qwen3ForCausalLM, torch {torch.__version__}, eager attention{args.note}",
                  keep=tuple(args.keep))
    with torch.no_grad():
        for spec in read_prompts(args.prompts):
            trace.prompts[spec.name] = record(model, tap, tokenizer, spec)
    write_trace(args.out, trace)


if __name__ == "__main__":
    main()
