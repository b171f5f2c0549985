#include "tests/zip_image.h"

#include <zlib.h>

#include <fstream>
#include <stdexcept>

namespace assay {
namespace {

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
}

std::string deflated(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("deflate");
  return out;
}

// Flags to sizes: the fields that header and directory share.
void put_common(std::string& out, const ZipEntry& entry, const std::string& packed, bool sizes) {
  put<std::uint16_t>(out, entry.flags);
  put<std::uint16_t>(out, entry.method.value_or(entry.deflated ? 8 : 0));
  put<std::uint32_t>(out, 0x00210000);  // 1980-01-01
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()), static_cast<uInt>(entry.content.size()));
  put<std::uint32_t>(out, entry.crc.value_or(static_cast<std::uint32_t>(crc)));
  put<std::uint32_t>(out, sizes ? entry.packed_size.value_or(static_cast<std::uint32_t>(packed.size())) : 0xffffffff);
  put<std::uint32_t>(out, sizes ? entry.size.value_or(static_cast<std::uint32_t>(entry.content.size())) : 0xffffffff);
}

}  // namespace

std::string npy_with(const std::string& dictionary, const std::string& data, int version) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  const std::string header = dictionary + "   \n";
  if (version == 1) put<std::uint16_t>(out, static_cast<std::uint16_t>(header.size()));
  if (version != 1) put<std::uint32_t>(out, static_cast<std::uint32_t>(header.size()));
  return out + header + data;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data, int version) {
  return npy_with("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }", data, version);
}

std::string zip_image(const std::vector<ZipEntry>& entries, const ZipEnd& end) {
  std::string out;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const auto offset = static_cast<std::uint32_t>(out.size());
    const std::string packed = entry.deflated ? deflated(entry.content) : entry.content;
    const std::string local_name = entry.local_name.value_or(entry.name);
    put<std::uint32_t>(out, 0x04034b50);
    put<std::uint16_t>(out, 20);
    put_common(out, entry, packed, !entry.zip64_header);
    put<std::uint16_t>(out, static_cast<std::uint16_t>(local_name.size()));
    put<std::uint16_t>(out, entry.zip64_header ? 20 : 0);
    out += local_name;
    if (entry.zip64_header) {
      put<std::uint16_t>(out, 1);
      put<std::uint16_t>(out, 16);
      put<std::uint64_t>(out, entry.content.size());
      put<std::uint64_t>(out, packed.size());
    }
    out += packed;

    put<std::uint32_t>(directory, 0x02014b50);
    put<std::uint32_t>(directory, 20 << 16 | 20);
    put_common(directory, entry, packed, true);
    put<std::uint16_t>(directory, static_cast<std::uint16_t>(entry.name.size()));
    for (int i = 0; i < 3; ++i) put<std::uint16_t>(directory, 0);  // extra, comment, disk
    directory.append(6, '\0');
    put<std::uint32_t>(directory, entry.offset.value_or(offset));
    directory += entry.name;
  }
  directory += end.before_end;
  const auto offset = static_cast<std::uint32_t>(out.size());
  out += directory;
  put<std::uint32_t>(out, 0x06054b50);
  put<std::uint16_t>(out, end.disk);
  put<std::uint16_t>(out, 0);
  for (int i = 0; i < 2; ++i) put<std::uint16_t>(out, end.count.value_or(static_cast<std::uint16_t>(entries.size())));
  put<std::uint32_t>(out, end.size.value_or(static_cast<std::uint32_t>(directory.size())));
  put<std::uint32_t>(out, end.offset.value_or(offset));
  put<std::uint16_t>(out, static_cast<std::uint16_t>(end.comment.size()));
  return out + end.comment;
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace assay
