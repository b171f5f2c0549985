// A kernel on trial or on the clock: one of an op's own, or a plugin's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/interop/remote/remote_runner.h"
#include "reference/ops/op.h"

namespace assay {

struct Variant {
  std::string name;  // rms_norm_avx2, mine:rms_norm
  Isa isa = Isa::scalar;
  AssayStatus (*run)(const void* args) = nullptr;  // of a plugin's null: a runner runs it
  bool foreign = false;                            // a plugin's
  bool canonical = true;                           // claims the canonical bits
  std::string packed_tensor = {};                  // the input that it takes in a layout of its own; empty: none
};

// The op's own, most preferred first.
std::vector<Variant> variants_of(const Op& op);
// Those that plugins have of it.
std::vector<Variant> variants_of(const Op& op, std::span<const RemoteKernel> kernels);

}  // namespace assay
