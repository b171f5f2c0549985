// Reading HDF5: what a golden or a trace never holds is refused, and a file that may be anything is read in a child process, where the
// HDF5 library's faults do no harm. Every failure throws Hdf5Error, which names the file and the object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "golden/dtype.h"
#include "golden/params.h"
#include "golden/printable.h"

namespace assay {

// What a file says stands in it without control characters.
struct Hdf5Error : std::runtime_error {
  explicit Hdf5Error(std::string_view message) : std::runtime_error(printable(message)) {}
};

// A dataset that claims more is refused before anything is allocated, and none is written.
inline constexpr std::uint64_t kMaxDatasetElements = std::uint64_t{1} << 29;

// A dense array as stored: little-endian bytes in row-major order.
struct Array {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  std::int64_t elements() const;
  double number(std::int64_t index) const;  // an element, exact; not of blocks
  std::vector<double> numbers() const;
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

using Attributes = std::map<std::string, ParamValue, std::less<>>;

// Whose file it is. Of a known one the sha256 has been held to our own manifest: the library reads it in this process.
enum class Hdf5Origin : std::uint8_t { stranger, known };

class Hdf5Source;

// A file opened for reading, by one thread at a time. Paths are absolute inside the file ("/cases/tiny/inputs/x").
class Hdf5File {
 public:
  explicit Hdf5File(const std::filesystem::path& path, Hdf5Origin origin = Hdf5Origin::stranger);
  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  Hdf5File& operator=(Hdf5File&&) = delete;
  ~Hdf5File();

  const std::filesystem::path& path() const { return path_; }

  bool exists(const std::string& object) const;
  bool is_group(const std::string& object) const;
  // Names of the links in a group, sorted. A link that is not a hard one is refused.
  std::vector<std::string> children(const std::string& group) const;
  // Scalar attributes: integers, reals, strings. Arrays are left to integer_array().
  Attributes attributes(const std::string& object) const;
  std::vector<std::int64_t> integer_array(const std::string& object, const std::string& attribute) const;
  Array read(const std::string& dataset) const;
  // Shape and type without the data.
  Array describe(const std::string& dataset) const;

 private:
  std::filesystem::path path_;
  std::unique_ptr<Hdf5Source> source_;
};

}  // namespace assay
