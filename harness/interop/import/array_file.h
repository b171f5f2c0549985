// Files of named arrays that an engine of any kind may have written: NumPy's .npz, safetensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "golden/dtype.h"

namespace assay {

struct ArrayInfo {
  std::string name;
  std::string type;            // as the file calls it: "<f4", "BF16"
  std::optional<DType> dtype;  // none: 16-bit integers, which may be the bits of bf16
  std::size_t element = 0;     // bytes
  std::vector<std::int64_t> shape;

  std::int64_t elements() const;
};

// Opened and checked as a whole; values are read one array at a time.
class ArrayFile {
 public:
  ArrayFile() = default;
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;
  virtual ~ArrayFile() = default;

  virtual const std::string& name() const = 0;
  virtual const std::vector<ArrayInfo>& arrays() const = 0;
  // The values, dense, little-endian, in row-major order. Throws ModelFileError.
  virtual std::vector<std::uint8_t> read(std::size_t index) const = 0;

  std::optional<std::size_t> find(const std::string& array) const;
};

// Both throw ModelFileError that names file, byte and array.
std::unique_ptr<ArrayFile> open_npz(const std::filesystem::path& path);
std::unique_ptr<ArrayFile> open_safetensors(const std::filesystem::path& path);

}  // namespace assay
