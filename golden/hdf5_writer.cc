#include "golden/hdf5_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "golden/hdf5_handle.h"
#include "golden/output_rule.h"

namespace assay {
namespace {

using Handle = Hdf5Handle;

constexpr std::int64_t kChunkBytes = 64 << 10;
constexpr std::int64_t kUnfiltered = 256;  // bytes: up to here a filter saves nothing
constexpr unsigned kDeflateLevel = 1;      // mantissas hardly shrink: level 6 takes 1.6 times as long for 1 % less

hid_t file_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return H5Tcopy(H5T_IEEE_F32LE);
    case DType::f64:
      return H5Tcopy(H5T_IEEE_F64LE);
    case DType::f16:
      return hdf5_half_type();
    case DType::bf16:
      return H5Tcopy(H5T_STD_U16LE);
    case DType::i32:
      return H5Tcopy(H5T_STD_I32LE);
    case DType::i64:
      return H5Tcopy(H5T_STD_I64LE);
    default:
      return H5Tcopy(H5T_STD_U8LE);  // bytes, and blocks by their attribute
  }
}

hid_t text_type(std::size_t size) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, std::max<std::size_t>(size, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

bool write_attribute(hid_t object, const std::string& name, const ParamValue& value) {
  const Handle space(H5Screate(H5S_SCALAR));
  const auto* text = std::get_if<std::string>(&value);
  const bool integer = std::holds_alternative<std::int64_t>(value);
  const Handle type(text != nullptr ? text_type(text->size()) : H5Tcopy(integer ? H5T_STD_I64LE : H5T_IEEE_F64LE));
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  if (attribute < 0) return false;
  const void* bytes = text != nullptr ? static_cast<const void*>(text->c_str())
                      : integer       ? static_cast<const void*>(&std::get<std::int64_t>(value))
                                      : static_cast<const void*>(&std::get<double>(value));
  return H5Awrite(attribute, type, bytes) >= 0;
}

std::int64_t bytes_of(DType dtype, const std::vector<std::int64_t>& shape) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  for (const std::int64_t dim : shape) bytes *= dim;
  return bytes;
}

// What the system said last, where it said anything.
std::string reason() {
  return errno == 0 ? "" : ": " + std::generic_category().message(errno);
}

}  // namespace

std::int64_t chunk_rows(std::int64_t rows, std::int64_t row_bytes) {
  return std::clamp<std::int64_t>(kChunkBytes / std::max<std::int64_t>(row_bytes, 1), 1, std::max<std::int64_t>(rows, 1));
}

Hdf5Writer::Hdf5Writer(const std::filesystem::path& path, Format format) : new_(path, kHdf5File) {
  initialise_hdf5();
  const Handle creation(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(creation, false);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  const H5F_libver_t version = format == Format::v108 ? H5F_LIBVER_V18 : H5F_LIBVER_V110;
  H5Pset_libver_bounds(access, version, version);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_file_locking(access, false, true);  // it is locked
  errno = 0;
  file_ = H5Fcreate(new_.temporary().c_str(), H5F_ACC_TRUNC, creation, access);
  if (file_ < 0) fail("/", "cannot be created" + reason());
}

Hdf5Writer::~Hdf5Writer() {
  if (file_ < 0) return;
  // Where the disk is full, closing finds the room that the data leaves.
  static_cast<void>(ftruncate(new_.descriptor(), 0));
  H5Fclose(file_);
}

void Hdf5Writer::fail(const std::string& object, const std::string& what) const {
  throw Hdf5Error(path().string() + ": " + object + ": " + what);
}

void Hdf5Writer::make_group(const std::string& group) {
  errno = 0;
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(creation, false);
  const Handle id(H5Gcreate2(file_, group.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT));
  if (id < 0) fail(group, "group cannot be made" + reason());
}

void Hdf5Writer::set_attribute(const std::string& object, const std::string& name, const ParamValue& value) {
  errno = 0;
  const Handle id(H5Oopen(file_, object.c_str(), H5P_DEFAULT));
  if (id < 0 || !write_attribute(id, name, value)) fail(object, "attribute '" + name + "' cannot be written");
}

std::int64_t Hdf5Writer::create(const std::string& dataset, DType dtype, std::vector<std::int64_t> shape, std::int64_t rows) {
  errno = 0;
  const bool filtered = bytes_of(dtype, shape) > kUnfiltered;
  if (is_block(dtype)) shape.push_back(static_cast<std::int64_t>(dtype_size(dtype)));
  std::uint64_t elements = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 0 || (dim > 0 && elements > kMaxDatasetElements / static_cast<std::uint64_t>(dim))) {
      fail(dataset, "a dataset may have 2^29 elements, no more");
    }
    elements *= static_cast<std::uint64_t>(dim);
  }
  std::vector<hsize_t> dims(shape.begin(), shape.end());
  const Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(creation, false);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  if (filtered) {
    dims.front() = static_cast<hsize_t>(rows);
    H5Pset_chunk(creation, static_cast<int>(dims.size()), dims.data());
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, kDeflateLevel);
  }
  // Chunks come whole: nothing is gained by the library keeping them too.
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS));
  H5Pset_chunk_cache(access, 0, 0, 1);
  Handle id(H5Dcreate2(file_, dataset.c_str(), Handle(file_type(dtype)), space, H5P_DEFAULT, creation, access));
  if (id < 0) fail(dataset, "dataset cannot be made" + reason());
  const std::string mark = dtype == DType::bf16 ? "bfloat16" : is_block(dtype) ? std::string(dtype_name(dtype)) : "";
  if (!mark.empty() && !write_attribute(id, "dtype", mark)) fail(dataset, "attribute 'dtype' cannot be written" + reason());
  return id.release();
}

