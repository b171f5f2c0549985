#include "engine/files/strict_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace assay {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMostValues = std::size_t{1} << 20;

// Called for each piece as the parser meets it, so that a limit stops the parser and not its result.
class Guard {
 public:
  explicit Guard(const std::string& file) : file_(file) {}

  bool operator()(json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        members_.emplace_back();
        if (members_.size() > kDeepest) fail(Fault::json_limit, "nested deeper than " + std::to_string(kDeepest));
        count();
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        members_.pop_back();
        break;
      case json::parse_event_t::key: {
        last_key_ = parsed.get<std::string>();
        if (!members_.back().insert(last_key_).second) fail(Fault::duplicate, "it is there twice");
        break;
      }
      case json::parse_event_t::value:
        count();
        break;
    }
    return true;
  }

 private:
  void count() {
    if (++values_ > kMostValues) fail(Fault::json_limit, "more than " + std::to_string(kMostValues) + " values");
  }
  [[noreturn]] void fail(Fault fault, const std::string& why) const {
    throw ModelFileError(fault, {file_, {}, "member " + shown(last_key_)}, why);
  }

  const std::string& file_;
  std::vector<std::set<std::string>> members_;  // of the objects that are open
  std::string last_key_;
  std::size_t values_ = 0;
};

}  // namespace

json parse_strict_json(std::string_view text, const std::string& file, std::uint64_t base) {
  // The parser takes a zero for the text's end and skips a byte-order mark.
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) throw ModelFileError(Fault::json, {file, base + zero, {}}, "a zero byte in JSON");
  if (text.starts_with("\xef\xbb\xbf")) throw ModelFileError(Fault::json, {file, base, {}}, "a byte-order mark before JSON");
  Guard guard(file);
  try {
    return json::parse(text.begin(), text.end(),
                       [&guard](int, json::parse_event_t event, json& parsed) { return guard(event, parsed); });
  } catch (const json::parse_error& error) {
    const std::size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const std::size_t shown_from = at - std::min<std::size_t>(at, 20);
    throw ModelFileError(Fault::json, {file, base + at, {}},
                         "cannot be read as JSON in UTF-8 beyond " + shown(text.substr(shown_from, at - shown_from)));
  } catch (const json::exception& error) {  // a number beyond fp64
    throw ModelFileError(Fault::json, {file, base, {}}, error.what());
  }
}

json read_strict_json(const MappedFile& file, std::uint64_t most_bytes) {
  const auto bytes = file.bytes();
  if (bytes.size() > most_bytes) {
    throw ModelFileError(Fault::json_limit, {file.name(), most_bytes, {}},
                         std::to_string(bytes.size()) + " bytes; expected at most " + std::to_string(most_bytes));
  }
  json parsed = parse_strict_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.name());
  if (!parsed.is_object()) throw ModelFileError(Fault::json, {file.name(), 0, {}}, "expected an object");
  return parsed;
}

}  // namespace assay
