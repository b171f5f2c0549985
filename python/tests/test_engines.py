"""Faults planted in an engine that nobody prepared for: each is found, at the sites that have it and no others, and explained."""

import os
import types
from pathlib import Path

import numpy as np
import pytest

import assay

pytest.importorskip("h5py")
import engine as engines

SOURCE = Path(os.environ["ASSAY_SOURCE"]) if "ASSAY_SOURCE" in os.environ else None
pytestmark = pytest.mark.skipif(SOURCE is None, reason="ASSAY_SOURCE names no source tree: it has the models and traces")
IDS = [int(one) for one in np.random.default_rng(1).integers(0, 4000, 40)]
F = np.float32


def windowed(width):
    def mask(score):
        keys = np.arange(score.shape[-1])
        return np.where((keys <= keys[:, None]) & (keys > keys[:, None] - width), score, F(-np.inf))

    return mask


def leaky(depth):
    def mask(score):
        keys = np.arange(score.shape[-1])
        return np.where(keys <= keys[:, None], score, score - F(depth))

    return mask


EPS = types.SimpleNamespace(config={"rms_norm_eps": 1e-6})


def gelu_tanh(g):
    return F(0.5) * g * (1 + np.tanh(F(0.7978845608028654) * (g + F(0.044715) * g * g * g)))


def coarse_silu(g):
    """A sigmoid in steps of 2^-24, as a rational function's sum leaves it."""
    sigmoid = 1 / (1 + np.exp(-g.astype(np.float64)))
    return g * (np.round(sigmoid * 2**24) / 2**24).astype(F)


def narrow_angles(positions, d):
    return engines.f16(positions[:, None].astype(F) * engines.frequencies(1e6, d))


def narrow_softmax(score):
    e = np.exp(engines.bf16(score) - engines.bf16(score).max(-1, keepdims=True))
    return engines.bf16(e / e.sum(-1, keepdims=True))


def narrow_sums(kept):
    """Of every product: each term and each sum in a narrow type, one after the other."""

    def product(x, w):
        total = np.zeros((len(x), len(w)), F)
        for k in range(x.shape[1]):
            total = kept(total + kept(x[:, k : k + 1] * w[:, k]))
        return total

    return product


# name: steps, the kind of site that is wrong, what explains it
FAULTS = {
    "window": ({"mask": windowed(8)}, "attn", "a window of 8 positions"),
    "scale": ({"scale": lambda d: F(1.1 / np.sqrt(d))}, "attn", "scores 1.1 times as large"),
    "leaky mask": ({"mask": leaky(5)}, "attn", "a mask that takes 5 off the scores of later tokens and does not hide them"),
    "softmax": ({"softmax": narrow_softmax}, "attn", "scores and the softmax's weights rounded to bf16"),
    "angles": ({"angles": narrow_angles}, "rope", "angles rounded to f16"),
    "residual": ({"mlp_input": lambda stream, residual: stream}, "ffn_norm", "fed by "),
    "gelu": ({"gate": gelu_tanh}, "swiglu", "gelu by tanh in the place of silu"),
    "sigmoid": ({"gate": coarse_silu}, "swiglu", "a sigmoid off by up to "),
    "q_norm": ({"q_norm": lambda x, w: x}, "q_norm", "the norm is missing: a copy of layers.00.q_proj"),
    "sums in bf16": ({"product": narrow_sums(engines.bf16)}, "_proj", "each term and each sum rounded to bf16, one after the other"),
    "sums in f16": ({"product": narrow_sums(engines.f16)}, "_proj", "each term and each sum rounded to f16, one after the other"),
    "factor": ({"norm": lambda x, w: F(1.02) * engines.Engine.norm(EPS, x, w)}, "norm", "1.02 times too large"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name, tmp_path):
    steps, kind, words = FAULTS[name]
    engines.Engine(SOURCE, **steps).run(IDS, tmp_path / "t.h5")
    found = assay.audit(SOURCE / "golden/models/kjv", tmp_path / "t.h5")
    assert found.prompts[0].wrong
    for one in found.prompts[0].wrong:
        assert kind in one.site
        assert any(words.replace("layers.00", one.site[:9]) in text for text in one.explanations), (one.site, one.explanations, one.remarks)


def test_no_fault(tmp_path):
    engines.Engine(SOURCE).run(IDS, tmp_path / "t.h5")
    assert assay.audit(SOURCE / "golden/models/kjv", tmp_path / "t.h5").passed


@pytest.mark.parametrize(("weight", "site"), [("model.embed_tokens.weight", "embed"), ("model.layers.2.mlp.down_proj.weight", "layers.02.down_proj")])
def test_one_number(weight, site, tmp_path):
    row = IDS[3] if site == "embed" else 17
    engines.altered(engines.Engine(SOURCE), weight, (row, 5), 0.75).run(IDS, tmp_path / "t.h5")
    wrong = {one.site: one for one in assay.audit(SOURCE / "golden/models/kjv", tmp_path / "t.h5").prompts[0].wrong}
    assert set(wrong) == ({site, "lm_head"} if site == "embed" else {site})
    for one in wrong.values():
        assert one.explanations[0].startswith(f"number 5 of row {row} of the weight {weight} is ")
        assert one.explanations[0].endswith("the values ask for 0.75")


def test_narrow_sums_declared(tmp_path):
    engines.Engine(SOURCE, product=narrow_sums(engines.bf16)).run(IDS, tmp_path / "t.h5")
    wrong = assay.audit(SOURCE / "golden/models/kjv", tmp_path / "t.h5", recipe={"sums": "bf16"}).prompts[0].wrong
    assert [one.site for one in wrong] == ["lm_head"]  # summed by numpy


def test_nearest(tmp_path):
    """A fault that no hypothesis explains: every other output is larger, so the gate alone does not tell the value."""
    engines.Engine(SOURCE, gate=lambda g: gelu_tanh(g) * (1 + F(0.0005) * (np.arange(g.shape[-1]) % 2).astype(F))).run(IDS, tmp_path / "t.h5")
    wrong = assay.audit(SOURCE / "golden/models/kjv", tmp_path / "t.h5").prompts[0].wrong
    assert not wrong[0].explanations
    assert any(text.startswith("nearest: gelu by tanh in the place of silu, which leaves ") for text in wrong[0].remarks)


def test_allowed(tmp_path):
    model = SOURCE / "golden/models/kjv"
    engines.Engine(SOURCE, gate=coarse_silu).run(IDS, tmp_path / "t.h5")
    most = max(one.bounds for one in assay.audit(model, tmp_path / "t.h5").prompts[0].wrong)
    (tmp_path / "known").write_text(f"# of this engine\nlayers.*.swiglu={most * 1.01} its sigmoid\n")
    allowed = assay.audit(model, tmp_path / "t.h5", allow={"layers.*.swiglu": f"{most * 1.01} its sigmoid"})
    assert allowed.passed
    assert {one.verdict for one in allowed.prompts[0].sites if one.site.endswith("swiglu")} == {"allowed"}
    assert not assay.audit(model, tmp_path / "t.h5", allow={"layers.*.swiglu": f"{most * 0.9} its sigmoid"}).passed
    assert assay.audit(model, tmp_path / "t.h5", recipe={"base": "hf-float32", "sigmoid": 2**-24}).passed
    with pytest.raises(assay.AssayError, match="no reason"):
        assay.audit(model, tmp_path / "t.h5", allow={"embed": "3"})
    with pytest.raises(assay.AssayError, match="'silu_step'; the nearest is 'silu_steps'"):
        assay.audit(model, tmp_path / "t.h5", recipe={"silu_step": 2})
