// Traces for the tests of `assay diff`: copies of golden/traces made wrong at one place.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "golden/trace_writer.h"
#include "harness/forensics/diff/diff.h"
#include "tests/attribute_support.h"

namespace assay {

// Of a copy: `prompts` alone (all if empty); `change` sees each site's values and may alter them, shape and type too, or return false
// to leave the site out.
using ChangeSite = std::function<bool(const std::string& site, Array& values)>;
void copy_trace(const std::filesystem::path& from, const std::filesystem::path& to, const std::vector<std::string>& prompts,
                const ChangeSite& change);

// Multiplies each of f32's values by 1 + relative * u, u in (-1, 1), the same in every run; with `row`, that row's alone.
void disturb(Array& values, double relative, std::int64_t row = -1);

// A site and all that come after it in a trace's order of execution.
class From {
 public:
  From(const std::filesystem::path& trace, const std::string& prompt, const std::string& site);
  bool operator()(const std::string& site) const;

 private:
  std::vector<std::string> sites_;
};

// All prompts of kjv-hf-f32 against fp64 and, for scale, bf16, with everything from gate_proj of layer 3 on disturbed by 1e-3. Leaves
// a copy in `folder`.
diff::TraceDiff diverging_diff(const std::filesystem::path& folder);

// The page of a trace whose names are markup: model "</script><b>", prompt and site "<img onerror=x>&\"\xff".
std::string oddly_named_page(const std::filesystem::path& folder);

std::size_t count(const std::string& text, const std::string& part);

}  // namespace assay
