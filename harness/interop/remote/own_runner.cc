#include "harness/interop/remote/own_runner.h"

#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "harness/interop/plugin/loader.h"
#include "harness/verdict/data_dir.h"
#include "harness/verdict/discipline/sanitized.h"

namespace assay {
namespace {

// build/<preset>/assay-runner for build/<preset>/assay and for build/<preset>/tests/parity_test.
std::string own_runner() {
  const std::filesystem::path folder = program_folder();
  for (const auto& candidate : {folder / "assay-runner", folder.parent_path() / "assay-runner"}) {
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw std::runtime_error((folder / "assay-runner").string() +
                           ": not there; expected beside this program (or name one by --runner)");
}

std::vector<std::string> files_of(const std::vector<std::string>& plugins) {
  std::vector<std::string> files;
  for (const std::string& plugin : plugins) files.push_back(library_of(plugin));
  return files;
}

}  // namespace

OwnRunner::OwnRunner(const std::vector<std::string>& plugins, const IsolationRequest& request) : words_{own_runner()} {
  if (request.wish != IsolationRequest::Wish::none && !ASSAY_SANITIZED)
    isolation_ = std::make_unique<Isolation>(words_[0], files_of(plugins), request);
}

std::unique_ptr<ChildProcess> OwnRunner::start(int shared, IsolationState& state) {
  auto child = std::make_unique<ChildProcess>(words_, shared, isolation_.get(), !isolation_);
  if (!isolation_) {
    state = {{}, {ASSAY_SANITIZED ? "a sanitizer's build" : "--isolation none"}};
    return child;
  }
  if (child->outcome().unreadable >= 0) {
    isolation_->keep_root(child->outcome());
    child = std::make_unique<ChildProcess>(words_, shared, isolation_.get());
  }
  state = isolation_->state(child->outcome());
  return child;
}

}  // namespace assay
