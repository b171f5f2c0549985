// Model files that are wrong in one way each, made from a small right one. Deterministic: the same bytes on every machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/files/file_error.h"
#include "tests/malformed/bytes.h"

namespace assay::malformed {

struct Case {
  std::string name;                    // unique, fit for a folder: "gguf-array-count-u64-wraps-to-zero"
  std::string mechanism;               // what it would break in a careless loader, with the CVE where one is known
  std::map<std::string, Bytes> files;  // "model.gguf" alone, or a Hugging Face folder
  Fault fault;                         // how the loader must refuse it
  std::string file;                    // which of the files its message names
  std::string mentions;                // what else the message holds: "byte 8", "key 'x'", "tensor 'y'"
};

// All of them.
std::vector<Case> all_cases();
// The right ones that they were made from, which load: a GGUF file, a folder, a folder of shards. Their fault means nothing.
std::vector<Case> right_files();

// The families.
void add_gguf_header_cases(std::vector<Case>& cases);
void add_gguf_metadata_cases(std::vector<Case>& cases);
void add_gguf_tensor_cases(std::vector<Case>& cases);
void add_gguf_model_cases(std::vector<Case>& cases);
void add_gguf_vocabulary_cases(std::vector<Case>& cases);
void add_safetensors_cases(std::vector<Case>& cases);
void add_index_cases(std::vector<Case>& cases);
void add_config_cases(std::vector<Case>& cases);

}  // namespace assay::malformed
