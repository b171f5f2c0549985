"""Verdicts over callables, function pointers and plugins."""

import json
import os
import signal
import subprocess
import sys
import time

import kernels
import numpy as np
import pytest

import assay

VALUES = ("classes", "bound", "bias", "spread", "exact")


def figures(report, *, refusals):
    """Of each case margin, failed check of values and message; refused calls aside."""
    found = {}
    for one in report.cases:
        failure = one.get("failure", {})
        if one["refusal"] and not refusals:
            continue
        found[one["case"]] = (one["margin"], one["worst"], failure.get("message") if failure.get("check") in VALUES else None)
    return found


@pytest.mark.parametrize("right", [True, False])
def test_the_same_kernel_three_ways(libraries, pointers, right):
    kernel = kernels.right if right else kernels.wrong
    checks = ",".join(VALUES) + ",guard"
    plugin, pointer, callable_ = (assay.check("rms_norm", k, seed=5, checks=checks) for k in (libraries[right], pointers[right], kernel))
    assert plugin.passed is pointer.passed is callable_.passed is right
    assert figures(plugin, refusals=True) == figures(pointer, refusals=True)
    by_plugin = {name: one for name, one in figures(plugin, refusals=False).items() if name in figures(callable_, refusals=False)}
    assert by_plugin == figures(callable_, refusals=False)
    assert len(by_plugin) > 100
    assert "margin" not in repr(plugin) or right or len(plugin.failures) > 20


# Of attention, by how its view lies in memory (golden/SCHEMA.md, "Views"): none of it may reach a callable.
VIEWS = {
    "one span": {},
    "pages out of order": {"span_positions": 16, "first_slot": 1, "slot_step": 10007},
    "spans that lie across": {"span_positions": 16, "n_kv": 16, "turned": 1},
    "spans of two lengths": {"span_positions": 48, "uneven": 1},
    "spans of two lengths, the first a short one": {"span_positions": 48, "uneven": 2},
    "spans of two lengths, heads apart": {"span_positions": 48, "uneven": 1, "k_head_stride": 500, "v_head_stride": 600},
    "values in another order": {"span_positions": 16, "v_slot_shift": 2},
    "only what is seen": {"window": 7, "first_position": 48, "position": 130, "only_seen": 1},
}


@pytest.mark.parametrize("how", VIEWS)
def test_a_callable_gets_keys_and_values_in_the_order_of_positions(how):
    shape = {"n_kv": 2, "group": 3, "head_dim": 8, "length": 101, "causal": 1, "scale": 0.25} | VIEWS[how]
    assay.check("attn_decode_f32", kernels.attend, shape=shape, data="gauss", seed=6, cases=1).raise_for_status()


def test_what_a_callable_is_not_asked_is_listed():
    report = assay.check("rms_norm", kernels.right, cases=1)
    assert any("guard pages, alignment" in one for one in report.not_asked)
    assert any("eps_zero" in one for one in report.not_asked)
    assert report.isolation == "an interpreter of its own, with a time limit"
    assert not any(one["case"] == "eps_zero" for one in report.cases)


def test_a_report():
    report = assay.check("rms_norm", kernels.wrong, case="climb", seed=3)
    assert not report
    assert "FAIL 1" in str(report)
    failure = report.failures[0]
    assert (failure.check, failure.case, failure.variant) == ("bound", "climb", "python:wrong")
    assert failure.repeat == "assay.check('rms_norm', wrong, case='climb', seed=3)"
    index = np.unravel_index(np.argmax(np.abs(failure.got["y"] - failure.want["y"].value) / failure.want["y"].bound.clip(1e-300)), (2, 1024))
    assert f"y[{index[0]}, {index[1]}]" in failure.message
    np.testing.assert_array_equal(kernels.wrong(**failure.inputs, eps=np.float32(1e-6)), failure.got["y"])
    with pytest.raises(assay.ParityError, match="margin 206"):
        report.raise_for_status()
    assert json.loads(report.to_json())["passed"] is False
    assert "<b style" in report._repr_html_()
    assert "&#x27;climb&#x27;" in report._repr_html_()


def test_a_right_kernel_raises_nothing(capfd):
    assay.check("rms_norm", kernels.right, cases=1).raise_for_status()
    assert capfd.readouterr() == ("", "")


def test_repeat_lines_repeat():
    def wrong_where_drawn(x, w, eps):
        y = kernels.right(x, w, eps)
        return y if x.shape != (2, 5) else y + np.float32(1)

    made = assay.check("rms_norm", wrong_where_drawn, shape={"rows": 2, "n": 5, "eps": 1e-6}, data="wide", seed=4)
    line = made.failures[0].repeat
    assert line == "assay.check('rms_norm', wrong_where_drawn, shape={'eps': 1e-06, 'n': 5, 'rows': 2}, data='wide', seed=4, cases=1)"
    again = eval(line)
    assert again.failures[0].message == made.failures[0].message


