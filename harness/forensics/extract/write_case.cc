#include <fmt/format.h>
#include <fmt/ranges.h>

#include "golden/hdf5_writer.h"
#include "harness/forensics/extract/extract.h"
#include "harness/version.h"

namespace assay {
namespace {

void write_tensors(Hdf5Writer& file, const std::string& group, const std::map<std::string, Array>& tensors) {
  file.make_group(group);
  for (const auto& [name, array] : tensors) file.write(group + "/" + name, array.dtype, array.shape, array.bytes);
}

}  // namespace

void write_case(const std::filesystem::path& path, const Extracted& extracted, const std::string& source) {
  Hdf5Writer file(path, Hdf5Writer::Format::v108);
  const GoldenCase& golden = extracted.golden;
  file.set_attribute("/", "schema", kGoldenSchema);
  file.set_attribute("/", "op", extracted.op);
  file.set_attribute("/", "generator", std::string("assay extract"));
  file.set_attribute("/", "version", fmt::format("{} ({})", kVersion, kCommit));
  file.set_attribute("/", "source", source);
  file.set_attribute("/", "licence", std::string("as the model"));
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
