// What becomes of a process that reads a page of a mapped file which the file no longer has, or which its disk does not give.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace assay {

// From now on SIGBUS inside a mapped file removes unfinished files (golden/atomic_file.h), prints "assay: FILE: byte N: ..." to
// standard error and exits with status 2; any other ends the process as ever.
void report_lost_pages();

// For MappedFile: which bytes are whose. More than 64 at a time are not named; a name's first 1023 bytes are kept.
void remember_mapping(std::span<const std::uint8_t> bytes, std::string_view file);
void forget_mapping(std::span<const std::uint8_t> bytes);

}  // namespace assay
