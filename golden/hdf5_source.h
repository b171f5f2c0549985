// What answers for an Hdf5File: the library in this process, or a child that holds the file. For golden/*.cc alone.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "golden/hdf5.h"

namespace assay {

// The questions of Hdf5File; an Hdf5Error names the file and the object.
class Hdf5Source {
 public:
  Hdf5Source() = default;
  Hdf5Source(const Hdf5Source&) = delete;
  Hdf5Source& operator=(const Hdf5Source&) = delete;
  virtual ~Hdf5Source() = default;

  virtual bool exists(const std::string& object) = 0;
  virtual bool is_group(const std::string& object) = 0;
  virtual std::vector<std::string> children(const std::string& group) = 0;
  virtual Attributes attributes(const std::string& object) = 0;
  virtual std::vector<std::int64_t> integer_array(const std::string& object, const std::string& attribute) = 0;
  virtual Array describe(const std::string& dataset) = 0;
  virtual Array read(const std::string& dataset) = 0;
};

std::unique_ptr<Hdf5Source> open_hdf5_here(const std::filesystem::path& path);
// The library runs in a child process, one for each file, which ends with the source. A child that dies, or from which no byte comes
// for so long, is an Hdf5Error, for that question and every later one.
std::unique_ptr<Hdf5Source> open_hdf5_in_child(const std::filesystem::path& path,
                                               std::chrono::milliseconds patience = std::chrono::minutes(1));

}  // namespace assay
