#include "golden/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "golden/hdf5.h"
#include "golden/read_file.h"
#include "golden/sha256.h"

namespace assay {
namespace {

constexpr std::size_t kDigits = 8;  // of a dataset's sha256
constexpr std::size_t kNamed = 3;   // of the datasets that differ

void collect_datasets(const Hdf5File& file, const std::string& group, std::vector<std::string>& names) {
  for (const std::string& child : file.children(group)) {
    std::string name = group;
    name.append(group == "/" ? "" : "/").append(child);
    if (file.is_group(name)) {
      collect_datasets(file, name, names);
    } else {
      names.push_back(std::move(name));
    }
  }
}

std::string digits_of(const Hdf5File& file, const std::string& dataset) {
  try {
    return sha256(file.read(dataset).bytes).substr(0, kDigits);
  } catch (const Hdf5Error&) {
    return "";
  }
}

// Where a file that is not what the manifest says differs, in words.
std::string damage(const std::filesystem::path& path, const std::string& expected) {
  std::vector<std::string> names;
  std::vector<std::string> changed;
  try {
    const Hdf5File file(path, Hdf5Origin::stranger);
    collect_datasets(file, "/", names);
    std::ranges::sort(names);
    if (names.size() * kDigits != expected.size()) {
      return "it holds " + std::to_string(names.size()) + " datasets, " + std::to_string(expected.size() / kDigits) +
             " are listed";
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (digits_of(file, names[i]) != expected.substr(i * kDigits, kDigits)) changed.push_back(names[i]);
    }
  } catch (const Hdf5Error& error) {
    return error.what();
  }
  if (changed.empty()) return "no dataset differs: it is in the names, the attributes or the layout";
  std::string out = std::to_string(changed.size()) + (changed.size() == 1 ? " dataset differs" : " datasets differ");
  for (std::size_t i = 0; i < std::min(changed.size(), kNamed); ++i) out.append(i == 0 ? ": " : ", ").append(changed[i]);
  return out + (changed.size() > kNamed ? ", ..." : "");
}

}  // namespace

Manifest::Manifest(std::filesystem::path folder) : folder_(std::move(folder)) {
  const std::filesystem::path path = folder_ / "MANIFEST.json";
  const std::optional<std::string> text = read_file_if_any(path);
  if (!text) return;
  try {
    const nlohmann::json json = nlohmann::json::parse(*text);
    for (const auto& [name, entry] : json.at("files").items()) {
      files_[name] = {entry.at("sha256").get<std::string>(), entry.value("datasets", "")};
    }
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
}

bool Manifest::verify(const std::filesystem::path& file) const {
  const auto found = files_.find(std::filesystem::relative(file, folder_).generic_string());
  if (found == files_.end()) return false;
  const auto& [expected, datasets] = found->second;
  const std::string sum = sha256_file(file);
  if (sum == expected) return true;
  throw std::runtime_error(file.string() + ": sha256 " + sum + "; MANIFEST.json says " + expected +
                           ": the file was changed or damaged" + (datasets.empty() ? "" : ": " + damage(file, datasets)));
}

}  // namespace assay
