// The scalars of a call, by the names of the op's argument struct.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace assay {

using ParamValue = std::variant<std::int64_t, double, std::string>;

class Params {
 public:
  Params() = default;
  Params(std::initializer_list<std::pair<const std::string, ParamValue>> values) : values_(values) {}

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  void set(const std::string& name, ParamValue value) { values_[name] = std::move(value); }

  void erase(const std::string& name) { values_.erase(name); }

  // Throw std::out_of_range naming the parameter if it is missing or of another type.
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;  // an integer is taken as a real
  const std::string& text(std::string_view name) const;
  std::int64_t integer_or(std::string_view name, std::int64_t fallback) const;

  const std::map<std::string, ParamValue, std::less<>>& values() const { return values_; }
  std::string to_string() const;  // "n=33,rows=2,eps=1e-06"

 private:
  std::map<std::string, ParamValue, std::less<>> values_;
};

}  // namespace assay
