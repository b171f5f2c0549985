#include "harness/cli/shipped.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <vector>

#include "harness/verdict/data_dir.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

// Where golden/ and docs/ may lie: a source tree holds both, an installation keeps docs/ in share/doc/assay.
std::vector<fs::path> roots() {
  try {
    const fs::path data = data_dir();
    return {data, data.parent_path() / "doc" / "assay"};
  } catch (const std::exception&) {
    return {};  // nothing is shipped with it
  }
}

bool starts_a_name(char before) {
  return before == ' ' || before == '(' || before == '\n';
}

std::string for_shell(const std::string& path) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string("/._-+").find(c) != std::string::npos;
  };
  if (std::ranges::all_of(path, plain)) return path;
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string place_of(const std::string& name) {
  std::error_code none;
  if (fs::exists(name, none)) return name;
  for (const fs::path& root : roots()) {
    if (fs::exists(root / name, none)) return for_shell((root / name).string());
  }
  return name;
}

}  // namespace

std::string with_shipped_paths(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    if ((rest.starts_with("golden/") || rest.starts_with("docs/")) && (at == 0 || starts_a_name(text[at - 1]))) {
      const std::string name(rest.substr(0, rest.find_first_of(" \n),;")));
      out += place_of(name);
      at += name.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace assay::cli
