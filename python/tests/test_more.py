"""Examples, schemas, bench, models' traces, MCP: what stands on the rest."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import kernels
import numpy as np
import pytest

import assay

HERE = Path(__file__).parent
SOURCE = Path(os.environ["ASSAY_SOURCE"]) if "ASSAY_SOURCE" in os.environ else None
EXAMPLES = next(folder for folder in (HERE.parent / "python", HERE.parents[1] / "examples" / "python") if (folder / "numpy_norm.py").exists())
SCHEMAS = Path(assay.__file__).parent / "schemas"
needs_source = pytest.mark.skipif(SOURCE is None, reason="ASSAY_SOURCE names no source tree: it has the models and traces")


@pytest.fixture
def example(monkeypatch):
    """Imports an example by its name."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module


def fits(name, data):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(data, json.loads((SCHEMAS / f"{name}.json").read_text()))


def test_every_name_is_there():
    assert all(getattr(assay, name) is not None for name in assay.__all__)
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        assay.chek  # noqa: B018
    assert assay.__version__.count(".") == 2


def test_numpy_examples(example):
    module = example("numpy_norm")
    for name, (op, kernel, options) in module.KERNELS.items():
        assert assay.check(op, kernel, cases=1, **options).passed is (name == "norm")


def test_ctypes_example(example, tmp_path):
    assert assay.check("rms_norm", example("ctypes_norm").compiled(tmp_path), cases=1)


TORCH = ["rms_norm", "softmax", "swiglu", "rope", "attention", "linear_bf16"]


@pytest.mark.parametrize("name", TORCH)
def test_torch_examples(example, name):
    pytest.importorskip("torch")
    op, kernel, options = example("torch_ops").KERNELS[name]
    report = assay.check(op, kernel, seed=1, time_limit=60, **options)
    values = [one for one in report.failures if one.check in ("classes", "bound", "bias")]
    assert report.cases
    assert not values, "\n".join(map(str, values[:5]))


@pytest.mark.parametrize("name", ["rms_norm", "swiglu"])
def test_torch_compiled(example, name):
    pytest.importorskip("torch")
    op, kernel, options = example("torch_ops").compiled(name)
    report = assay.check(op, kernel, seed=1, **{**options, "shape": {"rows": 3, "n": 100}, "cases": 2})
    assert report, str(report)
    assert report.isolation.startswith("an interpreter of its own")


def test_torch_gets_tensors_unasked(example):
    torch = pytest.importorskip("torch")

    def norm(x, w, eps):
        assert isinstance(x, torch.Tensor)
        return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, eps)

    assert assay.check("rms_norm", norm, case="climb", time_limit=60)


def test_bench_of_a_callable():
    report = assay.bench("rms_norm", kernels.right, shape={"rows": 4, "n": 256, "eps": 1e-6})
    timing = report.timings[0]
    assert timing.error is None
    assert timing.seconds > 1e-6
    assert timing.rival.startswith("rms_norm_")
    assert 0 < timing.speed < 1
    assert "python:right" in str(report)
    fits("bench", report.json)
    refused = assay.bench("rms_norm", kernels.wrong, shape={"rows": 4, "n": 256, "eps": 1e-6})
    assert "has not passed" in refused.timings[0].error
    with pytest.raises(assay.ParityError):
        refused.raise_for_status()
    fits("bench", refused.json)


def test_bench_of_a_plugin(libraries):
    report = assay.bench("rms_norm", libraries[True], shape={"rows": 4, "n": 256, "eps": 1e-6})
    assert report.timings[0].variant == "demo:mine"
    assert report.timings[0].speed > 0
    fits("bench", report.json)


def test_schema_of_check(libraries):
    fits("check", assay.check("rms_norm", kernels.wrong, cases=1).json)
    fits("check", assay.check("rms_norm", libraries[False], cases=1).json)
    fits("check", json.loads(assay.check("add", lambda a, b: a + b, cases=1).to_json()))
    with pytest.raises(Exception, match="is a required property"):
        fits("check", {**assay.check("add", lambda a, b: a + b, case="bias").json, "cases": [{"op": "add"}]})


def test_the_command_came_along():
    program = Path(sys.executable).with_name("assay")
    if not program.exists():
        pytest.skip("not installed: run from a source tree")
    done = subprocess.run([program, "check", "rms_norm", "--seed", "1"], capture_output=True, text=True, check=False)
    assert done.stdout.endswith("PASS\n")


