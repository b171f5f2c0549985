"""Models of transformers, by hooks on their modules."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from assay._errors import AssayError, unknown
from assay.record._recording import Array, Head, Recording, all_sites, layer_site, sha256_of
from assay.record._torch import Taps, taps, to_numpy

# Of each architecture that the bench knows: which module's output, or with < which one's input, is which site. The rotated heads are no
# module's: `_rotation` sees them.
QWEN3 = {
    "embed": "model.embed_tokens",
    "layers.{layer}.attn_norm": "model.layers.{layer}.input_layernorm",
    **{f"layers.{{layer}}.{name}": f"model.layers.{{layer}}.self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj", "q_norm", "k_norm", "o_proj")},
    "layers.{layer}.attn": "<model.layers.{layer}.self_attn.o_proj",
    "layers.{layer}.attn_residual": "<model.layers.{layer}.post_attention_layernorm",
    "layers.{layer}.ffn_norm": "model.layers.{layer}.post_attention_layernorm",
    **{f"layers.{{layer}}.{name}": f"model.layers.{{layer}}.mlp.{name}" for name in ("gate_proj", "up_proj", "down_proj")},
    "layers.{layer}.swiglu": "<model.layers.{layer}.mlp.down_proj",
    "layers.{layer}.ffn_residual": "model.layers.{layer}",
    "final_norm": "model.norm",
}
ARCHITECTURES = {"Qwen3ForCausalLM": QWEN3}


@contextmanager
def _rotation(model: Any, seen: Taps) -> Iterator[None]:
    """The function that rotates queries and keys, listened to for the time being. [batch, head, token, dim] becomes [batch, token, head, dim]."""
    modeling: Any = sys.modules[type(model).__module__]
    rotate, layer = modeling.apply_rotary_pos_emb, iter(range(model.config.num_hidden_layers))

    def listened(*args: Any, **options: Any) -> Any:
        turned, at = rotate(*args, **options), next(layer)
        for name, heads in zip(("q_rope", "k_rope"), turned, strict=True):
            seen.keep(layer_site(at, name), heads.transpose(1, 2))
        return turned

    modeling.apply_rotary_pos_emb = listened
    try:
        yield
    finally:
        modeling.apply_rotary_pos_emb = rotate


@contextmanager
def _in_float64(model: Any) -> Iterator[None]:
    """float64 wherever transformers asks for float32, whatever its model is in: norms, softmax, angles."""
    import torch
    from torch.overrides import TorchFunctionMode

    if next(model.parameters()).dtype is not torch.float64:
        raise AssayError(f"wide: the model is in {next(model.parameters()).dtype}; expected torch.float64 (from_pretrained(..., dtype=torch.float64))")

    def wide(value: Any) -> Any:
        return torch.float64 if value is torch.float32 else value

    def called(_: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        function = torch.Tensor.double if function is torch.Tensor.float else function
        return function(*map(wide, args), **{name: wide(value) for name, value in (kwargs or {}).items()})

    rotary = model.model.rotary_emb
    frequencies = rotary.inv_freq
    with type("Wide", (TorchFunctionMode,), {"__torch_function__": called})():
        rotary.inv_freq = type(rotary)(model.config).inv_freq
        try:
            yield
        finally:
            rotary.inv_freq = frequencies


def _mapping_of(model: Any) -> Mapping[str, str]:
    name = type(model).__name__
    if name not in ARCHITECTURES:
        raise AssayError(f"{unknown('architecture', name, ARCHITECTURES)}; for another model: assay.record.torch")
    return ARCHITECTURES[name]


def hf_sites(model: Any, input_ids: Sequence[int], *, wide: bool = False) -> tuple[dict[str, Array], Array]:
    """One run of a model of transformers, without a cache: every site in execution order, and the logits. `wide`: as of `hf`. Raises AssayError
    for an architecture that the bench does not know."""
    import torch

    mapping = _mapping_of(model)
    layers = model.config.num_hidden_layers
    with torch.no_grad(), taps(model, mapping, layers) as seen, _rotation(model, seen), _in_float64(model) if wide else nullcontext():
        logits = model(input_ids=torch.tensor([list(input_ids)]), use_cache=False).logits[0]
    if missing := all_sites(layers) - seen.sites.keys():
        raise AssayError(f"no values for {', '.join(sorted(missing))}")
    return seen.sites, to_numpy(logits)


def hf(
    model: Any,
    input_ids: Sequence[int] | Mapping[str, Sequence[int]],
    path: str | os.PathLike[str],
    *,
    texts: Mapping[str, str] | None = None,
    last: int | Mapping[str, int] = 0,
    keep: Sequence[str] = ("*",),
    head: Head | None = None,
    wide: bool = False,
) -> None:
    """What a model of transformers computes at each site, as a trace.

    `input_ids`: of one prompt, called "prompt", or of several by name; `texts` what they were made of. `last`: how many of the last rows are
    kept, of each prompt or by name; 0: all. `keep`: globs of sites. `head`: who computed what; without it, what the model says of itself.
    `wide`: a model in float64 is computed in float64 throughout, for a truth that owes nothing to this package; without it transformers computes
    norms, softmax and angles in float32 whatever the model is in, and the trace is off by some 1e-6.
    Raises AssayError for an architecture that the bench does not know, and leaves no file then.
    """
    prompts = input_ids if isinstance(input_ids, Mapping) else {"prompt": input_ids}
    _mapping_of(model)
    recording = Recording(head or _head_of(model, wide), keep)
    for name, ids in prompts.items():
        kept = last.get(name, 0) if isinstance(last, Mapping) else last
        tokens = [int(one) for one in (ids.reshape(-1).tolist() if hasattr(ids, "reshape") else ids)]
        sites, logits = hf_sites(model, tokens, wide=wide)
        rows = range(max(0, len(tokens) - kept) if kept else 0, len(tokens))
        recording.add(name, tokens, sites, logits, rows=rows, text=(texts or {}).get(name))
    recording.write(path)


def _head_of(model: Any, wide: bool) -> Head:
    import torch
    import transformers

    folder = Path(str(getattr(model, "name_or_path", "") or "."))
    file = folder / "model.safetensors"
    dtype = str(next(model.parameters()).dtype)
    stored = str(transformers.AutoConfig.from_pretrained(folder).dtype) if (folder / "config.json").is_file() else dtype
    names = {"torch.bfloat16": "bf16", "torch.float16": "f16", "torch.float32": "f32", "torch.float64": "f64"}
    return Head(
        model=folder.resolve().name if file.is_file() else type(model).__name__,
        weights=names.get(stored, "unknown"),
        recipe="definition" if wide else "hf",
        rope="f64" if wide else "hf",
        dtype=dtype.removeprefix("torch."),
        model_sha256=sha256_of(file) if file.is_file() else "unknown",
        source=f"transformers {transformers.__version__} {type(model).__name__}, torch {torch.__version__}, {model.config._attn_implementation} attention"
        + (", all in float64" if wide else ""),
    )
