#include "harness/cli/shape.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "harness/verdict/nearest.h"

namespace assay::cli {
namespace {

ParamValue parse_value(const std::string& name, const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto [rest, error] = std::from_chars(text.data(), end, integer); error == std::errc() && rest == end) return integer;
  double real = 0;
  if (const auto [rest, error] = std::from_chars(text.data(), end, real); error == std::errc() && rest == end) {
    if (!std::isfinite(real)) throw std::invalid_argument("--shape: " + name + " is '" + text + "'; expected a finite number");
    return real;
  }
  return text;
}

}  // namespace

Params parse_shape(const std::string& text) {
  Params params;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
      throw std::invalid_argument("--shape: '" + item + "'; expected NAME=VALUE, such as n=77");
    }
    const std::string name = item.substr(0, equals);
    if (params.has(name)) throw std::invalid_argument("--shape: " + name + " is given twice; expected once");
    params.set(name, parse_value(name, item.substr(equals + 1)));
  }
  return params;
}

Isa known_isa(const std::string& name) {
  const auto isa = isa_from_name(name);
  if (!isa) {
    std::vector<std::string> known;
    for (const IsaRow& row : kIsas) known.emplace_back(row.name);
    throw std::invalid_argument(unknown_name("ISA", name, known));
  }
  return *isa;
}

Isa require_isa(const std::string& name) {
  const Isa isa = known_isa(name);
  if (!isa_supported(isa)) throw std::invalid_argument("this CPU lacks " + name + "; it runs " + supported_isa_names());
  return isa;
}

}  // namespace assay::cli