def test_order(libraries):
    ours = assay.order("matvec_f32", isa="scalar", shapes=[{"k": 100, "n": 32}])
    assert ours.passed
    assert ours.kernels[0].sums[0].terms == 100
    assert ours.kernels[0].sums[0].canonical
    fits("order", ours.json)
    with pytest.raises(assay.AssayError, match="softplus"):
        assay.order("softplus")


def test_order_of_a_callable(tmp_path):
    """NumPy adds a contiguous row up pairwise: in blocks of 128 at most, each in eight lanes."""
    found = assay.order("matvec_f32", kernels.numpy_sum, shapes=[{"k": 100, "n": 16}, {"k": 256, "n": 16}], svg=tmp_path / "sum.svg")
    (kernel,) = found.kernels
    lanes = "lanes joined pairwise, neighbours first"
    assert [one.words for one in kernel.sums] == [
        f"8 lanes, {lanes}, the tail appended, one after the other",
        f"blocks of 128, joined in order, 8 lanes in each, {lanes}",
    ]
    assert kernel.variant == "matvec_f32 python:numpy_sum"
    assert found.passed
    assert "<svg" in (tmp_path / "sum.svg").read_text()
    fits("order", found.json)
    false = assay.order("matvec_f32", kernels.numpy_sum, shapes=[{"k": 100, "n": 16}], traits="order=lanes:16")
    assert not false.passed
    assert "order=lanes:16 is declared" in false.kernels[0].refuted
    with pytest.raises(assay.ArgumentError, match="isa"):
        assay.order("matvec_f32", kernels.numpy_sum, isa="avx2")


def test_reduce(libraries, tmp_path):
    found = assay.reduce("rms_norm", libraries[False], case="climb", c=tmp_path / "case.c")
    assert found.check == "bound"
    assert found.reduced.nonzero < found.from_.nonzero
    assert "#include <assay" not in (tmp_path / "case.c").read_text()
    fits("reduce", found.json)


def test_reduce_of_a_callable():
    found = assay.reduce("rms_norm", kernels.wrong, case="climb")
    assert found.check == "bound"
    assert sum(int((one != 0).sum()) for one in found.inputs.values()) == found.reduced.nonzero < found.from_.nonzero
    assert np.all(kernels.wrong(eps=eps_of(found.reduced.params), **found.inputs) == found.got["y"])
    assert np.max(np.abs(found.got["y"] - found.want["y"].value) / found.want["y"].bound) > 1
    fits("reduce", found.json)
    with pytest.raises(assay.ArgumentError, match="Reduction"):
        assay.reduce("rms_norm", kernels.wrong, c="case.c")
    with pytest.raises(assay.AssayError, match="nothing to reduce"):
        assay.reduce("rms_norm", kernels.right)


def eps_of(params):
    return float(dict(one.split("=") for one in params.split(","))["eps"])


def test_explain(libraries):
    found = assay.explain("rms_norm", libraries[False])
    (kernel,) = found.kernels
    assert "eps-outside-root" in [one.name for one in kernel.explanations]
    assert not kernel.ended_early
    fits("explain", found.json)
    assert assay.explain("rms_norm", libraries[True]).kernels == []
    with pytest.raises(assay.AssayError, match="softplus"):
        assay.explain("softplus")


def test_explain_of_a_callable():
    found = assay.explain("rms_norm", kernels.wrong)
    (kernel,) = found.kernels
    assert kernel.variant == "python:wrong"
    assert "eps-outside-root" in [one.name for one in kernel.explanations]
    fits("explain", found.json)


@needs_source
def test_a_trace_is_a_mapping():
    trace = assay.Trace(SOURCE / "golden/traces/kjv-hf-f32.h5", prompt="genesis")
    assert len(trace) == 105
    assert next(iter(trace)) == "embed"
    assert list(trace)[-1] == "lm_head"
    assert trace["layers.02.q_rope"].shape == (14, 4, 128)
    assert (trace.model, trace.weights, trace.recipe, trace.dtype) == ("kjv", "bf16", "hf", "float32")
    assert len(trace.tokens) == len(trace.positions) == 14
    with pytest.raises(KeyError, match="the nearest is"):
        trace["layers.02.q_rop"]
    with pytest.raises(assay.AssayError, match="say which"):
        assay.Trace(SOURCE / "golden/traces/kjv-hf-f32.h5")


