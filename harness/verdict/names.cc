#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/verdict/data_dir.h"
#include "harness/verdict/nearest.h"
#include "harness/verdict/shell.h"
#include "harness/verdict/suite.h"

namespace assay {

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const Op* op : ops()) names.emplace_back(op->name);
  return names;
}

std::string unknown_op(const std::string& word) {
  if (is_near(word, nearest(word, op_names()))) return unknown_name("op", word, op_names());
  std::string message = fmt::format("unknown op '{}', and none is near it; there are", word);
  const Family* family = nullptr;
  for (const Op* op : ops()) {
    message += op->family == family ? ", " : fmt::format("\n  {}: ", op->family->name);
    message += op->name;
    family = op->family;
  }
  return message;
}

const Op& require_op(const std::string& name) {
  const Op* op = find_op(name);
  if (op == nullptr) throw std::invalid_argument(unknown_op(name));
  return *op;
}

std::vector<std::string> named_ops(const std::vector<std::string>& words) {
  std::vector<std::string> named;
  for (const std::string& word : words) {
    bool any = false;
    for (const std::string& op : op_names()) {
      if (!matches(word, op)) continue;
      any = true;
      if (std::ranges::find(named, op) == named.end()) named.push_back(op);
    }
    if (any) continue;
    throw std::invalid_argument(is_glob(word) ? fmt::format("no op matches '{}'; `assay list` has their names", word)
                                              : unknown_op(word));
  }
  return named;
}

std::filesystem::path own_golden() {
  return data_dir() / "golden";
}

std::filesystem::path ledger_path() {
  return own_golden() / "ledger.json";
}

std::string variant_label(const std::string& op, const std::string& variant) {
  return variant.find(':') == std::string::npos ? variant : op + " " + variant;
}

}  // namespace assay
