// Zip archives as far as NumPy writes them: members stored or deflated, no encryption, no ZIP64 (PKWARE's APPNOTE.TXT 6.3).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/files/file_error.h"

namespace assay {

struct ZipMember {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;                // of the content
  std::span<const std::uint8_t> packed;  // in the archive
  std::uint64_t offset = 0;              // of those bytes in the archive
};

// The members of an archive, all of whose bytes are given, in the order of the central directory. Names are plain ASCII without
// components that leave a folder, each once; members lie in the archive without overlap. Throws ModelFileError.
std::vector<ZipMember> read_zip(std::span<const std::uint8_t> bytes, const std::string& file);

// The first bytes of a member's content, `count` or as many as there are.
std::vector<std::uint8_t> unpack_start(const ZipMember& member, std::uint64_t count, const std::string& file);
// All of it, its checksum verified.
std::vector<std::uint8_t> unpack(const ZipMember& member, const std::string& file);

}  // namespace assay
