// A plugin of right kernels, over the op rms_norm, that do what a library may honestly do: read past an input, depend on how a call is
// cut or where it lies, start a thread, take no NaN. Each undeclared, declared, and doing more than it has declared.
#include <pthread.h>

#include <cmath>
#include <cstdint>
#include <iterator>

#include "tests/plugins/norm.h"

namespace {

bool has_output(const RmsNormArgs& a, AssayStatus status) {
  return status == ASSAY_OK && a.rows > 0 && a.n > 0 && std::isfinite(a.y[0]) && a.y[0] != 0;
}

AssayStatus plain(const void* args) {
  return norm(call(args));
}

// Floats past the end of w, added up where they are numbers.
float past_the_end(const RmsNormArgs& a, int floats) {
  const volatile float* const end = a.w + a.n;
  float sum = 0;
  for (int i = 0; i < floats; ++i) sum += std::isfinite(end[i]) ? end[i] : 1;
  return sum;
}
template <int kFloats>
AssayStatus reads_past(const void* args) {
  const AssayStatus status = norm(call(args));
  if (status == ASSAY_OK && past_the_end(call(args), kFloats) == 12345.0F) return ASSAY_BAD_PARAMETER;
  return status;
}
AssayStatus uses_what_it_reads(const void* args) {
  const AssayStatus status = norm(call(args));
  if (has_output(call(args), status)) call(args).y[0] += past_the_end(call(args), 4) > 0.5F ? 1.0F : 0.0F;
  return status;
}
AssayStatus writes_past(const void* args) {
  const AssayStatus status = norm(call(args));
  if (has_output(call(args), status)) const_cast<volatile float*>(call(args).w)[call(args).n] = 1;
  return status;
}

// Another rounding where there are other rows, inside the bound.
AssayStatus by_rows(const void* args) {
  const RmsNormArgs& a = call(args);
  const AssayStatus status = norm(a);
  if (has_output(a, status) && a.rows > 1) a.y[0] = std::nextafter(a.y[0], 0.0F);
  return status;
}
// Wrong where it gets less than three rows: of a call of three or more, a part.
AssayStatus wrong_by_rows(const void* args) {
  const RmsNormArgs& a = call(args);
  const AssayStatus status = norm(a);
  if (has_output(a, status) && a.rows < 3) a.y[0] *= 1.5F;
  return status;
}
AssayStatus by_calls(const void* args) {
  static int calls = 0;
  const AssayStatus status = norm(call(args));
  if (has_output(call(args), status) && calls++ % 2 == 1) call(args).y[0] = std::nextafter(call(args).y[0], 0.0F);
  return status;
}

// Another rounding where x lies at another offset from a cache line, inside the bound; and one that is outside it.
template <int kSteps>
AssayStatus by_address(const void* args) {
  const RmsNormArgs& a = call(args);
  const AssayStatus status = norm(a);
  const bool odd = reinterpret_cast<std::uintptr_t>(a.x) / sizeof(float) % 2 == 1;
  for (int step = 0; step < kSteps && odd && has_output(a, status); ++step) a.y[0] = std::nextafter(a.y[0], 0.0F);
  return status;
}
// Its first answer to what lay at an address before.
AssayStatus by_first_answer(const void* args) {
  static const float* where = nullptr;
  static float answer = 0;
  const RmsNormArgs& a = call(args);
  const AssayStatus status = norm(a);
  if (!has_output(a, status)) return status;
  if (a.x != where) answer = a.y[0];
  where = a.x;
  a.y[0] = answer;
  return status;
}

struct Work {
  const void* args;
  AssayStatus status;
};
AssayStatus on_a_thread(const void* args) {
  Work work{args, ASSAY_OK};
  const auto body = [](void* one) -> void* {
    static_cast<Work*>(one)->status = norm(call(static_cast<Work*>(one)->args));
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, nullptr, body, &work) != 0) return ASSAY_BAD_PARAMETER;
  pthread_join(thread, nullptr);
  return work.status;
}
// A NaN counts as nothing.
AssayStatus drops_nans(const void* args) {
  const RmsNormArgs& a = call(args);
  const AssayStatus status = norm(a);
  if (status != ASSAY_OK) return status;
  for (std::int64_t j = 0; j < a.rows; ++j) {
    for (std::int64_t i = 0; i < a.n; ++i) {
      float& y = a.y[j * a.y_stride + i];
      if (std::isnan(y)) y = 0;
    }
  }
  return status;
}

constexpr AssayPluginKernel kernel(const char* name, AssayStatus (*run)(const void*), const char* properties = nullptr) {
  return {sizeof(AssayPluginKernel),
          assay::ASSAY_CLAIM_BOUNDED,
          "rms_norm",
          name,
          "scalar",
          nullptr,
          nullptr,
          nullptr,
          run,
          properties};
}

constexpr AssayPluginKernel kKernels[] = {
    kernel("over_read", reads_past<4>),
    kernel("over_read_declared", reads_past<4>, "over-read=16;"),
    kernel("over_read_more", reads_past<5>, "over-read=16;"),
    kernel("over_read_used", uses_what_it_reads, "over-read=16;"),
    kernel("over_written", writes_past, "over-read=16;"),
    kernel("batch", by_rows),
    kernel("batch_declared", by_rows, "batch-invariant=no;"),
    kernel("batch_wrong", wrong_by_rows, "batch-invariant=no;"),
    kernel("batch_random", by_calls, "batch-invariant=no;"),
    kernel("address", by_address<1>),
    kernel("address_declared", by_address<1>, "placement-invariant=no;"),
    kernel("address_wrong", by_address<1000>, "placement-invariant=no;"),
    kernel("address_remembers", by_first_answer, "placement-invariant=no;"),
    kernel("thread", on_a_thread),
    kernel("thread_allocates", on_a_thread, "allocates=yes;"),
    kernel("thread_declared", on_a_thread, "threads=own;"),
    kernel("nan", drops_nans),
    kernel("nan_declared", drops_nans, "nan=no;"),
    kernel("idle", plain, "over-read=16;batch-invariant=no;threads=own;nan=no;"),
};

}  // namespace

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  static constexpr assay::AssayPlugin kPlugin = {
      ASSAY_PLUGIN_ABI, sizeof(assay::AssayPlugin), "traits", "1.0", kKernels, static_cast<std::int64_t>(std::size(kKernels))};
  return &kPlugin;
}
