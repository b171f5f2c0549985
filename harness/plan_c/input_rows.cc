#include "harness/plan_c/input_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "golden/trace.h"
#include "harness/forensics/trace/prompts.h"

namespace assay {

std::string input_rows(const std::filesystem::path& trace, const std::string& prompt, const std::string& site,
                       std::int64_t width) {
  const TraceFile file(trace);
  const TracePrompt from =
      file.prompt(chosen_prompts(file, prompt.empty() ? std::vector<std::string>{} : std::vector<std::string>{prompt}).front());
  const auto fail = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format("{}: {}: {}: {}", trace.string(), from.name, site, why));
  };
  if (from.positions.size() != from.tokens.size())
    fail(fmt::format("{} rows of {} tokens are kept; a part needs every token's", from.positions.size(), from.tokens.size()));
  const Array array = file.site(from, site);
  const std::int64_t rows = std::ssize(from.tokens);
  if (is_block(array.dtype) || array.elements() != rows * width)
    fail(fmt::format("shape [{}]; expected {} rows of {} numbers", fmt::join(array.shape, ", "), rows, width));

  std::string data(static_cast<std::size_t>(rows * width) * sizeof(float), '\0');
  for (std::int64_t i = 0; i < rows * width; ++i) {
    const auto value = static_cast<float>(array.number(i));
    std::memcpy(data.data() + i * std::int64_t{sizeof value}, &value, sizeof value);
  }
  nlohmann::ordered_json header;
  header["__metadata__"]["tokens"] = fmt::format("{}", fmt::join(from.tokens, " "));
  header[site] = {{"dtype", "F32"}, {"shape", {rows, width}}, {"data_offsets", {0, data.size()}}};
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + text + data;
}

}  // namespace assay
