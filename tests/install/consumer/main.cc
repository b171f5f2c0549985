// A program that uses the installed kernels: y = x / rms(x) for one row, by the best variant of this CPU.
#include <cmath>
#include <cstdio>

#include "kernels/op_tables.h"

int main() {
  const float x[4] = {3, -4, 3, -4};
  const float w[4] = {1, 1, 1, 2};
  float y[4] = {};
  const assay::RmsNormArgs args{x, w, y, 1, 4, 4, 4, 1e-20F};
  const auto& kernel = assay::select_kernel(assay::kernel_tables::rms_norm);
  const bool ran = kernel.run(&args) == assay::ASSAY_OK;
  const double rms = std::sqrt(12.5);
  const double expected[4] = {3 / rms, -4 / rms, 3 / rms, -8 / rms};
  double worst = 0;
  for (int i = 0; i < 4; ++i) worst = std::fmax(worst, std::fabs(y[i] - expected[i]));
  std::printf("%s: off by at most %.1e\n", kernel.name, worst);
  return ran && worst < 1e-6 ? 0 : 1;
}
