"""Traces: what a model computed at each site, as a mapping of arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from assay import _arrays
from assay._arrays import Array
from assay._errors import AssayError, unknown
from assay._extension import _assay


class Trace(Mapping[str, Array]):
    """A trace of one prompt: sites in execution order, `lm_head` (the logits) last; `trace["layers.00.q_proj"]` is [rows kept, ...].

    `model`, `weights`, `recipe`, `rope`, `dtype`, `source` are the file's head; `tokens`, `positions` (the rows kept) and `text` the prompt's;
    `greedy` is (tokens, gap) of a continuation or None. Raises AssayError for a file that is no trace.
    """

    def __init__(self, path: str | os.PathLike[str], prompt: str | None = None) -> None:
        """`prompt`: which, where the file has several."""
        self.path = os.fspath(path)
        try:
            self._file = _assay.TraceFile(self.path)
            self.prompts: tuple[str, ...] = tuple(self._file.prompts())
            self.prompt = prompt if prompt is not None else self._only()
            if self.prompt not in self.prompts:
                raise AssayError(f"{self.path}: {unknown('prompt', self.prompt, self.prompts)}")
            about = self._file.prompt(self.prompt)
        except RuntimeError as error:
            raise AssayError(str(error)) from None
        self.tokens: Array = about["tokens"]
        self.positions: Array = about["positions"]
        self.text: str = about["text"]
        self.greedy: tuple[Array, Array] | None = about.get("greedy")
        self._sites: tuple[str, ...] = tuple(about["sites"])

    def _only(self) -> str:
        if len(self.prompts) != 1:
            raise AssayError(f"{self.path}: holds {', '.join(self.prompts)}; say which: Trace(path, prompt={self.prompts[0]!r})")
        return self.prompts[0]

    def head(self, name: str) -> str:
        """A string of the file's head, such as model_sha256 or generator."""
        try:
            return self._file.head(name)
        except RuntimeError as error:
            raise AssayError(str(error)) from None

    @property
    def model(self) -> str:
        """The model's name."""
        return self.head("model")

    @property
    def weights(self) -> str:
        """The type of its weights."""
        return self.head("weights")

    @property
    def recipe(self) -> str:
        """Whose roundings: definition, hf, llama.cpp, assay."""
        return self.head("recipe")

    @property
    def dtype(self) -> str:
        """What was computed in."""
        return self.head("dtype")

    def __getitem__(self, site: str) -> Array:
        if site not in self._sites:
            raise KeyError(unknown("site", site, self._sites))
        return _arrays.from_wire(self._file.site(self.prompt, site))

    def __iter__(self) -> Iterator[str]:
        return iter(self._sites)

    def __len__(self) -> int:
        return len(self._sites)

    def __repr__(self) -> str:
        return f"<Trace of {self.model} ({self.weights}), prompt {self.prompt}: {len(self.tokens)} tokens, {len(self)} sites>"
