// `assay plan`: arguments as a person may type them, over a file's header.
#include <algorithm>
#include <sstream>

#include "engine/kv/cache.h"
#include "engine/model/model_file.h"
#include "harness/cli/cli.h"
#include "harness/cli/model_options.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/targets.h"

namespace assay::fuzz {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Each buffer lies in its region.
void require_placed(const Plan& plan) {
  for (const Region& region : plan.regions()) {
    require(region.bytes >= 0, "a region of negative size");
    for (const PlacedBuffer& buffer : region.buffers) {
      require(buffer.bytes >= 0 && buffer.offset >= 0, "a buffer of negative size or place");
      require(region.name == "file" || buffer.offset <= region.bytes - buffer.bytes, "a buffer outside its region");
    }
  }
}

void plan_as_told(std::vector<std::string> words) {
  CLI::App app;
  cli::Common common;
  cli::ModelOptions options;
  app.add_flag("--json", common.json);
  CLI::App* again = app.add_subcommand("again", "The options alone");
  cli::add_plan_options(*again, options);
  const cli::Action plan = cli::add_plan(app, common);
  app.fallthrough();
  std::reverse(words.begin(), words.end());
  std::vector<std::string> typed = words;
  typed.emplace_back("plan");
  app.parse(typed);
  plan();
  words.emplace_back("again");
  std::erase(words, "--all");
  app.parse(words);
  const ModelFile model(cli::model_path(options));
  require_placed(make_plan(model.config(), model.weights(), cli::plan_options(options)));
}

}  // namespace

void run_plan(Input input) {
  const std::string_view text = text_of(input);
  const std::size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) return;
  const MemoryFile file(input.subspan(line_end + 1));
  std::vector<std::string> words = words_of(text.substr(0, line_end));
  words.insert(words.begin(), file.path());
  try {
    plan_as_told(std::move(words));
  } catch (const CLI::Error&) {
  } catch (const ModelFileError& error) {
    require_message(error.what());
  } catch (const KvError& error) {
    require_message(error.what());
  } catch (const std::invalid_argument& error) {
    require_message(error.what());
  }
}

}  // namespace assay::fuzz
