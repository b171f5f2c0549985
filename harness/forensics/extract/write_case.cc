#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "golden/hdf5_writer.h"
#include "harness/forensics/extract/extract.h"
#include "harness/verdict/strided.h"
#include "harness/version.h"

namespace assay {
namespace {

void write_tensors(Hdf5Writer& file, const std::string& group, const std::map<std::string, Array>& tensors) {
  file.make_group(group);
  for (const auto& [name, array] : tensors) file.write(group + "/" + name, array.dtype, array.shape, array.bytes);
}

Array truth_array(const TensorSpec& spec, const reference::Expected& expected) {
  if (expected.value.empty()) return {spec.dtype, spec.shape, expected.bytes};
  Array array{DType::f64, spec.shape, std::vector<std::uint8_t>(expected.value.size() * sizeof(double))};
  std::memcpy(array.bytes.data(), expected.value.data(), array.bytes.size());
  return array;
}

}  // namespace

void add_truth(const Op& op, GoldenCase& golden) {
  const Signature signature = signature_of(op, golden.params);
  std::vector<std::vector<std::byte>> memory;
  std::vector<void*> tensors;
  for (const TensorSpec& spec : signature.tensors) {
    tensors.push_back(memory.emplace_back(spec.extent_bytes()).data());
    if (spec.role == Direction::in) scatter(spec, golden.inputs.at(spec.name), tensors.back());
  }
  const std::vector<reference::Expected> truth = reference_outputs(op, golden.params, tensors);
  auto expected = truth.begin();
  for (const TensorSpec& spec : signature.tensors) {
    if (spec.role == Direction::out) golden.truth[spec.name] = {truth_array(spec, *expected++), {}};
  }
}

void write_case(const std::filesystem::path& path, const Extracted& extracted, const CaseOrigin& origin) {
  Hdf5Writer file(path, Hdf5Writer::Format::v108);
  const GoldenCase& golden = extracted.golden;
  file.set_attribute("/", "schema", kGoldenSchema);
  file.set_attribute("/", "op", extracted.op);
  file.set_attribute("/", "generator", origin.generator);
  file.set_attribute("/", "version", fmt::format("{} ({})", kVersion, kCommit));
  file.set_attribute("/", "source", origin.source);
  file.set_attribute("/", "licence", origin.licence);
  const std::string group = "/cases/" + golden.name;
  file.make_group("/cases");
  file.make_group(group);
  file.set_attribute(group, "tags", fmt::format("{}", fmt::join(golden.tags, " ")));
  file.make_group(group + "/params");
  for (const auto& [name, value] : golden.params.values()) file.set_attribute(group + "/params", name, value);
  write_tensors(file, group + "/inputs", golden.inputs);
  std::map<std::string, Array> truth;
  for (const auto& [name, kept] : golden.truth) truth[name] = kept.values;
  write_tensors(file, group + "/truth", truth);
  file.commit();
}

}  // namespace assay