@needs_source
def test_forensics():
    traces, model = SOURCE / "golden/traces", SOURCE / "golden/models/kjv"
    found = assay.diff(traces / "kjv-hf-f32.h5", traces / "kjv-f64.h5", prompt="genesis")
    assert found.aligned
    assert not found.diverged
    assert found.prompts[0].sites[0].site == "embed"
    fits("diff", found.json)
    audit = assay.audit(model, traces / "altered/kjv-hf-f32-kv_exchanged.h5")
    assert not audit.passed
    assert [one.site for one in audit.prompts[0].wrong] == ["layers.02.k_proj", "layers.02.v_proj"]
    assert "v_proj" in audit.prompts[0].wrong[0].explanations[0]
    fits("audit", audit.json)
    attribution = assay.attribute(model, traces / "kjv-hf-f32.h5", prompt="genesis")
    assert attribution.passed
    assert not attribution.prompts[0].to_blame
    fits("attribute", attribution.json)
    bisection = assay.bisect(model, traces / "kjv-hf-f32.h5", prompt="genesis")
    assert not bisection.reference_is_far
    assert not bisection.sites
    with pytest.raises(assay.AssayError, match="nowhere"):
        assay.diff("/nowhere.h5", traces / "kjv-f64.h5")


@needs_source
def test_the_walk_of_bisecting(tmp_path):
    altered = tmp_path / "exchanged/kjv"
    altering = [sys.executable, SOURCE / "golden/record/alter_model.py", SOURCE / "golden/models/kjv", altered, "kv_exchanged"]
    subprocess.run(altering, check=True, stdout=subprocess.DEVNULL)
    walk = [sys.executable, EXAMPLES / "bisecting.py", altered, SOURCE / "golden/traces/kjv-hf-f32.h5"]
    done = subprocess.run(walk, capture_output=True, text=True, check=False)
    assert "the plan, a weight or a recipe is wrong, and no kernel" in done.stdout, done.stderr
    assert "MISWIRED layers.02.k_proj" in done.stdout
    assert "first: layers.02.k_proj" in done.stdout
    assert len((EXAMPLES / "bisecting.py").read_text().splitlines()) < 30


@needs_source
def test_pandas():
    pandas = pytest.importorskip("pandas")
    found = assay.diff(SOURCE / "golden/traces/kjv-hf-f32.h5", SOURCE / "golden/traces/kjv-f64.h5", prompt="genesis", sites="layers.00.*")
    frame = found.prompts[0].sites.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == 17


def test_a_recording_is_a_trace(tmp_path):
    pytest.importorskip("h5py")
    rng = np.random.default_rng(1)
    values = {site: rng.standard_normal((3, 8), np.float32) for site in ("embed", "layers.00.attn_norm")}
    logits = rng.standard_normal((1, 3, 11), np.float32)
    recording = assay.record.Recording(assay.record.Head("mine", source="a test"))
    recording.add("p", [1, 2, 3], values, logits, rows=[1, 2], text="In the").write(tmp_path / "t.h5")
    trace = assay.Trace(tmp_path / "t.h5")
    assert list(trace) == ["embed", "layers.00.attn_norm", "lm_head"]
    np.testing.assert_array_equal(trace["embed"], values["embed"][1:])
    np.testing.assert_array_equal(trace["lm_head"], logits[0, 1:])
    assert trace.text == "In the"
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(assay.AssayError, match=r"site embed: is \[2, 8\]; expected \[3, \.\.\.\]"):
        recording.add("q", [1, 2, 3], {"embed": values["embed"][:2]}, logits)
    with pytest.raises(assay.AssayError, match="there already"):
        recording.add("p", [1, 2, 3], values, logits)


