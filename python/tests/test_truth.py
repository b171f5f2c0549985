"""Ops as data, goldens, and the reference at one's own inputs."""

import ml_dtypes
import numpy as np
import pytest

import assay
from assay import _arrays, _shapes

RNG = np.random.default_rng(1)
X = RNG.standard_normal((3, 1000), np.float32)
W = np.ones(1000, np.float32)
# What no array's shape settles: rows that a tile or a packed block pads, tables that are only written, capacities.
UNSETTLED = {"unpack_tile", "unpack_q", "matvec_", "gemm_f", "gemm_bf", "_x16_", "rope_table", "kv_store", "kv_repack"}


def norm(x, w, eps):
    return (x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + eps) * w).astype(np.float32)


def test_every_op_is_described():
    for name in assay.ops():
        op = assay.op(name)
        assert op.inputs
        assert op.outputs
        assert op.bound
        assert op.domain
        assert len(op.text) > 200, name
    op = assay.op("rms_norm")
    assert [str(one) for one in op.tensors] == ["x  float32 [rows, n]  in", "w  float32 [n]  in", "y  float32 [rows, n]  out"]
    assert [one.name for one in op.parameters] == ["rows", "n", "eps"]
    assert op.order.startswith("ss = dot16(x, x) / float(n)")
    assert "softmax" not in op.text.partition("rms_norm\n")[2]


def test_shapes_settle_the_sizes():
    settled = 0
    for op in assay.ops():
        cases = (assay.cases(op)[name] for name in assay.cases(op).names[:6])
        for case in cases:
            if case.status != "ok" or any(name.endswith("stride") for name in case.params) or any(0 in spec.shape for spec in case.specs):
                continue
            sizes = [one["name"] for one in _shapes.info(op)["sizes"] if not one["optional"]]
            given = {name: value for name, value in case.params.items() if name not in sizes}
            if any(part in op for part in UNSETTLED):
                given = case.params
            shapes = {spec.name: spec.shape for spec in case.specs if spec.role == "in"}
            found = _shapes.complete(op, given, shapes)
            assert {name: found.get(name, 1) for name in case.params} == case.params, (op, case)
            settled += 1
    assert settled > 200


@pytest.mark.parametrize("op", ["rms_norm", "gemv_q4_k_q8_k", "convert_f32_bf16", "attn_decode_f16", "encode_q4_k"])
def test_reference_is_the_goldens_truth(op):
    for case in assay.cases(op)[:8]:
        if case.status != "ok" or any(name.endswith(("stride", "_padded")) for name in case.params):
            continue
        own = assay.reference(op, **case.inputs, **{name: value for name, value in case.params.items() if name not in case.inputs})
        for name, truth in case.truth.items():
            if truth.value is None:
                assert own[name].value is None
            elif truth.value.dtype == np.float64:
                kept = ~truth.bits_only
                off = np.abs(own[name].value[kept] - truth.value[kept])
                assert (off <= 1e-5 * truth.bound[kept]).all(), (case, name)
                np.testing.assert_allclose(own[name].bound[kept], truth.bound[kept], rtol=1e-6)
            else:
                assert own[name].value.tobytes() == truth.value.tobytes()


def test_tolerance_of_ones_own_inputs():
    truth = assay.reference("rms_norm", x=X, w=W, eps=1e-6)["y"]
    assert truth.value.shape == X.shape
    assert 0 < truth.tolerance < 1e-4
    assert (np.abs(norm(X, W, 1e-6) - truth.value) <= truth.bound).all()


def test_compare():
    passed = assay.compare("rms_norm", norm(X, W, 1e-6), x=X, w=W, eps=1e-6)
    assert passed
    assert 0 < passed.margin < 1
    y = norm(X, W, 1e-6)
    y[1, 7] += np.float32(1e-3)
    failed = assay.compare("rms_norm", y, x=X, w=W, eps=1e-6)
    assert not failed
    assert failed.worst.element == "y[1, 7]"
    assert failed.worst.index == 1007
    assert failed.margin > 10
    y[2, 3] = np.nan
    assert "nan" in assay.compare("rms_norm", y, x=X, w=W, eps=1e-6).text


def test_exact_ops_and_bf16():
    x = RNG.standard_normal(100, np.float32)
    right = x.astype(ml_dtypes.bfloat16)
    assert assay.compare("convert_f32_bf16", right, src=x).margin == 0
    wrong = right.copy()
    wrong.view(np.uint16)[5] ^= 1
    found = assay.compare("convert_f32_bf16", wrong, src=x)
    assert not found
    assert found.worst.index == 5
    assert assay.reference("convert_f32_bf16", src=x)["dst"].value.dtype == ml_dtypes.bfloat16


def test_blocks_are_bytes():
    case = next(one for one in assay.cases("decode_q4_0") if one.status == "ok")
    assert case.inputs["src"].dtype == np.uint8
    assert case.inputs["src"].shape[-1] == 18
    assert assay.compare("decode_q4_0", case.truth["dst"].value, **case.inputs)


def test_arrays_come_without_a_copy():
    class Speaker:
        def __dlpack__(self, **options):
            return X.__dlpack__(**options)

        def __dlpack_device__(self):
            return X.__dlpack_device__()

    assert np.shares_memory(_arrays.as_numpy("rms_norm", "x", Speaker()), X)
    assert np.shares_memory(_arrays.as_numpy("rms_norm", "x", X), X)
    torch = pytest.importorskip("torch")
    tensor = torch.ones(4, 4, dtype=torch.bfloat16, requires_grad=True)
    seen = _arrays.as_numpy("rms_norm", "x", tensor)
    assert seen.dtype == ml_dtypes.bfloat16
    assert seen.__array_interface__["data"][0] == tensor.data_ptr()
    assert _arrays.to_framework(seen, "torch").data_ptr() == tensor.data_ptr()


def test_cases_are_read_when_asked_for():
    cases = assay.cases("rms_norm")
    assert len(cases) == len(cases.names) == 60
    assert cases[0].name == cases.names[0]
    assert cases["climb"].tags is not None
    assert [one.name for one in cases[1:3]] == list(cases.names[1:3])
    with pytest.raises(assay.AssayError, match="the nearest is 'climb'"):
        cases["clim"]
    refused = cases["eps_zero"]
    assert refused.status == "bad_parameter"
    assert not refused.truth


def test_unknown_op():
    with pytest.raises(assay.AssayError, match="unknown op 'rms_nrom'; the nearest is 'rms_norm'"):
        assay.op("rms_nrom")


def test_import_costs_little(run_python):
    done = run_python("import time, sys; begun = time.process_time(); import assay; print(time.process_time() - begun, 'numpy' in sys.modules)")
    seconds, numpy = done.stdout.split()
    assert float(seconds) < 0.3
    assert numpy == "False"
    assert done.stderr == ""
