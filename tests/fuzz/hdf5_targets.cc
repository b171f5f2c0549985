// Goldens and traces of any structure: read, and laid out as calls.
#include "golden/store.h"
#include "golden/trace.h"
#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "tests/fuzz/hdf5_recipe.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/targets.h"

namespace assay::fuzz {
namespace {

constexpr std::int64_t kMostCallBytes = 1 << 24;

void require_whole(const Array& array) {
  const std::int64_t elements = array.elements();
  require(elements >= 0, "an array of negative size");
  require(array.bytes.size() == static_cast<std::size_t>(elements) * dtype_size(array.dtype),
          "an array's bytes are not its shape's");
}

void require_whole(const GoldenCase& one) {
  for (const auto& [name, array] : one.inputs) require_whole(array);
  for (const auto& [name, array] : one.parts) require_whole(array);
  for (const auto* kept : {&one.truth, &one.canonical}) {
    for (const auto& [name, values] : *kept) {
      require_whole(values.values);
      require(values.index.empty() || std::ssize(values.index) == values.values.elements(), "indices without a value each");
    }
  }
}

// As `assay check` does it, up to the kernel.
void lay_out(const Op& op, const GoldenFile& file, const std::string& name) {
  TestCase test = case_from_golden(op, file, name);
  const Signature signature = signature_of(op, test.params);
  std::int64_t bytes = 0;
  for (const TensorSpec& spec : signature.tensors) {
    require(spec.elements() >= 0 && spec.extent() >= 0, "a tensor of negative size");
    if (spec.extent() > kMostCallBytes) return;
    bytes += static_cast<std::int64_t>(spec.extent_bytes());
  }
  if (bytes > kMostCallBytes) return;
  Call call(op, test.params, std::move(test.inputs));
  for (const Placement& placement : call.placements()) call.place(placement);
}

void read_case(const GoldenFile& file, const std::string& name) {
  try {
    require_whole(file.read(name));
    if (const Op* op = find_op(file.op())) lay_out(*op, file, name);
  } catch (const Broken&) {
    throw;
  } catch (const Hdf5Error&) {
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

void run_golden(Input input) {
  const std::filesystem::path path = scratch_folder() / "recipe.h5";
  write_recipe(text_of(input), path);
  try {
    const GoldenFile file(path, Hdf5Origin::known);  // read here, where it is watched
    for (const std::string& name : file.case_names()) read_case(file, name);
  } catch (const Hdf5Error&) {
  }
}

void run_trace(Input input) {
  const std::filesystem::path path = scratch_folder() / "recipe.h5";
  write_recipe(text_of(input), path);
  try {
    const TraceFile file(path, Hdf5Origin::known);
    static_cast<void>(file.plan());
    for (const std::string& name : file.prompts()) {
      const TracePrompt prompt = file.prompt(name);
      require(!prompt.positions.empty() && !prompt.sites.empty(), "a prompt without rows or sites");
      for (const std::string& site : prompt.sites) {
        const Array array = file.site(prompt, site);
        require_whole(array);
        require(array.shape.front() == std::ssize(prompt.positions), "a site's rows are not the positions");
      }
    }
  } catch (const Hdf5Error&) {
  }
}

}  // namespace assay::fuzz
