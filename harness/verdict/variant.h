// A kernel on trial or on the clock: one of an op's own, or a plugin's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/interop/plugin/loader.h"
#include "reference/ops/op.h"

namespace assay {

// An input that a variant takes in a layout of its own (harness/plugin/assay_plugin.h).
struct Packing {
  std::string tensor;
  std::int64_t (*bytes)(const void* args);
  AssayStatus (*pack)(const void* args, void* packed);
};

struct Variant {
  std::string name;  // rms_norm_avx2, mine:rms_norm
  Isa isa = Isa::scalar;
  AssayStatus (*run)(const void* args) = nullptr;
  bool foreign = false;                 // a plugin's
  std::optional<Packing> packing = {};  // nullopt: the op's own layout
  Traits traits = {};                   // what it declares
};

// The op's own, most preferred first.
std::vector<Variant> variants_of(const Op& op);
// Those of a plugin.
std::vector<Variant> variants_of(const Op& op, const LoadedPlugin& plugin);

}  // namespace assay
