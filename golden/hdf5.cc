#include "golden/hdf5.h"

#include "golden/hdf5_source.h"

namespace assay {

double Array::number(std::int64_t index) const {
  return element_as_double(dtype, bytes.data() + static_cast<std::size_t>(index) * dtype_size(dtype));
}

std::vector<double> Array::numbers() const {
  std::vector<double> out(static_cast<std::size_t>(elements()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = number(static_cast<std::int64_t>(i));
  return out;
}

std::int64_t Array::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) count *= dim;
  return count;
}

Hdf5File::Hdf5File(const std::filesystem::path& path, Hdf5Origin origin)
    : path_(path), source_(origin == Hdf5Origin::known ? open_hdf5_here(path) : open_hdf5_in_child(path)) {}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept = default;

Hdf5File::~Hdf5File() = default;

bool Hdf5File::exists(const std::string& object) const {
  return source_->exists(object);
}
bool Hdf5File::is_group(const std::string& object) const {
  return source_->is_group(object);
}
std::vector<std::string> Hdf5File::children(const std::string& group) const {
  return source_->children(group);
}
Attributes Hdf5File::attributes(const std::string& object) const {
  return source_->attributes(object);
}
std::vector<std::int64_t> Hdf5File::integer_array(const std::string& object, const std::string& attribute) const {
  return source_->integer_array(object, attribute);
}
Array Hdf5File::describe(const std::string& dataset) const {
  return source_->describe(dataset);
}
Array Hdf5File::read(const std::string& dataset) const {
  return source_->read(dataset);
}

}  // namespace assay
