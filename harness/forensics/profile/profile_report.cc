#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/forensics/profile/profile.h"

namespace assay::profile {
namespace {

double rate(double amount, double seconds) {
  return seconds > 0 ? amount / seconds : 0;
}

// Operations a second of what the line computes with; 0 where the ISA has no such instructions.
double compute_roof(const Line& line, const Roofs& roofs) {
  return line.of_codes ? roofs.int8.value_or(0) : roofs.fma;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}", 100 * part / whole) : "-";
}

std::vector<std::string> row(const Line& line, const Part& part, const Roofs& roofs) {
  const bool computes = line.operations > 0;
  return {line.site,
          line.kernel,
          fmt::format("{}", line.calls),
          fmt::format("{:.2f}", 1e3 * line.seconds),
          percent(line.seconds, part.seconds),
          fmt::format("{:.1f}", 1e-6 * line.bytes),
          fmt::format("{:.2f}", 1e-9 * rate(line.bytes, line.seconds)),
          percent(rate(line.bytes, line.seconds), roofs.read),
          computes ? fmt::format("{:.1f}", 1e-9 * rate(line.operations, line.seconds)) : "",
          computes ? percent(rate(line.operations, line.seconds), compute_roof(line, roofs)) : ""};
}

Line sum_of(const Part& part) {
  Line sum;
  for (const Line& line : part.lines) sum.bytes += line.bytes;
  return sum;
}

std::string part_text(const Part& part, const Profile& profile, const Style& style) {
  Table table({"site", "kernel", ">calls", ">ms", ">%", ">MB", ">GB/s", ">% read", ">Gop/s", ">% compute"});
  for (const Line& line : part.lines) {
    if (line.calls > 0) table.add(row(line, part, profile.roofs));
  }
  table.add({"", "waiting at barriers", "", fmt::format("{:.2f}", 1e3 * part.waiting), percent(part.waiting, part.seconds), "",
             "", "", "", ""});
  const double bytes = sum_of(part).bytes;
  table.add({"", "all", fmt::format("{}", part.passes), fmt::format("{:.2f}", 1e3 * part.seconds), "100.0",
             fmt::format("{:.1f}", 1e-6 * bytes), fmt::format("{:.2f}", 1e-9 * rate(bytes, part.seconds)),
             percent(rate(bytes, part.seconds), profile.roofs.read), "", ""});
  return fmt::format("{}: {} passes, {} tokens, {:.1f} tokens/s in passes\n{}", style.strong(part.name), part.passes, part.rows,
                     rate(static_cast<double>(part.rows), part.seconds), table.render(style));
}

nlohmann::ordered_json line_json(const Line& line) {
  nlohmann::ordered_json json{
      {"site", line.site}, {"kernel", line.kernel}, {"calls", line.calls}, {"seconds", line.seconds}, {"bytes", line.bytes}};
  if (line.operations > 0) {
    json["operations"] = line.operations;
    json["of"] = line.of_codes ? "int8" : "f32";
  }
  return json;
}

}  // namespace

std::string profile_text(const Profile& profile, const Style& style) {
  std::string out;
  for (const Part& part : profile.parts) out += part_text(part, profile, style) + "\n";
  const std::string int8 = profile.roofs.int8 ? fmt::format(", {:.0f} Gop/s on bytes", 1e-9 * *profile.roofs.int8) : "";
  return out + fmt::format("roofs of {} threads, measured after the run: read {:.2f} GB/s, {:.0f} Gop/s in f32{}\n",
                           profile.threads, 1e-9 * profile.roofs.read, 1e-9 * profile.roofs.fma, int8);
}

nlohmann::ordered_json profile_json(const Profile& profile) {
  nlohmann::ordered_json json{{"threads", profile.threads},
                              {"roofs", {{"read", profile.roofs.read}, {"f32", profile.roofs.fma}}},
                              {"parts", nlohmann::ordered_json::array()}};
  if (profile.roofs.int8) json["roofs"]["int8"] = *profile.roofs.int8;
  for (const Part& part : profile.parts) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (const Line& line : part.lines) {
      if (line.calls > 0) lines.push_back(line_json(line));
    }
    json["parts"].push_back({{"name", part.name},
                             {"passes", part.passes},
                             {"tokens", part.rows},
                             {"seconds", part.seconds},
                             {"waiting", part.waiting},
                             {"steps", std::move(lines)}});
  }
  return json;
}

}  // namespace assay::profile
