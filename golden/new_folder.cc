#include "golden/new_folder.h"

#include <stdexcept>

#include "golden/atomic_file.h"

namespace assay {

NewFolder::NewFolder(std::filesystem::path path) : path_(std::move(path)) {
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(path_));
  if (there && !(std::filesystem::is_directory(path_) && std::filesystem::is_empty(path_)))
    throw std::invalid_argument(path_.string() + " is there and not empty; expected a new folder");
  made_ = !there;
  std::filesystem::create_directories(path_);
  if (made_) remember_unfinished(path_.c_str());
}

NewFolder::~NewFolder() {
  if (kept_) return;
  forget();
  std::error_code none;
  for (const std::filesystem::path& file : files_) std::filesystem::remove(file, none);
  if (made_) std::filesystem::remove(path_, none);
}

void NewFolder::add(const std::string& name, std::span<const std::string_view> parts) {
  AtomicFile file(path_ / name);
  for (const std::string_view part : parts) file.write_text(part);
  file.commit();
  remember_unfinished(files_.emplace_back(path_ / name).c_str());
}

void NewFolder::forget() noexcept {
  for (const std::filesystem::path& file : files_) forget_unfinished(file.c_str());
  forget_unfinished(path_.c_str());
}

std::vector<std::filesystem::path> NewFolder::keep() {
  kept_ = true;
  forget();
  return {files_.begin(), files_.end()};
}

}  // namespace assay
