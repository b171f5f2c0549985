"""What the tests share: a C function of rms_norm, compiled on the spot, and the same as a plugin."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import assay

pytest_plugins = ["pytester"]

NORM = r"""
#include <math.h>

#include "harness/plugin/assay_plugin.h"
#include "kernels/norms/norms.h"

AssayStatus my_norm(const void* args) {
  const RmsNormArgs* a = args;
  if (!assay_rms_norm_sizes(a)) return ASSAY_BAD_SHAPE;
  if (!(isnormal(a->eps) && a->eps > 0)) return ASSAY_BAD_PARAMETER;
  for (int64_t j = 0; j < a->rows; ++j) {
    const float* x = a->x + j * a->x_stride;
    double sum = 0;
    for (int64_t i = 0; i < a->n; ++i) sum += (double)x[i] * x[i];
    const double r = 1 / (sqrt(sum / a->n + EPS_INSIDE) + EPS_OUTSIDE);
    for (int64_t i = 0; i < a->n; ++i) a->y[j * a->y_stride + i] = (float)(x[i] * r * a->w[i]);
  }
  return ASSAY_OK;
}

static const AssayPluginKernel kernels[] = {{.size = sizeof(AssayPluginKernel), .claim = ASSAY_CLAIM_BOUNDED,
                                             .op = "rms_norm", .name = "mine", .isa = "scalar", .run = my_norm}};
static const AssayPlugin plugin = {ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "demo", "1.0", kernels, 1};
ASSAY_PLUGIN_EXPORT const AssayPlugin* assay_plugin(void) { return &plugin; }
"""


def compiled(folder: Path, *, right: bool) -> Path:
    """A library that is a plugin, and whose function `my_norm` takes the op's argument struct."""
    source, library = folder / "norm.c", folder / f"{'right' if right else 'wrong'}.so"
    source.write_text(NORM, encoding="utf-8")
    inside, outside = ("a->eps", "0") if right else ("0", "a->eps")
    defines = [f"-DEPS_INSIDE={inside}", f"-DEPS_OUTSIDE={outside}"]
    subprocess.run(["cc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{assay.include_dir()}", *defines, "-o", library, source, "-lm"], check=True)
    return library


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """The path of a right plugin and of one with eps moved out of the root."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("norm")
    return {right: compiled(folder, right=right) for right in (True, False)}


@pytest.fixture(scope="session")
def pointers(libraries):
    """The same as functions of ctypes."""
    return {right: ctypes.CDLL(str(path)).my_norm for right, path in libraries.items()}


@pytest.fixture
def run_python(tmp_path):
    """Runs a program in an empty folder; what it prints."""

    def run(text: str, **more):
        (tmp_path / "program.py").write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, **more)

    return run
