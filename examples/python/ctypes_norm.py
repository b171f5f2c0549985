"""A function in C that takes the op's argument struct, compiled on the spot: `python ctypes_norm.py`. It is judged in assay-runner, guard pages and all."""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import assay

SOURCE = r"""
#include <math.h>

#include "kernels/norms/norms.h"

AssayStatus norm(const void* args) {
  const RmsNormArgs* a = args;
  if (!assay_rms_norm_sizes(a)) return ASSAY_BAD_SHAPE;
  if (!(isnormal(a->eps) && a->eps > 0)) return ASSAY_BAD_PARAMETER;
  for (int64_t j = 0; j < a->rows; ++j) {
    const float* x = a->x + j * a->x_stride;
    double sum = 0;
    for (int64_t i = 0; i < a->n; ++i) sum += (double)x[i] * x[i];
    const double r = 1 / sqrt(sum / a->n + a->eps);
    for (int64_t i = 0; i < a->n; ++i) a->y[j * a->y_stride + i] = (float)(x[i] * r * a->w[i]);
  }
  return ASSAY_OK;
}
"""


def compiled(folder):
    """The function, out of a library in `folder`."""
    source, library = Path(folder, "norm.c"), Path(folder, "norm.so")
    source.write_text(SOURCE, encoding="utf-8")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{assay.include_dir()}", "-o", library, source, "-lm"], check=True)
    return ctypes.CDLL(str(library)).norm


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(assay.check("rms_norm", compiled(folder)))
