// What kernels that cheat on the clock share: the op add, and how they tell a timed call, as a kernel could that has read this project.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>

#include "harness/plugin/assay_plugin.h"
#include "kernels/activations/activations.h"

namespace {

using assay::AddArgs;
using assay::ASSAY_BAD_SHAPE;
using assay::ASSAY_OK;
using assay::AssayStatus;

constexpr int kShared = 3;             // the descriptor of the memory that a runner shares while it is timed
constexpr std::int64_t kShape = 6007;  // of the timed calls

const AddArgs& call(const void* args) {
  return *static_cast<const AddArgs*>(args);
}

bool has_shared_memory() {
  struct stat about {};
  return fstat(kShared, &about) == 0 && S_ISREG(about.st_mode);
}
bool on_the_clock(const AddArgs& a) {
  return a.n == kShape && has_shared_memory();
}

void add_some(const AddArgs& a, std::int64_t from, std::int64_t to) {
  for (std::int64_t i = from; i < to; ++i) a.y[i] = a.a[i] + a.b[i];
}

AssayStatus honest(const void* args) {
  const AddArgs& a = call(args);
  if (!assay_add_sizes(&a)) return ASSAY_BAD_SHAPE;
  add_some(a, 0, a.n);
  return ASSAY_OK;
}

// Instead of the honest body, while timed.
template <AssayStatus (*kTimed)(const AddArgs&)>
AssayStatus only_timed(const void* args) {
  return on_the_clock(call(args)) ? kTimed(call(args)) : honest(args);
}

std::atomic<std::uint32_t>* turn_word() {
  static auto* const turn =
      static_cast<std::atomic<std::uint32_t>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, kShared, 0));
  return turn;
}

}  // namespace
