#include "golden/manifest.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "golden/read_file.h"
#include "golden/sha256.h"

namespace assay {

Manifest::Manifest(std::filesystem::path folder) : folder_(std::move(folder)) {
  const std::filesystem::path path = folder_ / "MANIFEST.json";
  const std::optional<std::string> text = read_file_if_any(path);
  if (!text) return;
  try {
    const nlohmann::json json = nlohmann::json::parse(*text);
    for (const auto& [name, entry] : json.at("files").items()) sums_[name] = entry.at("sha256").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
}

bool Manifest::verify(const std::filesystem::path& file) const {
  const auto entry = sums_.find(std::filesystem::relative(file, folder_).generic_string());
  if (entry == sums_.end()) return false;
  const std::string sum = sha256_file(file);
  if (sum != entry->second) {
    throw std::runtime_error(file.string() + ": sha256 " + sum + "; MANIFEST.json says " + entry->second +
                             ": the file was changed or damaged");
  }
  return true;
}

}  // namespace assay
