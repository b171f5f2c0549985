// An op whose variants are a plugin's kernels, called in this process: for timing, once their checks have passed in another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/interop/plugin/loader.h"
#include "harness/verdict/adapter.h"

namespace assay {

// An input that a variant takes in a layout of its own.
struct PackedInput {
  std::size_t tensor;  // its index in the signature
  std::size_t bytes;
};

class PluginAdapter final : public Adapter {
 public:
  // The kernels of `base`'s op among the plugin's. Both outlive this.
  PluginAdapter(const Adapter& base, const LoadedPlugin& plugin);

  // nullopt: the op's own layout. Throws PluginError for an input or a size that makes no sense.
  std::optional<PackedInput> packed_input(std::size_t variant, const Params& params, std::span<void* const> tensors) const;
  // Writes that layout, read from the op's own, which `tensors` hold.
  AssayStatus pack(std::size_t variant, const Params& params, std::span<void* const> tensors, void* packed) const;

  const Adapter& base() const { return base_; }
  const LoadedPlugin& plugin() const { return plugin_; }

  std::vector<Variant> variants() const override;
  AssayStatus run(std::size_t variant, const Params& params, std::span<void* const> tensors) const override;

  std::string_view op() const override { return base_.op(); }
  const reference::Contract& contract() const override { return base_.contract(); }
  Signature signature(const Params& params) const override { return base_.signature(params); }
  AssayStatus call(const std::function<AssayStatus(const void*)>& kernel, const Params& params,
                   std::span<void* const> tensors) const override {
    return base_.call(kernel, params, tensors);
  }
  ArgsImage image(const Params& params, std::span<void* const> tensors) const override { return base_.image(params, tensors); }
  std::size_t args_bytes() const override { return base_.args_bytes(); }
  std::vector<reference::Expected> reference(const Params& params, std::span<void* const> tensors) const override {
    return base_.reference(params, tensors);
  }
  ShapeSpace shape_space() const override { return base_.shape_space(); }
  GeneratedCase bias_case() const override { return base_.bias_case(); }
  Cost cost(const Params& params) const override { return base_.cost(params); }
  std::vector<Params> bench_params() const override { return base_.bench_params(); }

 private:
  const Adapter& base_;
  const LoadedPlugin& plugin_;
  std::vector<const AssayPluginKernel*> kernels_;
};

// One of each op that the plugins have kernels of; `ops` empty: of all.
std::vector<std::unique_ptr<PluginAdapter>> plugin_adapters(const std::vector<LoadedPlugin>& plugins,
                                                            const std::vector<std::string>& ops);

}  // namespace assay
