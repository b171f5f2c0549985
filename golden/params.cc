#include "golden/params.h"

#include <cstdio>
#include <stdexcept>

namespace assay {
namespace {

template <class T>
const T* find(const std::map<std::string, ParamValue, std::less<>>& values, std::string_view name) {
  const auto it = values.find(name);
  return it == values.end() ? nullptr : std::get_if<T>(&it->second);
}

[[noreturn]] void missing(std::string_view name, const char* type) {
  throw std::out_of_range("parameter '" + std::string(name) + "' is missing or no " + type);
}

std::string format_value(const ParamValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", std::get<double>(value));
  return buffer;
}

}  // namespace

std::int64_t Params::integer(std::string_view name) const {
  if (const auto* value = find<std::int64_t>(values_, name)) return *value;
  missing(name, "integer");
}

double Params::real(std::string_view name) const {
  if (const auto* value = find<double>(values_, name)) return *value;
  if (const auto* value = find<std::int64_t>(values_, name)) return static_cast<double>(*value);
  missing(name, "number");
}

const std::string& Params::text(std::string_view name) const {
  if (const auto* value = find<std::string>(values_, name)) return *value;
  missing(name, "text");
}

std::int64_t Params::integer_or(std::string_view name, std::int64_t fallback) const {
  return has(name) ? integer(name) : fallback;
}

std::string Params::to_string() const {
  std::string out;
  for (const auto& [name, value] : values_) out += (out.empty() ? "" : ",") + name + "=" + format_value(value);
  return out;
}

}  // namespace assay
