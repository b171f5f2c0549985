// What a child says of an HDF5 file, as bytes: fields one after the other, lengths before what has one. Whoever unpacks trusts nothing.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "golden/hdf5.h"

namespace assay {

class Packer {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint64_t>(list.size()));
    for (const T& one : list) put(one);
  }
  void put(const Attributes& attributes) {
    put(static_cast<std::uint64_t>(attributes.size()));
    for (const auto& [name, value] : attributes) {
      put(std::string_view(name));
      put(static_cast<std::uint8_t>(value.index()));
      std::visit([&](const auto& held) { put(held); }, value);
    }
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(const Array& array) {
    put(static_cast<std::uint8_t>(array.dtype));
    put(array.shape);
    put(std::string_view(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Throws Hdf5Error where the bytes end early or say what cannot be.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
    requires std::is_arithmetic_v<T>
  void get(T& value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  void get(bool& value) { value = number<std::uint8_t>() != 0; }
  void get(std::string& text) { text = take(number<std::uint64_t>()); }
  template <class T>
  void get(std::vector<T>& list) {
    const auto count = number<std::uint64_t>();
    if (count > bytes_.size()) fail();  // each takes a byte at least
    list.resize(count);
    for (T& one : list) get(one);
  }
  void get(Attributes& attributes) {
    for (auto left = number<std::uint64_t>(); left > 0; --left) {
      std::string name;
      get(name);
      attributes[name] = value();
    }
  }
  void get(Array& array) {
    const auto dtype = number<std::uint8_t>();
    if (dtype > static_cast<std::uint8_t>(DType::q8_0_x16)) fail();
    array.dtype = static_cast<DType>(dtype);
    get(array.shape);
    std::uint64_t elements = 1;
    for (const std::int64_t dim : array.shape) {
      if (dim < 0 || (dim > 0 && elements > kMaxDatasetElements / static_cast<std::uint64_t>(dim))) fail();
      elements *= static_cast<std::uint64_t>(dim);
    }
    const std::string_view data = take(number<std::uint64_t>());
    if (!data.empty() && data.size() != elements * dtype_size(array.dtype)) fail();
    array.bytes.assign(data.begin(), data.end());
  }

 private:
  [[noreturn]] static void fail() { throw Hdf5Error("the process that reads it gave a garbled answer"); }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) fail();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  template <class T>
  T number() {
    T value{};
    get(value);
    return value;
  }
  ParamValue value() {
    switch (number<std::uint8_t>()) {
      case 0:
        return number<std::int64_t>();
      case 1:
        return number<double>();
      case 2: {
        std::string text;
        get(text);
        return text;
      }
      default:
        fail();
    }
  }

  std::string_view bytes_;
};

}  // namespace assay
