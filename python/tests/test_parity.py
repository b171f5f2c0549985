"""The pytest plugin, in a project of somebody else's."""

import xml.etree.ElementTree as ElementTree

import pytest

KERNELS = """
import assay
import numpy as np
import pytest


def norm(x, w, eps):
    n = max(x.shape[-1], 1)
    wide = x.astype(np.float64)
    return (wide / np.sqrt((wide * wide).sum(-1, keepdims=True) / n + EPS) * w).astype(np.float32)


def add(a, b):
    return a + b


@assay.parity("rms_norm")
def test_norm():
    return norm


@assay.parity("add")
def test_add():
    return add


@pytest.fixture
def to_half():
    def convert(src):
        return src.astype(np.float16)
    return convert


@assay.parity("convert_f32_f16", traits="nan=no")
def test_half(to_half):
    return to_half
"""


@pytest.fixture
def project(pytester):
    """Writes the project, with eps as it is to be."""

    def write(eps="np.float64(eps)"):
        pytester.makepyfile(test_kernels=KERNELS.replace("EPS", eps))
        return pytester

    return write


def test_green(project):
    result = project().runpytest_subprocess("-q", "-p", "no:cacheprovider")
    outcome = result.parseoutcomes()
    assert outcome["passed"] > 80
    assert "failed" not in outcome
    assert outcome["skipped"] < 20
    listed = project().runpytest_subprocess("--collect-only", "-q")
    listed.stdout.fnmatch_lines(["test_kernels.py::test_norm[[]climb]", "test_kernels.py::test_norm[[]bias]", "test_kernels.py::test_norm[[]random]"])


def test_red_says_what_and_how_to_repeat(project):
    result = project("np.float64(eps) * 2").runpytest_subprocess("-q", "-k", "norm and climb", "--junitxml", "out.xml")
    assert result.parseoutcomes() == {"failed": 1, "deselected": result.parseoutcomes()["deselected"]}
    result.stdout.re_match_lines(
        [
            r"rms_norm python:norm, case climb: bound",
            r"  y\[0, \d+\] = 0x[0-9a-f]+ \(.*\), expected .*; margin \d.*ulp",
            r'  repeat: pytest "test_kernels.py::test_norm\[climb\]" --assay-seed \d+',
        ]
    )
    failure = ElementTree.parse("out.xml").getroot().find(".//testcase/failure")
    assert "margin" in failure.attrib["message"]
    line = next(one for one in result.outlines if "repeat: pytest" in one)
    repeated = project("np.float64(eps) * 2").runpytest_subprocess(*line.split("pytest ")[1].replace('"', "").split())
    assert repeated.parseoutcomes() == {"failed": 1}


def test_stops_at_the_first(project):
    result = project("np.float64(eps) * 2").runpytest_subprocess("-q", "-x", "-k", "norm")
    assert result.parseoutcomes()["failed"] == 1


def test_many_workers(project):
    outcome = project().runpytest_subprocess("-q", "-n", "2", "-k", "norm or add").parseoutcomes()
    assert outcome["passed"] > 60
    assert "failed" not in outcome


def test_wrong_use(pytester):
    pytester.makepyfile('import assay\n@assay.parity("rms_norm", case="climb")\ndef test_it(): pass')
    pytester.runpytest_subprocess().stdout.fnmatch_lines(["*parity() has no option 'case'*"])
    pytester.makepyfile('import assay\n@assay.parity("rms_nrom")\ndef test_it(): pass')
    pytester.runpytest_subprocess().stdout.fnmatch_lines(["*unknown op 'rms_nrom'; the nearest is 'rms_norm'*"])
