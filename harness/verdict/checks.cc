#include "harness/verdict/checks.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "harness/verdict/nearest.h"

namespace assay {
namespace {

std::string join_names(std::uint32_t mask) {
  std::string out;
  for (std::size_t i = 0; i < kCheckNames.size(); ++i) {
    if ((mask >> i & 1U) != 0) out += (out.empty() ? "" : ",") + std::string(kCheckNames[i]);
  }
  return out;
}

}  // namespace

Checks Checks::parse(std::string_view list) {
  std::uint32_t mask = 0;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, comma);
    const auto* entry = std::find(kCheckNames.begin(), kCheckNames.end(), name);
    if (entry == kCheckNames.end()) {
      throw std::invalid_argument(unknown_name("check", name, {kCheckNames.begin(), kCheckNames.end()}));
    }
    mask |= 1U << static_cast<unsigned>(entry - kCheckNames.begin());
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  if (mask == 0) throw std::invalid_argument("the list of checks is empty; choose from " + join_names(0xff));
  return Checks(mask);
}

Checks Checks::from_environment() {
  const char* list = std::getenv("ASSAY_CHECKS");
  return list == nullptr || *list == '\0' ? all() : parse(list);
}

std::string Checks::to_string() const {
  return join_names(mask_);
}

std::string Checks::off_to_string() const {
  return join_names(~mask_ & 0xffU);
}

}  // namespace assay
