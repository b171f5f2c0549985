#include "harness/verdict/plugin_adapter.h"

#include <algorithm>

namespace assay {

PluginAdapter::PluginAdapter(const Adapter& base, const LoadedPlugin& plugin) : base_(base), plugin_(plugin) {
  for (const AssayPluginKernel& kernel : plugin.kernels) {
    if (base.op() == kernel.op) kernels_.push_back(&kernel);
  }
}

std::vector<Variant> PluginAdapter::variants() const {
  std::vector<Variant> all;
  for (const AssayPluginKernel* kernel : kernels_) {
    all.push_back({plugin_.name + ":" + kernel->name, LoadedPlugin::isa_of(*kernel)});
  }
  return all;
}

AssayStatus PluginAdapter::run(std::size_t variant, const Params& params, std::span<void* const> tensors) const {
  return base_.call(kernels_[variant]->run, params, tensors);
}

std::optional<PackedInput> PluginAdapter::packed_input(std::size_t variant, const Params& params,
                                                       std::span<void* const> tensors) const {
  const AssayPluginKernel& kernel = *kernels_[variant];
  if (kernel.pack == nullptr) return std::nullopt;
  std::int64_t bytes = 0;
  base_.call(
      [&](const void* args) {
        bytes = kernel.packed_bytes(args);
        return ASSAY_OK;
      },
      params, tensors);
  const auto specs = base_.signature(params).tensors;
  const auto spec = std::find_if(specs.begin(), specs.end(), [&](const TensorSpec& s) { return s.name == kernel.packed_tensor; });
  if (spec == specs.end() || spec->role != Direction::in || bytes < 0) {
    throw PluginError("plugin " + plugin_.path + ": kernel '" + kernel.name + "' packs '" + kernel.packed_tensor + "' in " +
                      std::to_string(bytes) + " bytes; expected an input of " + kernel.op + " and no negative size");
  }
  return PackedInput{static_cast<std::size_t>(spec - specs.begin()), static_cast<std::size_t>(bytes)};
}

AssayStatus PluginAdapter::pack(std::size_t variant, const Params& params, std::span<void* const> tensors, void* packed) const {
  return base_.call([&](const void* args) { return kernels_[variant]->pack(args, packed); }, params, tensors);
}

std::vector<std::unique_ptr<PluginAdapter>> plugin_adapters(const std::vector<LoadedPlugin>& plugins,
                                                            const std::vector<std::string>& ops) {
  std::vector<std::unique_ptr<PluginAdapter>> all;
  for (const LoadedPlugin& plugin : plugins) {
    for (const Adapter* base : adapters()) {
      if (!ops.empty() && std::find(ops.begin(), ops.end(), base->op()) == ops.end()) continue;
      auto one = std::make_unique<PluginAdapter>(*base, plugin);
      if (!one->variants().empty()) all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace assay
