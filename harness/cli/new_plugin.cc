#include <fmt/format.h>

#include <memory>

#include "harness/cli/cli.h"
#include "harness/interop/new_plugin/new_plugin.h"
#include "harness/reports/report.h"

namespace assay::cli {

Action add_new_plugin(CLI::App& app, const Common& common) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("new-plugin", "Write a small project to start from: one kernel and its check");
  command->add_option("folder", *folder, "A new folder; its name is the plugin's")->required();
  command->footer("Example: assay new-plugin mine");
  return [folder, &common] {
    const NewPlugin made = write_new_plugin(*folder);
    if (common.json) {
      nlohmann::ordered_json json = environment_json();
      json["name"] = made.name;
      for (const auto& file : made.files) json["files"].push_back(file.string());
      fmt::print("{}", json_text(json));
      return kPass;
    }
    for (const auto& file : made.files) fmt::print("{}\n", file.string());
    fmt::print("next: cmake -S {0} -B {0}/build && cmake --build {0}/build && ctest --test-dir {0}/build --output-on-failure\n",
               *folder);
    return kPass;
  };
}

}  // namespace assay::cli