DEEDS = {
    "raises": (lambda x: 1 / 0, "raised ZeroDivisionError: division by zero"),
    "returns_nothing": (lambda x: None, "returned None for y; expected float32 [2, 1024]"),
    "returns_a_list": (lambda x: x.tolist(), "returned a list for y"),
    "returns_fp64": (lambda x: x.astype(np.float64), "returned float64 [2, 1024] for y; expected float32 [2, 1024]"),
    "returns_big_endian": (lambda x: x.astype(">f4"), "returned >f4 [2, 1024] for y"),
    "returns_another_shape": (lambda x: x[:1], "returned float32 [1, 1024] for y"),
    "returns_two": (lambda x: (x, x), "returned a tuple for y"),
    "returns_other_names": (lambda x: {"z": x}, "returned a mapping of z; expected y"),
    "writes_its_input": (lambda x: x.__setitem__(..., 0) or x, "changed its input x"),
    "aborts": (lambda x: os.abort(), "the interpreter died of SIGABRT"),
    "exits": (lambda x: os._exit(3), "the interpreter exited with status 3"),
    "kills_itself": (lambda x: os.kill(os.getpid(), signal.SIGSEGV), "the interpreter died of SIGSEGV"),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_a_callable_may_do_wrong(deed):
    kernel, words = DEEDS[deed]
    failure = assay.check("rms_norm", kernel, case="climb").failures[0]
    assert words in failure.message
    assert "placed" not in failure.message


def test_a_callable_that_hangs():
    def hangs(x):
        while True:
            pass

    begun = time.monotonic()
    report = assay.check("rms_norm", hangs, time_limit=0.3, cases=1)
    assert sum("gave no answer within 0.3 s" in one.message for one in report.failures) == 3
    assert any("was not called" in one.message for one in report.failures)
    assert time.monotonic() - begun < 60


def test_an_alias_of_an_input_is_an_answer():
    assert assay.check("convert_f32_f16", lambda src: src.astype(np.float16), cases=1, traits="nan=no")
    report = assay.check("add", lambda a, b: a, case="bias")
    assert report.failures[0].check == "bound"


def test_what_cannot_be_pickled_runs_here():
    import threading

    lock = threading.Lock()

    def kernel(x, w, eps):
        with lock:
            return kernels.right(x, w, eps)

    report = assay.check("rms_norm", kernel, cases=1)
    assert report
    assert report.isolation.startswith("none (it cannot be pickled: ")
    with pytest.raises(assay.AssayError, match="isolation='required'"):
        assay.check("rms_norm", kernel, isolation="required")
    assert assay.check("rms_norm", kernels.right, isolation="none", cases=1).isolation == "none (isolation='none')"


def test_traits():
    def no_nan(src):
        return np.nan_to_num(src).astype(np.float16)

    assert not assay.check("convert_f32_f16", no_nan, cases=1)
    report = assay.check("convert_f32_f16", no_nan, cases=1, traits="nan=no")
    assert report
    assert any("hold NaN or infinity" in one for one in report.not_asked)


def test_several_outputs():
    def table(positions, pairs, theta, recipe):
        # The recipe's power is rounded correctly, which that of float64 is not.
        power = (np.longdouble(theta) ** (-np.arange(pairs) / max(pairs, 1))).astype(np.float64)
        angle = positions[:, None] * power
        return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

    report = assay.check("rope_table", table, shape={"rows": 4, "pairs": 32, "recipe": "f64", "theta": 1e4})
    assert report, str(report)
    swapped = assay.check(
        "rope_table", lambda **given: table(**{k: given[k] for k in ("positions", "pairs", "theta", "recipe")})[::-1], shape={"rows": 4, "pairs": 32}
    )
    assert not swapped


def test_wrong_use(tmp_path):
    (tmp_path / "no.so").write_text("no library", encoding="utf-8")
    wrong = [
        (lambda: assay.check("rms_nrom", kernels.right), "the nearest is 'rms_norm'"),
        (lambda: assay.check("rms_norm", lambda q: q), "the kernel's argument 'q' is none of the op's; expected one of x, w, rows"),
        (lambda: assay.check("rms_norm", 3), "the kernel is a int"),
        (lambda: assay.check("rms_norm", "no_file.so"), "there is no such file"),
        (lambda: assay.check("rms_norm", tmp_path / "no.so"), "cannot be loaded"),
        (lambda: assay.check(None, kernels.right), "op is None"),
        (lambda: assay.check("rms_norm", kernels.right, case="clim"), "unknown case 'clim'"),
        (lambda: assay.check("rms_norm", kernels.right, checks="bonds"), "unknown check 'bonds'; the nearest is 'bound'"),
        (lambda: assay.check("rms_norm", kernels.right, arrays="tensorflow"), "arrays is 'tensorflow'"),
        (lambda: assay.check("rms_norm", kernels.right, isolation="some"), "isolation is 'some'"),
        (lambda: assay.check("rms_norm", kernels.right, time_limit=0), "time_limit is 0"),
        (lambda: assay.check("rms_norm", kernels.right, traits="nan=perhaps"), "nan"),
        (lambda: assay.check("rms_norm", kernels.right, shape={"rows": 2, "k": 3}), "unknown parameter 'k'"),
    ]
    for call, words in wrong:
        with pytest.raises(assay.AssayError, match=None) as caught:
            call()
        assert words in str(caught.value)


def test_ctrl_c_leaves_nothing(tmp_path):
    program = tmp_path / "hang.py"
    program.write_text(
        "import assay, os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it\n"
        "def hangs(x):\n    open('pid', 'w').write(str(os.getpid()))\n    time.sleep(99)\n"
        "assay.check('rms_norm', hangs)\n"
    )
    child = subprocess.Popen([sys.executable, program], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text()):
        assert child.poll() is None, child.stderr.read()
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=20)
    assert "KeyboardInterrupt" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["hang.py", "pid"]
