"""Modules of PyTorch, by hooks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np

from assay._errors import AssayError, unknown
from assay.record._recording import Array, Head, Recording, expanded


def to_numpy(tensor: Any) -> Array:
    """A tensor's values; bf16 as ml_dtypes has it."""
    import torch

    kept = tensor.detach().cpu().contiguous()
    if kept.dtype == torch.bfloat16:
        return np.asarray(kept.view(torch.int16).numpy().view(ml_dtypes.bfloat16))
    return np.asarray(kept.numpy())


class Taps:
    """What hooks have seen: `sites` in the order in which they were produced."""

    def __init__(self) -> None:
        self.sites: dict[str, Array] = {}

    def keep(self, site: str, tensor: Any) -> None:
        """Keeps a copy, the batch's axis dropped. Raises AssayError for a site that was produced before, or in a batch of several."""
        if site in self.sites:
            raise AssayError(f"site {site} was produced twice: one run at a time, without a cache")
        if tensor.shape[0] != 1:
            raise AssayError(f"site {site} has a batch of {tensor.shape[0]}; expected 1")
        self.sites[site] = to_numpy(tensor[0].clone())


@contextmanager
def taps(module: Any, mapping: Mapping[str, str], layers: int = 0) -> Iterator[Taps]:
    """Hooks on parts of a module, taken off again: `mapping` says of each site which submodule's output it is, or, with a `<` before the name,
    which one's first input. `{layer}` stands for 0 .. layers - 1; in a site's name it has two digits. Raises AssayError for a submodule that
    is not there."""
    parts = dict(module.named_modules())
    seen = Taps()
    hooks = []
    try:
        for site, name in expanded(mapping, layers):
            path = name.removeprefix("<")
            if path not in parts:
                raise AssayError(f"site {site}: {unknown('module', path, [one for one in parts if one])}")
            hooks.append(_hook(parts[path], site, seen, before=name.startswith("<")))
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _hook(part: Any, site: str, seen: Taps, *, before: bool) -> Any:
    if before:
        return part.register_forward_pre_hook(lambda _module, given: seen.keep(site, given[0]))
    return part.register_forward_hook(lambda _module, _given, out: seen.keep(site, out[0] if isinstance(out, tuple) else out))


def torch(
    module: Any,
    mapping: Mapping[str, str],
    input_ids: Sequence[int],
    path: str | os.PathLike[str],
    head: Head,
    *,
    layers: int = 0,
    prompt: str = "prompt",
    text: str | None = None,
) -> None:
    """One run of a module of one's own as a trace: it is called with the ids as [1, tokens], and returns the logits [1, tokens, vocab], or an
    object that has them as `logits`. `mapping`: see `taps`. Raises AssayError."""
    import torch as pytorch

    with pytorch.no_grad(), taps(module, mapping, layers) as seen:
        answer = module(pytorch.tensor([list(input_ids)]))
    logits = to_numpy(getattr(answer, "logits", answer)[0])
    Recording(head).add(prompt, list(input_ids), seen.sites, logits, text=text).write(path)
