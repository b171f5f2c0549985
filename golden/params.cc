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

std::string format_value(const ParamValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", std::get<double>(value));
  return buffer;
}

// It is not there, or is of another type.
[[noreturn]] void refuse(const std::map<std::string, ParamValue, std::less<>>& values, std::string_view name,
                         const char* expected) {
  const auto it = values.find(name);
  const std::string what = "parameter '" + std::string(name) + "'";
  if (it == values.end()) throw std::out_of_range(what + " is missing; expected " + expected);
  throw std::out_of_range(what + " is " + format_value(it->second) + "; expected " + expected);
}

}  // namespace

std::int64_t Params::integer(std::string_view name) const {
  if (const auto* value = find<std::int64_t>(values_, name)) return *value;
  refuse(values_, name, "a whole number, written in digits");
}

double Params::real(std::string_view name) const {
  if (const auto* value = find<double>(values_, name)) return *value;
  if (const auto* value = find<std::int64_t>(values_, name)) return static_cast<double>(*value);
  refuse(values_, name, "a number");
}

const std::string& Params::text(std::string_view name) const {
  if (const auto* value = find<std::string>(values_, name)) return *value;
  refuse(values_, name, "a word");
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