void Hdf5Writer::write(const std::string& dataset, DType dtype, const std::vector<std::int64_t>& shape,
                       std::span<const std::uint8_t> bytes) {
  if (std::ssize(bytes) != bytes_of(dtype, shape)) fail(dataset, "bytes and shape do not agree");
  const std::int64_t rows = shape.empty() ? 1 : shape.front();
  Handle id(create(dataset, dtype, shape, chunk_rows(rows, rows == 0 ? 1 : std::ssize(bytes) / rows)));
  bool written = bytes.empty() || H5Dwrite(id, Handle(H5Dget_type(id)), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
  // A small one waits in the library until it is closed, and a failure then is told once.
  written = H5Dclose(id.release()) >= 0 && written;
  if (!written) fail(dataset, "cannot be written" + reason());
}

Hdf5Rows Hdf5Writer::rows(const std::string& dataset, DType dtype, std::int64_t rows,
                          const std::vector<std::int64_t>& row_shape) {
  Hdf5Rows out;
  out.name_ = path().string() + ": " + dataset;
  out.rows_ = rows;
  out.row_bytes_ = bytes_of(dtype, row_shape);
  if (rows < 1 || out.row_bytes_ < 1) fail(dataset, "rows of nothing");
  out.chunk_rows_ = chunk_rows(rows, out.row_bytes_);
  std::vector<std::int64_t> shape{rows};
  shape.insert(shape.end(), row_shape.begin(), row_shape.end());
  out.dataset_ = create(dataset, dtype, shape, out.chunk_rows_);
  out.waiting_.reserve(static_cast<std::size_t>(out.chunk_rows_ * out.row_bytes_));
  return out;
}

void Hdf5Writer::commit() {
  errno = 0;
  if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) fail("/", "cannot be written" + reason());
  if (H5Fclose(std::exchange(file_, -1)) < 0) fail("/", "cannot be closed" + reason());
  new_.commit();
}

Hdf5Rows::Hdf5Rows(Hdf5Rows&& other) noexcept
    : name_(std::move(other.name_)),
      dataset_(std::exchange(other.dataset_, -1)),
      rows_(other.rows_),
      row_bytes_(other.row_bytes_),
      chunk_rows_(other.chunk_rows_),
      received_(other.received_),
      written_(other.written_),
      waiting_(std::move(other.waiting_)) {}

Hdf5Rows::~Hdf5Rows() {
  if (dataset_ >= 0) H5Idec_ref(dataset_);
}

void Hdf5Rows::fail(const std::string& what) const {
  throw Hdf5Error(name_ + ": " + what);
}

void Hdf5Rows::append(std::span<const std::uint8_t> bytes) {
  errno = 0;
  const std::int64_t count = std::ssize(bytes) / row_bytes_;
  if (count * row_bytes_ != std::ssize(bytes)) {
    fail(std::to_string(bytes.size()) + " bytes; a row has " + std::to_string(row_bytes_));
  }
  if (count > missing()) {
    fail(std::to_string(received_ + count) + " rows; " + std::to_string(rows_) + " were declared");
  }
  received_ += count;
  while (!bytes.empty()) {
    // The last chunk may hold fewer rows.
    const auto chunk = static_cast<std::size_t>(std::min(chunk_rows_, rows_ - written_) * row_bytes_);
    if (waiting_.empty() && bytes.size() >= chunk) {
      write(bytes.first(chunk));
      bytes = bytes.subspan(chunk);
      continue;
    }
    const std::size_t taken = std::min(chunk - waiting_.size(), bytes.size());
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    bytes = bytes.subspan(taken);
    if (waiting_.size() < chunk) continue;
    write(waiting_);
    waiting_.clear();
  }
  if (written_ < rows_ || dataset_ < 0) return;
  if (H5Idec_ref(std::exchange(dataset_, -1)) < 0) fail("cannot be written" + reason());
}

// Rows from the first that was not written on.
void Hdf5Rows::write(std::span<const std::uint8_t> bytes) {
  const std::int64_t count = std::ssize(bytes) / row_bytes_;
  const Handle file(H5Dget_space(dataset_));
  std::vector<hsize_t> size(static_cast<std::size_t>(H5Sget_simple_extent_ndims(file)));
  H5Sget_simple_extent_dims(file, size.data(), nullptr);
  size.front() = static_cast<hsize_t>(count);
  std::vector<hsize_t> start(size.size(), 0);
  start.front() = static_cast<hsize_t>(written_);
  H5Sselect_hyperslab(file, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
  const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr));
  if (H5Dwrite(dataset_, Handle(H5Dget_type(dataset_)), memory, file, H5P_DEFAULT, bytes.data()) < 0)
    fail("cannot be written" + reason());
  written_ += count;
}

}  // namespace assay
