#include "harness/interop/import/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/files/byte_reader.h"

namespace assay {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint64_t kLocalSize = 30;
constexpr std::uint64_t kCentralSize = 46;
constexpr std::uint64_t kEndSize = 22;
constexpr std::uint64_t kMostComment = 65535;
constexpr std::uint32_t kZip64 = 0xffffffff;  // the value is in a ZIP64 field
constexpr std::uint16_t kZip64Count = 0xffff;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
// Level of compression (bits 1, 2), sizes after the data (3), names in UTF-8 (11). The others encrypt, patch or hide.
constexpr std::uint16_t kKnownFlags = 0x080e;
constexpr std::uint16_t kSizesFollow = 0x0008;
constexpr std::uint64_t kMostExpansion = 1032;  // of deflate: 258 bytes from two bits

struct End {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  std::uint64_t directory = 0;
};

struct Central {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t local = 0;
  std::uint64_t end = 0;  // of the member's bytes
  ZipMember member;
};

[[noreturn]] void refuse_zip64(const ByteReader& in, std::uint64_t at, std::string_view subject) {
  in.fail_at(at, Fault::version, subject, "ZIP64, for archives of 4 GiB and more, is not read; write safetensors instead");
}

// The record at the archive's end, behind which stands its comment alone.
std::uint64_t find_end(std::span<const std::uint8_t> bytes, const std::string& file) {
  const std::uint64_t size = bytes.size();
  for (std::uint64_t comment = 0; comment <= kMostComment && comment + kEndSize <= size; ++comment) {
    const std::uint64_t at = size - kEndSize - comment;
    std::uint32_t signature = 0;
    std::uint16_t length = 0;
    std::memcpy(&signature, bytes.data() + at, sizeof signature);
    std::memcpy(&length, bytes.data() + at + kEndSize - sizeof length, sizeof length);
    if (signature == kEnd && length == comment) return at;
  }
  throw ModelFileError(Fault::magic, {file, size, "end record"}, "no zip archive, or a truncated one");
}

End read_end(std::span<const std::uint8_t> bytes, const std::string& file) {
  constexpr std::string_view kSubject = "end record";
  End end{find_end(bytes, file), 0, 0};
  ByteReader in(bytes, file);
  in.take(end.offset + 4, kSubject);
  const auto disk = in.read<std::uint16_t>(kSubject);
  const auto directory_disk = in.read<std::uint16_t>(kSubject);
  const auto here = in.read<std::uint16_t>(kSubject);
  const auto count = in.read<std::uint16_t>(kSubject);
  const auto size = in.read<std::uint32_t>(kSubject);
  const auto offset = in.read<std::uint32_t>(kSubject);
  if (here == kZip64Count || count == kZip64Count || size == kZip64 || offset == kZip64) refuse_zip64(in, end.offset, kSubject);
  if (disk != 0 || directory_disk != 0 || here != count) {
    in.fail_at(end.offset, Fault::version, kSubject, "an archive in several parts");
  }
  if (count == 0) in.fail_at(end.offset, Fault::count, kSubject, "an archive without members");
  if (std::uint64_t{offset} + size != end.offset) {
    in.fail_at(
        end.offset, Fault::size_mismatch, kSubject,
        "a directory of " + std::to_string(size) + " bytes from byte " + std::to_string(offset) + "; expected it to end here");
  }
  if (count * kCentralSize > size) {
    in.fail_at(end.offset, Fault::count, kSubject,
               std::to_string(count) + " members in a directory of " + std::to_string(size) + " bytes");
  }
  end.count = count;
  end.directory = offset;
  return end;
}

// Printable ASCII, components that are no way out of a folder.
bool is_plain(std::string_view name) {
  const bool printable = std::ranges::all_of(name, [](char c) { return c >= 0x20 && c < 0x7f && c != '\\'; });
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return printable;
}

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Central read_central(ByteReader& in) {
  constexpr std::string_view kSubject = "directory";
  const std::uint64_t start = in.offset();
  Central out;
  if (in.read<std::uint32_t>(kSubject) != kCentralHeader) in.fail_at(start, Fault::magic, kSubject, "no entry of a directory");
  in.take(4, kSubject);  // versions
  out.flags = in.read<std::uint16_t>(kSubject);
  out.method = in.read<std::uint16_t>(kSubject);
  in.take(4, kSubject);  // time
  out.member.crc = in.read<std::uint32_t>(kSubject);
  out.packed_size = in.read<std::uint32_t>(kSubject);
  out.member.size = in.read<std::uint32_t>(kSubject);
  const auto name_length = in.read<std::uint16_t>(kSubject);
  const auto extra_length = in.read<std::uint16_t>(kSubject);
  const auto comment_length = in.read<std::uint16_t>(kSubject);
  const auto disk = in.read<std::uint16_t>(kSubject);
  in.take(6, kSubject);  // attributes
  out.local = in.read<std::uint32_t>(kSubject);
  out.member.name = text_of(in.take(name_length, kSubject));
  in.take(extra_length, kSubject);
  in.take(comment_length, kSubject);
  const std::string subject = "member " + shown(out.member.name);
  const auto fail = [&](Fault fault, const std::string& why) { in.fail_at(start, fault, subject, why); };
  if (!is_plain(out.member.name)) fail(Fault::name, "expected printable ASCII and no component that is empty, '.' or '..'");
  if (out.packed_size == kZip64 || out.member.size == kZip64 || out.local == kZip64) refuse_zip64(in, start, subject);
  if (disk != 0) fail(Fault::version, "an archive in several parts");
  if ((out.flags & ~kKnownFlags) != 0) fail(Fault::feature, "encrypted, or of another kind that is not read");
  if (out.method != kStored && out.method != kDeflated) {
    fail(Fault::feature, "compression method " + std::to_string(out.method) + "; expected stored (0) or deflated (8)");
  }
  out.member.deflated = out.method == kDeflated;
  if (!out.member.deflated && out.packed_size != out.member.size) {
    fail(Fault::size_mismatch,
         "stored, but " + std::to_string(out.packed_size) + " bytes hold " + std::to_string(out.member.size));
  }
  if (out.member.size > out.packed_size * kMostExpansion) {
    fail(Fault::count,
         std::to_string(out.member.size) + " bytes in " + std::to_string(out.packed_size) + ": more than deflate can");
  }
  return out;
}

// Finds the member's bytes behind its local header, which must say what the directory says.
void locate(Central& entry, std::span<const std::uint8_t> bytes, std::uint64_t directory, const std::string& file) {
  const std::string subject = "member " + shown(entry.member.name);
  ByteReader in(bytes.first(directory), file);
  if (entry.local + kLocalSize > directory) {
    in.fail_at(entry.local, Fault::outside_file, subject,
               "it begins at or beyond the directory, byte " + std::to_string(directory));
  }
  in.take(entry.local, subject);
  const auto signature = in.read<std::uint32_t>(subject);
  in.take(2, subject);
  const auto flags = in.read<std::uint16_t>(subject);
  const auto method = in.read<std::uint16_t>(subject);
  in.take(4, subject);
  const auto crc = in.read<std::uint32_t>(subject);
  const auto packed_size = in.read<std::uint32_t>(subject);
  const auto size = in.read<std::uint32_t>(subject);
  const auto name_length = in.read<std::uint16_t>(subject);
  const auto extra_length = in.read<std::uint16_t>(subject);
  const std::string_view name = text_of(in.take(name_length, subject));
  in.take(extra_length, subject);
  if (signature != kLocalHeader) in.fail_at(entry.local, Fault::magic, subject, "no header of a member");
  // NumPy leaves room for ZIP64 sizes, and then writes them into the directory in 32 bits all the same.
  const bool sizes_agree =
      (flags & kSizesFollow) != 0 || (crc == entry.member.crc && (packed_size == kZip64 || packed_size == entry.packed_size) &&
                                      (size == kZip64 || size == entry.member.size));
  if (flags != entry.flags || method != entry.method || name != entry.member.name || !sizes_agree) {
    in.fail_at(entry.local, Fault::member, subject, "its header and the directory disagree");
  }
  entry.member.offset = in.offset();
  entry.member.packed = in.take(entry.packed_size, subject);
  entry.end = in.offset();
}

void check_overlap(std::vector<Central> entries, const std::string& file) {
  std::ranges::sort(entries, {}, &Central::local);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].local >= entries[i - 1].end) continue;
    throw ModelFileError(
        Fault::overlap, {file, entries[i].local, "member " + shown(entries[i].member.name)},
        "it begins before " + shown(entries[i - 1].member.name) + " ends, byte " + std::to_string(entries[i - 1].end));
  }
}

