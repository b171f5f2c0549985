// What of kernels/isa.h throws, or makes a std::string: the one file of the kernels that needs the C++ runtime.
#include <array>
#include <stdexcept>

#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "kernels/words.h"

namespace assay {

std::string supported_isa_names() {
  std::array<char, 512> names;
  Words words(names.data(), names.size());
  list_supported_isas(words);
  return names.data();
}

IsaLimit forced_isa() {
  const char* const forced = forced_isa_name();
  if (forced == nullptr) return std::nullopt;
  std::array<char, 1024> text;
  Words why(text.data(), text.size());
  if (const IsaLimit limit = limit_from_name(kForcedIsa, forced, why)) return limit;
  throw std::invalid_argument(text.data());
}

Isa selected_isa() {
  return forced_isa().value_or(best_isa());
}

void assert_float_environment() {
  if (const char* const fault = assay_float_fault()) throw std::runtime_error(fault);
}

}  // namespace assay
