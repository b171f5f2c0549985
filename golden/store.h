// Golden files (golden/SCHEMA.md): reading, generating and checking what a case holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/generate.h"
#include "golden/hdf5.h"
#include "golden/params.h"

namespace assay {

inline constexpr std::int64_t kGoldenSchema = 1;

// Where the bytes of a generated input come from.
struct GeneratedInput {
  Distribution distribution;
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
  std::string sha256;
};

// Truth or canonical bits: of the whole tensor, or of the elements at `index`.
struct Kept {
  Array values;
  std::vector<std::int64_t> index;  // empty: all
};

struct GoldenCase {
  std::string name;
  std::vector<std::string> tags;
  std::string status = "ok";
  std::string note;
  std::string source;  // where the case's bytes come from, if not from the file's source
  Params params;
  std::map<std::string, Array> inputs;  // generated ones are made and their sha256 checked
  std::map<std::string, GeneratedInput> generated;
  std::map<std::string, Kept> truth;
  std::map<std::string, Kept> canonical;
  std::map<std::string, Array> parts;  // figures on the way to the outputs

  bool has_tag(std::string_view tag) const;
};

class GoldenFile {
 public:
  // Throws Hdf5Error where the file is not one, or of a newer schema.
  explicit GoldenFile(const std::filesystem::path& path, Hdf5Origin origin = Hdf5Origin::stranger);

  const std::filesystem::path& path() const { return file_.path(); }
  const std::string& op() const { return op_; }
  const Attributes& attributes() const { return attributes_; }
  std::vector<std::string> case_names() const { return file_.children("/cases"); }
  GoldenCase read(const std::string& name) const;

 private:
  Hdf5File file_;
  Attributes attributes_;
  std::string op_;
};

// The golden files of a folder: every *.h5 directly in it, or in its ops/ if it has one; sorted by name. Of a file: itself.
// Throws Hdf5Error if there is none.
std::vector<std::filesystem::path> golden_files(const std::filesystem::path& folder);

}  // namespace assay
