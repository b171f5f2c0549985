#include "engine/architecture/architecture.h"

#include <algorithm>

#include "engine/files/file_error.h"

namespace assay {
namespace {

constexpr const PlannedArchitecture* kArchitectures[] = {&kPlannedQwen3};

}  // namespace

std::span<const PlannedArchitecture* const> planned_architectures() {
  return kArchitectures;
}

const PlannedArchitecture* find_architecture(std::string_view name) {
  const auto* const found = std::ranges::find(kArchitectures, name, [](const auto* one) { return one->name; });
  return found == std::end(kArchitectures) ? nullptr : *found;
}

std::string architecture_names() {
  std::string names;
  for (const PlannedArchitecture* one : kArchitectures) names += (names.empty() ? "" : ", ") + shown(one->name);
  return names;
}

}  // namespace assay
