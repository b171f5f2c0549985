#include "harness/verdict/bench/record.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "golden/read_file.h"

namespace assay::bench {
namespace {

constexpr int kSchema = 1;

}  // namespace

nlohmann::ordered_json record_json(const nlohmann::ordered_json& report, const std::vector<RecordedPlugin>& plugins) {
  nlohmann::ordered_json json{{"assay_record", kSchema}, {"plugins", nlohmann::ordered_json::array()}};
  for (const RecordedPlugin& one : plugins) {
    json["plugins"].push_back({{"path", one.path}, {"name", one.name}, {"version", one.version}, {"sha256", one.sha256}});
  }
  json.update(report);
  return json;
}

Record read_record(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("assay_record") != kSchema) throw std::runtime_error("another schema");
    Record record;
    record.declared = json.value("declared", "");
    for (const nlohmann::json& one : json.at("plugins")) {
      record.plugins.push_back({one.at("path"), one.at("name"), one.at("version"), one.at("sha256")});
    }
    for (const nlohmann::json& one : json.at("benchmarks")) {
      if (!one.contains("outputs_sha256")) continue;  // not timed
      record.items.push_back({one.at("op"), one.at("variant"), one.at("shape"),
                              one.at("cold").get<bool>() ? Temperature::cold : Temperature::warm, one.at("seed"),
                              one.at("outputs_sha256"), 1e-9 * one.at("real_time").get<double>()});
    }
    return record;
  } catch (const std::exception& error) {
    throw std::runtime_error(file.string() + ": " + error.what() + "; expected what `assay bench --record` writes, schema " +
                             std::to_string(kSchema));
  }
}

}  // namespace assay::bench