// zlib's stream over a member's bytes; ends with the object.
class Inflater {
 public:
  explicit Inflater(std::span<const std::uint8_t> packed) {
    stream_.next_in = const_cast<std::uint8_t*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());  // below 4 GiB: no ZIP64
    good_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // Fills `out`; whether that went well.
  bool fill(std::span<std::uint8_t> out) {
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = good_ ? inflate(&stream_, Z_SYNC_FLUSH) : Z_STREAM_ERROR;
    ended_ = result == Z_STREAM_END;
    return (result == Z_OK || ended_) && stream_.avail_out == 0;
  }
  // Whether content and packed bytes end together. The end may need one more call, which has room for nothing.
  bool at_end() {
    if (!ended_) {
      std::uint8_t none = 0;
      stream_.next_out = &none;
      stream_.avail_out = 0;
      ended_ = inflate(&stream_, Z_SYNC_FLUSH) == Z_STREAM_END;
    }
    return ended_ && stream_.avail_in == 0;
  }

 private:
  z_stream stream_{};
  bool good_ = false;
  bool ended_ = false;
};

std::vector<std::uint8_t> unpack_bytes(const ZipMember& member, std::uint64_t count, const std::string& file) {
  if (!member.deflated) return {member.packed.begin(), member.packed.begin() + static_cast<std::ptrdiff_t>(count)};
  std::vector<std::uint8_t> out(count);
  Inflater inflater(member.packed);
  const bool whole = count == member.size;
  if (!inflater.fill(out) || (whole && !inflater.at_end())) {
    throw ModelFileError(Fault::damaged, {file, member.offset, "member " + shown(member.name)},
                         "its bytes do not unpack to " + std::to_string(member.size));
  }
  return out;
}

}  // namespace

