#include "engine/run/load_weights.h"

#include <cstring>
#include <stdexcept>
#include <string>

#include "engine/files/mapped_file.h"
#include "engine/threads.h"
#include "kernels/convert_bf16_f32/convert_bf16_f32.h"
#include "kernels/convert_f16_f32/convert_f16_f32.h"
#include "kernels/kernel.h"

namespace assay {
namespace {

void load_norm(const Weight& weight, float* dst) {
  AssayStatus status = ASSAY_OK;
  if (weight.dtype == DType::f32) {
    std::memcpy(dst, weight.bytes.data(), weight.bytes.size());
  } else {
    const auto* const src = reinterpret_cast<const std::uint16_t*>(weight.bytes.data());
    if (weight.dtype == DType::f16) {
      const ConvertF16F32Args args{src, dst, weight.cols};
      status = select_kernel<ConvertF16F32>().run(&args);
    } else {
      const ConvertBf16F32Args args{src, dst, weight.cols};
      status = select_kernel<ConvertBf16F32>().run(&args);
    }
  }
  if (status != ASSAY_OK) throw std::logic_error("widening " + weight.name + " was refused");
}

void load_matrix(const PlannedWeight& planned, std::uint8_t* dst, int threads) {
  const Weight& weight = *planned.stored;
  parallel_ranges(threads, planned.layout->groups(weight.rows), 1, [&](std::int64_t first, std::int64_t last) {
    pack_groups(*planned.layout, weight.bytes.data(), dst, weight.rows, weight.cols, first, last);
  });
}

}  // namespace

void load_weights(const Plan& plan, std::uint8_t* region, int threads, const LoadProgress& progress) {
  for (const PlannedWeight& planned : plan.weights) {
    if (planned.in_file) continue;
    std::uint8_t* const dst = region + planned.offset;
    if (planned.layout == nullptr) {
      load_norm(*planned.stored, reinterpret_cast<float*>(dst));
    } else {
      load_matrix(planned, dst, threads);
    }
    release_pages(planned.stored->bytes);  // else a model would be resident twice
    if (progress) progress(planned.offset + planned.bytes, plan.weight_bytes);
  }
}

}  // namespace assay
