// What may be wrong with a model file, and the one exception that says so.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay {

// Every refusal of a loader has one of these names; messages end with it in brackets, tests and scripts go by it.
enum class Fault : std::uint8_t {
  // Any file.
  unreadable,    // no such file, no regular file, no permission
  truncated,     // the bytes end before what they announce
  count,         // more elements announced than the remaining bytes can hold
  overflow,      // a product or a sum of sizes leaves 64 bits
  outside_file,  // a tensor's bytes end beyond the file
  overlap,       // a tensor's bytes begin before the preceding one ends
  hole,          // bytes between two tensors that belong to none
  misaligned,    // a tensor's bytes do not begin where its type or the file's alignment asks
  name,          // an empty, overlong or unprintable key or tensor name
  duplicate,     // a key, member or tensor twice
  tensor_type,   // an element type that is unknown or that no kernel reads
  dimensions,    // number of dimensions, or one that is zero
  // GGUF.
  magic,
  big_endian,
  version,
  value_type,  // a metadata type that does not exist
  nested_array,
  boolean,      // neither 0 nor 1
  alignment,    // general.alignment: no power of two, too small or too large
  block_shape,  // rows that are no whole number of blocks
  // safetensors and JSON.
  header_length,
  header_start,   // the header does not begin with '{'
  json,           // no JSON, or no UTF-8
  json_limit,     // nested too deeply, or too many values
  member,         // a member is missing, unknown, or of another type
  size_mismatch,  // the extent of a tensor is not its number of elements times their size
  trailing_bytes,
  shard_name,  // a shard that is no plain file name
  weight_map,  // the index and the shards disagree
  // The model.
  missing_key,
  key_type,
  key_value,
  architecture,
  feature,  // a feature that the engine does not compute
  missing_tensor,
  unexpected_tensor,
  tensor_shape,
  vocabulary,  // tokens, their types, merges or special ids that do not fit together
  value,       // a weight that is NaN, infinite, or beyond what the type it is to be stored in holds
  // Archives of arrays.
  damaged,  // compressed bytes that do not unpack, or a checksum that is not theirs
};

std::string_view fault_name(Fault fault) noexcept;

// Where it is: the file, and as far as they are known the byte and the key or tensor ("tensor 'blk.0.attn_q.weight'").
struct Where {
  std::string file;
  std::optional<std::uint64_t> offset;
  std::string subject;
};

class ModelFileError : public std::runtime_error {
 public:
  // Message: FILE: byte OFFSET: SUBJECT: why [fault-name].
  ModelFileError(Fault fault, const Where& where, std::string_view why);
  Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

// Text from a file, fit for a terminal: in single quotes, unprintable bytes as \xNN, at most 80 bytes of it.
std::string shown(std::string_view text);

}  // namespace assay
