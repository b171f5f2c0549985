// The parts of a tokenizer.json, read in one pass: its two long lists as plain vectors, the rest as JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace assay {

// NOLINTNEXTLINE(bugprone-exception-escape): the JSON's move checks an invariant
struct TokenizerFile {
  nlohmann::json frame;                                      // the whole but model.vocab and model.merges, which are null
  std::vector<std::pair<std::string, std::uint64_t>> words;  // model.vocab: token and id, as they stand
  std::vector<std::string> merges;                           // model.merges: "left right", from that or from ["left", "right"]
  bool has_words = false, has_merges = false;
};

// Throws TokenizerError that names the file and the byte where it is no JSON, or the key or entry: one that is there twice, an
// id that is no number from 0, a merge that is no pair of strings, nesting deeper than 32.
TokenizerFile read_tokenizer_file(const std::filesystem::path& path);

}  // namespace assay
