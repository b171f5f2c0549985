// Writing HDF5 in the schema's manner (golden/SCHEMA.md): no time stamps, shuffle and deflate alone, and a file that is whole or
// not there. The same calls in the same order give the same bytes. Calls come from one thread at a time: the library has no locks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "golden/atomic_file.h"
#include "golden/hdf5.h"

namespace assay {

class Hdf5Rows;

// A file in the making, a NewFile (golden/atomic_file.h) until commit(). What the library refuses throws Hdf5Error, which names the
// file and the object.
class Hdf5Writer {
 public:
  // The library's format: v108 for goldens, v110 for traces.
  enum class Format : std::uint8_t { v108, v110 };

  Hdf5Writer(const std::filesystem::path& path, Format format);
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  ~Hdf5Writer();

  const std::filesystem::path& path() const { return new_.path(); }

  void make_group(const std::string& group);
  // Text as a string of fixed length, integers and reals in 64 bits.
  void set_attribute(const std::string& object, const std::string& name, const ParamValue& value);
  // A whole dataset; `bytes` dense. bf16 and blocks get their attribute `dtype`.
  void write(const std::string& dataset, DType dtype, const std::vector<std::int64_t>& shape,
             std::span<const std::uint8_t> bytes);
  // A dataset of `rows` rows of `row_shape`, which follow in portions.
  Hdf5Rows rows(const std::string& dataset, DType dtype, std::int64_t rows, const std::vector<std::int64_t>& row_shape);
  // At most once, after all Hdf5Rows are gone; nothing is written after it.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& object, const std::string& what) const;
  std::int64_t create(const std::string& dataset, DType dtype, std::vector<std::int64_t> shape, std::int64_t chunk_rows);

  NewFile new_;
  std::int64_t file_ = -1;  // hid_t
};

// Fills a dataset from its first row to its last. A chunk holds as many rows as fit 64 KiB, one at least; rows wait here until
// theirs is full, so that each chunk is compressed once and no more than one of them is held. Must not outlive its writer.
class Hdf5Rows {
 public:
  Hdf5Rows(Hdf5Rows&& other) noexcept;
  Hdf5Rows(const Hdf5Rows&) = delete;
  Hdf5Rows& operator=(const Hdf5Rows&) = delete;
  Hdf5Rows& operator=(Hdf5Rows&&) = delete;
  ~Hdf5Rows();

  // Whole rows, dense; no more than are missing. Throws Hdf5Error.
  void append(std::span<const std::uint8_t> bytes);

  std::int64_t rows() const { return rows_; }
  std::int64_t missing() const { return rows_ - received_; }
  std::int64_t row_bytes() const { return row_bytes_; }

 private:
  friend class Hdf5Writer;
  Hdf5Rows() = default;
  void write(std::span<const std::uint8_t> bytes);
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;  // "FILE: DATASET"
  std::int64_t dataset_ = -1;
  std::int64_t rows_ = 0;
  std::int64_t row_bytes_ = 0;
  std::int64_t chunk_rows_ = 1;
  std::int64_t received_ = 0;
  std::int64_t written_ = 0;
  std::vector<std::uint8_t> waiting_;
};

// Rows of a chunk: as many as fit 64 KiB, no more than there are, one at least.
std::int64_t chunk_rows(std::int64_t rows, std::int64_t row_bytes);

}  // namespace assay
