// Which array of a file is which site, in which layout: JSON that whoever wrote the arrays writes beside them (docs/traces.md,
// "Importing").
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/interop/import/array_file.h"
#include "harness/interop/import/foreign_run.h"
#include "harness/interop/import/layout.h"

namespace assay {

// Token ids or positions: given, all (positions alone), or an array of one axis, before which there may be a batch of 1.
struct MappedIds {
  std::optional<std::vector<std::int32_t>> given;
  bool all = false;
  std::string array;
  bool batch = false;
};

struct MappedSite {
  std::string site;
  std::string array;
  std::vector<Axis> layout;
  bool bf16 = false;                                                  // 16-bit integers are the bits of bf16
  std::optional<std::pair<std::int64_t, std::int64_t>> columns = {};  // of flat rows those from the first to before the second
  std::int64_t heads = 0;  // into which a flat row of q_norm, k_norm, q_rope, k_rope is cut; 0: not said
};

struct MappedPrompt {
  std::string name;
  std::string text;
  MappedIds tokens;
  MappedIds positions;
  std::vector<MappedSite> sites;  // in Qwen3's order of execution
};

struct ArrayMap {
  std::filesystem::path file;
  TraceHead head;
  std::vector<MappedPrompt> prompts;
};

// Throws ModelFileError that names the member, also for one that the format does not have.
ArrayMap read_array_map(const std::filesystem::path& path);

// The map's sites out of `arrays`; `kind`: the import's name. Throws ImportError that names file, prompt and array: one that is
// missing, used for two sites of a prompt, of another type or of another shape than the map says.
ForeignRun read_mapped_arrays(const std::shared_ptr<const ArrayFile>& arrays, const ArrayMap& map, const std::string& kind);

}  // namespace assay
