/* consumer OP [ISA]: the kernel of an op by the installed package, and y = x / rms(x) for one row. Exit code 1 where there is none, or
   where it computes something else. */
#include <stdio.h>

#include "kernels/kernels.h"

int main(int argc, char** argv) {
  const char* const op = argc > 1 ? argv[1] : "rms_norm";
  const char* const isa = argc > 2 ? argv[2] : NULL;
  AssayKernel* const kernel = assay_find_kernel(op, isa);
  char why[256];
  const size_t length = assay_explain_kernel(op, isa, why, sizeof why);
  if (kernel == NULL) {
    printf("%s\n", why);
    return length > 0 ? 1 : 3;
  }
  const float x[4] = {3, -3, 3, -3};
  const float w[4] = {1, 1, 1, 2};
  float y[4] = {0};
  const RmsNormArgs args = {.x = x, .w = w, .y = y, .rows = 1, .n = 4, .x_stride = 4, .y_stride = 4, .eps = 1e-20F};
  const AssayStatus status = kernel(&args);
  printf("%g %g %g %g\n", (double)y[0], (double)y[1], (double)y[2], (double)y[3]);
  return status == ASSAY_OK && length == 0 && assay_float_fault() == NULL && y[0] == 1 && y[1] == -1 && y[2] == 1 && y[3] == -2
             ? 0
             : 1;
}
