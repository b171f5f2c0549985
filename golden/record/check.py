"""What a case must satisfy before it is written: an error here is a fault of the recorder, the bound or the case."""
from __future__ import annotations

import numpy as np

from bounds import FLT_MAX
from formats import Bf16, Blocks, Tensor, tensor_bytes, to_f32
from fma32 import quiet
from quant import weighted_error
from schema import Case, Output

ERROR_RATIO = 1.001  # of the golden's weighted squared error, for the K encoders
OPINION_TOLERANCE = 1e-11  # fp64 in another order; far above 2^-53, far below any fp32 mistake


@quiet
def failures(output: Output, y: np.ndarray) -> np.ndarray:
    """Where f32 values y miss the output's classes or bound (docs/numerics.md, "Classes")."""
    truth, bound, y = output.truth, output.bound, y.astype(np.float64)
    rounded = truth.astype(np.float32).astype(np.float64)
    straddles = (np.abs(truth) - bound <= FLT_MAX) & (np.abs(truth) + bound >= FLT_MAX)
    same_class = (np.isnan(y) == np.isnan(rounded)) & (straddles | (np.isinf(y) == np.isinf(rounded)))
    same_sign = np.isnan(truth) | (np.abs(truth) <= bound) | ((np.signbit(y) == np.signbit(truth)) & (y != 0))
    finite = np.isfinite(y) & np.isfinite(truth)
    within = ~finite | (np.abs(y - truth) <= bound * (1 + 1e-9))
    wrong = ~(same_class & same_sign & within)
    return wrong if output.bits_only is None else wrong & ~output.bits_only


@quiet
def margin(output: Output) -> float:
    """The largest |canonical - truth| / B."""
    error = np.abs(output.canonical.astype(np.float64) - output.truth)
    judged = np.isfinite(error) & (output.bound > 0)
    if output.bits_only is not None:
        judged &= ~output.bits_only
    return float((error[judged] / output.bound[judged]).max(initial=0.0))


@quiet
def opinion_error(output: Output) -> float:
    """The largest relative difference between PyTorch and the truth, over finite values."""
    scale = np.abs(output.truth) if output.opinion_scale is None else output.opinion_scale
    assert np.array_equal(np.isnan(output.opinion), np.isnan(output.truth)), "the second opinion has other NaNs"
    judged = np.isfinite(output.truth)
    same = np.array_equal(output.opinion[~judged], output.truth[~judged], equal_nan=True)
    assert same, "the second opinion has other infinities"
    error = np.abs(output.opinion - output.truth)[judged]
    return float((error / np.maximum(scale[judged], 1e-290)).max(initial=0.0))


def same_values(opinion: Tensor, truth: Tensor) -> bool:
    """Equal but for NaNs' payloads, which PyTorch does not promise; the sign of zero counts. Blocks: bytes equal."""
    if isinstance(truth, Blocks):
        return np.array_equal(opinion.data, truth.data)
    ours = to_f32(truth) if isinstance(truth, Bf16) or truth.dtype.kind == "f" else truth
    if not np.array_equal(opinion, ours, equal_nan=ours.dtype.kind == "f"):
        return False
    return bool((np.isnan(ours) | (np.signbit(ours) == np.signbit(opinion))).all())


def zeros_pass(output: Output) -> bool:
    """Whether a kernel that returns zeros would pass."""
    if output.bound is None:
        return not any(tensor_bytes(output.truth))
    return not failures(output, np.zeros(output.truth.shape, np.float32)).any()


def is_trivial(case: Case) -> bool:
    """Whether a kernel that writes zeros would pass the case."""
    for name, output in case.outputs.items():
        if output.judged_by:
            x = case.tensor("src")
            zeros = weighted_error(x, np.zeros_like(x), output.truth.format)
            if zeros > ERROR_RATIO * case.parts["error"][0]:
                return False
        elif not zeros_pass(output):
            return False
    return True


def check_case(op: str, case: Case) -> float:
    """Raises AssertionError where something is off; gives the case's largest margin."""
    where = f"{op}/{case.name}"
    if case.status != "ok":
        assert not case.outputs, f"{where}: a refused case has no truth"
        return 0.0
    worst = 0.0
    assert case.outputs, f"{where}: no outputs"
    for name, output in case.outputs.items():
        shape = output.truth.shape
        # Blocks of our own making have no second opinion: the same encoders are held to ggml's blocks in other cases.
        assert output.opinion is not None or isinstance(output.truth, Blocks), f"{where}/{name}: no second opinion"
        if output.bound is None:
            same = output.opinion is None or same_values(output.opinion, output.truth)
            assert same, f"{where}/{name}: the second opinion has other values"
            continue
        assert output.canonical is not None and output.canonical.dtype == np.float32, f"{where}/{name}"
        assert output.canonical.shape == shape == output.bound.shape, f"{where}/{name}: shapes"
        wrong = failures(output, output.canonical)
        assert not wrong.any(), f"{where}/{name}: canonical bits miss the contract at {np.argwhere(wrong)[:4].tolist()}"
        error = opinion_error(output)
        assert error <= OPINION_TOLERANCE, f"{where}/{name}: the second opinion differs by {error:.3g}"
        worst = max(worst, margin(output))
    trivial = is_trivial(case)
    assert trivial == ("trivial" in case.tags.split()), f"{where}: zeros pass: {trivial}, tags: {case.tags!r}"
    return worst