std::vector<ZipMember> read_zip(std::span<const std::uint8_t> bytes, const std::string& file) {
  const End end = read_end(bytes, file);
  ByteReader in(bytes.first(end.offset), file);
  in.take(end.directory, "directory");
  std::vector<Central> entries;
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < end.count; ++i) {
    const std::uint64_t at = in.offset();
    Central entry = read_central(in);
    const std::string& name = entry.member.name;
    if (!names.insert(name).second) in.fail_at(at, Fault::duplicate, "member " + shown(name), "it is there twice");
    locate(entry, bytes, end.directory, file);
    entries.push_back(std::move(entry));
  }
  if (in.remaining() != 0)
    in.fail(Fault::trailing_bytes, "directory", std::to_string(in.remaining()) + " bytes behind its entries");
  check_overlap(entries, file);
  std::vector<ZipMember> members;
  for (Central& entry : entries) members.push_back(std::move(entry.member));
  return members;
}

std::vector<std::uint8_t> unpack_start(const ZipMember& member, std::uint64_t count, const std::string& file) {
  return unpack_bytes(member, std::min(count, member.size), file);
}

std::vector<std::uint8_t> unpack(const ZipMember& member, const std::string& file) {
  std::vector<std::uint8_t> out = unpack_bytes(member, member.size, file);
  if (crc32_z(0, out.data(), out.size()) != member.crc) {
    throw ModelFileError(Fault::damaged, {file, member.offset, "member " + shown(member.name)}, "its checksum is another");
  }
  return out;
}

}  // namespace assay
