#include "harness/interop/import/array_file.h"

#include <algorithm>
#include <numeric>

#include "engine/files/mapped_file.h"
#include "engine/files/safetensors.h"

namespace assay {
namespace {

class Safetensors final : public ArrayFile {
 public:
  explicit Safetensors(const std::filesystem::path& path)
      : file_(map_safetensors(path)), tensors_(parse_safetensors(file_.bytes(), file_.name())) {
    for (const StoredTensor& tensor : tensors_) {
      arrays_.push_back(
          {tensor.name, std::string(dtype_name(tensor.dtype)), tensor.dtype, dtype_size(tensor.dtype), tensor.shape});
    }
  }

  const std::string& name() const override { return file_.name(); }
  const std::vector<ArrayInfo>& arrays() const override { return arrays_; }
  std::vector<std::uint8_t> read(std::size_t index) const override {
    const StoredTensor& tensor = tensors_.at(index);
    return {tensor.bytes.begin(), tensor.bytes.end()};
  }

 private:
  MappedFile file_;
  std::vector<StoredTensor> tensors_;
  std::vector<ArrayInfo> arrays_;
};

}  // namespace

std::int64_t ArrayInfo::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::optional<std::size_t> ArrayFile::find(const std::string& array) const {
  const auto found = std::ranges::find(arrays(), array, &ArrayInfo::name);
  if (found == arrays().end()) return std::nullopt;
  return static_cast<std::size_t>(found - arrays().begin());
}

std::unique_ptr<ArrayFile> open_safetensors(const std::filesystem::path& path) {
  return std::make_unique<Safetensors>(path);
}

}  // namespace assay