def kjv_of_transformers(dtype):
    """The embedded model there; skips where it, or what writes traces, is not."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("h5py")
    load = transformers.Qwen3ForCausalLM.from_pretrained
    return load(SOURCE / "golden/models/kjv", dtype=getattr(torch, dtype), attn_implementation="eager").eval()


@needs_source
def test_hf_equals_the_committed_trace(tmp_path):
    model = kjv_of_transformers("float32")
    torch = sys.modules["torch"]
    committed = assay.Trace(SOURCE / "golden/traces/kjv-hf-f32.h5", prompt="genesis")
    rotate = sys.modules[type(model).__module__].apply_rotary_pos_emb
    assay.record.hf(model, {"genesis": committed.tokens}, tmp_path / "t.h5", texts={"genesis": committed.text})
    assert sys.modules[type(model).__module__].apply_rotary_pos_emb is rotate
    trace = assay.Trace(tmp_path / "t.h5")
    assert list(trace) == list(committed)
    assert (trace.model, trace.weights, trace.head("model_sha256")) == (committed.model, committed.weights, committed.head("model_sha256"))
    for site, values in committed.items():
        assert np.abs(trace[site] - values).max() <= 1e-5 * np.abs(values).max(), site
    assert assay.audit(SOURCE / "golden/models/kjv", tmp_path / "t.h5").passed
    with pytest.raises(assay.AssayError, match="architecture"):
        assay.record.hf(torch.nn.Linear(2, 2), [1], tmp_path / "no.h5")
    assert not (tmp_path / "no.h5").exists()


@needs_source
def test_hf_in_float64_equals_the_definition(tmp_path):
    model = kjv_of_transformers("float64")
    committed = assay.Trace(SOURCE / "golden/traces/kjv-f64.h5", prompt="genesis")
    angles = model.model.rotary_emb.inv_freq
    assay.record.hf(model, {"genesis": committed.tokens}, tmp_path / "t.h5", wide=True)
    assert model.model.rotary_emb.inv_freq is angles
    trace = assay.Trace(tmp_path / "t.h5")
    for site, values in committed.items():
        assert np.abs(trace[site] - values).max() <= 1e-12 * np.abs(values).max(), site
    with pytest.raises(assay.AssayError, match=r"expected torch\.float64"):
        assay.record.hf(model.float(), [1, 2], tmp_path / "no.h5", wide=True)


def test_torch_module_of_ones_own(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("h5py")

    class Mine(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(7, 4)
            self.blocks = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))
            self.head = torch.nn.Linear(4, 7)

        def forward(self, ids):
            x = self.table(ids)
            for block in self.blocks:
                x = x + block(x)
            return self.head(x)

    mapping = {"embed": "table", "layers.{layer}.down_proj": "blocks.{layer}", "final_norm": "<head"}
    assay.record.torch(Mine(), mapping, [1, 2, 3], tmp_path / "t.h5", assay.record.Head("mine"), layers=2)
    assert list(assay.Trace(tmp_path / "t.h5")) == ["embed", "layers.00.down_proj", "layers.01.down_proj", "final_norm", "lm_head"]
    with pytest.raises(assay.AssayError, match="site embed: unknown module 'tabel'; the nearest is 'table'"):
        assay.record.torch(Mine(), {"embed": "tabel"}, [1], tmp_path / "no.h5", assay.record.Head("mine"))


def test_mcp(tmp_path, libraries):
    pytest.importorskip("mcp")
    import asyncio

    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    (tmp_path / "mine.py").write_text("import numpy as np\n\ndef add(a, b):\n    return a + b\n\ndef wrong(a, b):\n    return a - b\n")

    async def talk():
        server = StdioServerParameters(command=sys.executable, args=["-m", "assay.mcp"], env=dict(os.environ))
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            answers = []
            for name, arguments in (
                ("spec", {"op": "add"}),
                ("check", {"op": "add", "kernel": f"{tmp_path}/mine.py:add"}),
                ("check", {"op": "add", "kernel": f"{tmp_path}/mine.py:wrong"}),
                ("explain", {"op": "rms_norm", "kernel": str(libraries[False])}),
            ):
                answers.append((await session.call_tool(name, arguments)).content[0].text)
            return tools, answers

    tools, (spec, passed, failed, explained) = asyncio.run(talk())
    assert tools == {"list_ops", "spec", "check", "bench", "order", "explain", "reduce"}
    assert "bound:" in spec
    assert json.loads(passed)["passed"] is True
    assert json.loads(failed)["passed"] is False
    assert "expected" in json.loads(failed)["failures"][0]["message"]
    assert "root" in json.loads(explained)["explanations"][0]["words"]
