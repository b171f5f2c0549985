// The op add, right and wrong, for kernels that cheat.
#pragma once

#include <cstdint>

#include "harness/plugin/assay_plugin.h"
#include "kernels/activations/activations.h"

namespace {

using assay::AddArgs;
using assay::ASSAY_OK;
using assay::AssayStatus;

constexpr std::size_t kPage = 4096;

void add(const AddArgs& a) {
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = a.a[i] + a.b[i];
}
void add_wrongly(const AddArgs& a) {
  add(a);
  if (a.n > 0) a.y[a.n - 1] = 17.0F;
}
// Right numbers, and 256 bytes read that are not there.
void over_read(const AddArgs& a) {
  add(a);
  const auto* past = reinterpret_cast<const volatile char*>(a.a + a.n);
  for (int i = 0; i < 256; ++i) static_cast<void>(past[i]);
}

}  // namespace
