// Zip archives and .npy members byte by byte, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// "\x93NUMPY", version, header and `data`.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data, int version = 1);
// The same with the dictionary as it stands here.
std::string npy_with(const std::string& dictionary, const std::string& data, int version = 1);

// A member; what is given here beside name and content takes the place of what would be right.
struct ZipEntry {
  std::string name = {};
  std::string content = {};
  bool deflated = false;
  std::uint16_t flags = 0;
  std::optional<std::uint16_t> method = {};
  std::optional<std::uint32_t> crc = {};
  std::optional<std::uint32_t> size = {};         // of the content, in directory and header
  std::optional<std::uint32_t> packed_size = {};  // in directory and header
  std::optional<std::uint32_t> offset = {};       // of the header, in the directory
  std::optional<std::string> local_name = {};
  bool zip64_header = false;  // sizes in a ZIP64 field of the header, as NumPy leaves room for
};

struct ZipEnd {
  std::optional<std::uint16_t> count = {};
  std::optional<std::uint32_t> size = {};
  std::optional<std::uint32_t> offset = {};
  std::uint16_t disk = 0;
  std::string comment = {};
  std::string before_end = {};  // bytes between directory and end record, counted to the directory
};

std::string zip_image(const std::vector<ZipEntry>& entries, const ZipEnd& end = {});

void write_bytes(const std::filesystem::path& path, const std::string& bytes);

}  // namespace assay
