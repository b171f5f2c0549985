#include "golden/new_folder.h"

#include <stdexcept>
#include <system_error>

#include "golden/atomic_file.h"

namespace assay {

NewFolder::NewFolder(std::filesystem::path path) : path_(std::move(path)) {
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(path_));
  if (there && !(std::filesystem::is_directory(path_) && std::filesystem::is_empty(path_)))
    throw std::invalid_argument(path_.string() + " is there and not empty; expected a new folder");
  made_ = !there;
  if (made_) remember_unfinished(path_.c_str());  // before it is there: a signal may come right after
  std::error_code failed;
  std::filesystem::create_directories(path_, failed);
  if (!failed) return;
  forget();
  throw std::filesystem::filesystem_error("create_directories", path_, failed);
}

NewFolder::~NewFolder() {
  if (kept_) return;
  forget();
  std::error_code none;
  for (const std::filesystem::path& file : files_) std::filesystem::remove(file, none);
  if (made_) std::filesystem::remove(path_, none);
}

void NewFolder::add(const std::string& name, std::span<const std::string_view> parts) {
  const std::filesystem::path& whole = files_.emplace_back(path_ / name);
  remember_unfinished(whole.c_str());
  AtomicFile file(whole);
  for (const std::string_view part : parts) file.write_text(part);
  file.commit();
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
