// A folder of new files that is whole or not there, also where a signal ends the process.
#pragma once

#include <filesystem>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Made, with its parents, where it is not there. Throws std::invalid_argument for a path that holds anything; each failure to write is
// a std::runtime_error that names the file.
class NewFolder {
 public:
  explicit NewFolder(std::filesystem::path path);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();  // removes its files, and the folder if it was not there, unless they are kept

  // `parts` one behind the other.
  void add(const std::string& name, std::span<const std::string_view> parts);
  void add(const std::string& name, std::string_view text) { add(name, {&text, 1}); }
  // Its files, in the order in which they were added.
  std::vector<std::filesystem::path> keep();

 private:
  void forget() noexcept;

  std::filesystem::path path_;
  bool made_;
  bool kept_ = false;
  std::list<std::filesystem::path> files_;
};

}  // namespace assay
