// The header of NumPy's .npy format, versions 1 and 2 (numpy.lib.format).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/files/file_error.h"
#include "harness/interop/import/array_file.h"

namespace assay {

// The longest start of a member in which its header must end.
inline constexpr std::uint64_t kMostNpyHeader = 65536;

struct NpyHeader {
  ArrayInfo array;           // without its name
  std::uint64_t length = 0;  // bytes before the first element
};

// `start`: the first bytes of a member, all of them or kMostNpyHeader. Read are <f2, <f4, <f8, <i4, <i8 and <u2 in C order, of 8
// axes at most and no more than kMaxDatasetElements elements. Throws ModelFileError; byte offsets in it count from the member's
// start, the first of which is `where`'s byte.
NpyHeader parse_npy_header(std::span<const std::uint8_t> start, const Where& where);

}  // namespace assay
