// Members of a JSON document, by type; a complaint names the file, the member and what was expected.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace assay::report_page {

// A value and where it stands: "part.json: cases[3].margin".
class Member {
 public:
  using Json = nlohmann::json;

  // `what` tells the user which command writes such a file.
  static Json parse(const std::filesystem::path& path, std::string_view what);

  Member(const Json& value, std::string where, std::string_view what) : value_(&value), where_(std::move(where)), what_(what) {}

  Member at(const char* name) const;                            // of an object; it must be there
  bool has(const char* name) const;                             // there, and not null
  std::vector<Member> items() const;                            // of an array
  std::vector<std::pair<std::string, Member>> members() const;  // of an object

  std::string text() const;
  bool truth() const;
  std::int64_t integer() const;
  double number() const;
  std::optional<double> number_if(const char* name) const;  // of an object's member, if it is there
  std::vector<std::string> texts() const;

  [[noreturn]] void fail(const std::string& expected) const;

 private:
  const Json* value_;
  std::string where_;
  std::string_view what_;
};

}  // namespace assay::report_page
