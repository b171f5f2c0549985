#include "harness/reports/report_page/reader.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "golden/read_file.h"

namespace assay::report_page {

Member::Json Member::parse(const std::filesystem::path& path, std::string_view what) {
  const std::string text = read_file(path);
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw std::runtime_error(fmt::format("{}: is no JSON ({}); expected what {} writes", path.string(), error.what(), what));
  }
}

void Member::fail(const std::string& expected) const {
  throw std::runtime_error(fmt::format("{}: expected {}, as {} writes", where_, expected, what_));
}

Member Member::at(const char* name) const {
  if (!value_->is_object()) fail("an object");
  const Member member(*value_, fmt::format("{}{}{}", where_, where_.ends_with(": ") ? "" : ".", name), what_);
  const auto found = value_->find(name);
  if (found == value_->end()) member.fail("this member, which is missing");
  return {*found, member.where_, what_};
}

bool Member::has(const char* name) const {
  if (!value_->is_object()) fail("an object");
  const auto found = value_->find(name);
  return found != value_->end() && !found->is_null();
}

std::vector<Member> Member::items() const {
  if (!value_->is_array()) fail("an array");
  std::vector<Member> out;
  for (std::size_t i = 0; i < value_->size(); ++i) out.emplace_back((*value_)[i], fmt::format("{}[{}]", where_, i), what_);
  return out;
}

std::vector<std::pair<std::string, Member>> Member::members() const {
  if (!value_->is_object()) fail("an object");
  std::vector<std::pair<std::string, Member>> out;
  for (const auto& [name, value] : value_->items()) out.emplace_back(name, Member(value, where_ + "." + name, what_));
  return out;
}

std::string Member::text() const {
  if (!value_->is_string()) fail("a string");
  return value_->get<std::string>();
}

bool Member::truth() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

std::int64_t Member::integer() const {
  if (!value_->is_number_integer()) fail("a whole number");
  return value_->get<std::int64_t>();
}

double Member::number() const {
  if (!value_->is_number()) fail("a number");
  return value_->get<double>();
}

std::optional<double> Member::number_if(const char* name) const {
  return has(name) ? std::optional(at(name).number()) : std::nullopt;
}

std::vector<std::string> Member::texts() const {
  std::vector<std::string> out;
  for (const Member& item : items()) out.push_back(item.text());
  return out;
}

}  // namespace assay::report_page
