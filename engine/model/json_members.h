// Typed look-up in a JSON object from a file. Every failure is a ModelFileError that names the member.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/files/file_error.h"

namespace assay {

// A member that is null counts as absent, as Hugging Face writes them.
class JsonMembers {
 public:
  // `prefix` stands before the members' names in errors ("rope_parameters.").
  JsonMembers(const nlohmann::json& object, std::string file, std::string prefix = {})
      : object_(object), file_(std::move(file)), prefix_(std::move(prefix)) {}

  const nlohmann::json* find(const std::string& name) const;
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const;
  double real(const std::string& name) const;
  std::optional<double> optional_real(const std::string& name) const;
  std::string string(const std::string& name) const;
  std::optional<std::string> optional_string(const std::string& name) const;
  bool boolean(const std::string& name) const;
  std::optional<bool> optional_boolean(const std::string& name) const;

  [[noreturn]] void fail(Fault fault, const std::string& name, const std::string& why) const;

 private:
  const nlohmann::json& require(const std::string& name) const;

  const nlohmann::json& object_;
  std::string file_;
  std::string prefix_;
};

}  // namespace assay
