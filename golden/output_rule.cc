#include "golden/output_rule.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

using FileId = std::pair<dev_t, ino_t>;

std::mutex guard;
std::set<FileId>& inputs() {
  static auto* const all = new std::set<FileId>;  // files are read until the process ends
  return *all;
}
std::atomic<bool> protecting{false};

std::string head_of(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  std::string head(4096, '\0');
  const ssize_t got = read(file, head.data(), head.size());
  close(file);
  head.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return head;
}

bool has(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// What only our own writers put near the beginning of a file that may be anybody's; that somebody's names assay is not enough.
constexpr const char* kOurWords[] = {
    "### assay: ",                              // a summary
    "printed by `assay completion ",            // completions
    ".th assay 1 ",                             // the man page
    ", reduced: it fails ",                     // a program of assay reduce
    "<title>assay ",                            // pages and drawings
    "<testsuites name=\"assay\"",               // JUnit
    "\"driver\": {\n     \"name\": \"assay\"",  // SARIF
    "repeat: assay ",                           // findings for GitLab
};

bool is_ours(const std::string& text) {
  return std::ranges::any_of(kOurWords, [&](const char* words) { return has(text, words); });
}

std::string kind_of_json(const std::string& text) {
  const bool head = has(text, "\"schema\"");
  if (head && has(text, "\"accepted\"") && !has(text, "\"commit\"")) return kLedger;
  return (head && has(text, "\"commit\"")) || is_ours(text) ? kOwnJson : "a JSON file";
}

std::string kind_of(const std::string& head) {
  if (head.empty()) return {};
  if (head.starts_with("GGUF")) return kGgufModel;
  if (head.starts_with("\x89HDF\r\n\x1a\n")) return kHdf5File;
  if (head.find('\0') != std::string::npos) return "a binary file";
  const std::string text = lower(head);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const char first = begin == std::string::npos ? ' ' : text[begin];
  if (text.find_first_not_of("[] \t\r\n") == std::string::npos) return {};  // a list of nothing
  if (first == '{' || first == '[') return kind_of_json(text);
  const char* const of = is_ours(text) ? " of assay" : "";
  if (first == '<') return std::string(has(text, "<html") ? "an HTML page" : "an XML file") + of;
  return std::string("a text") + of;
}

}  // namespace

void note_input(const std::filesystem::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return;
  const std::scoped_lock lock(guard);
  inputs().emplace(info.st_dev, info.st_ino);
}

void protect_files() noexcept {
  protecting = true;
}

std::filesystem::path without_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;
  std::error_code none;
  for (int links = 0; std::filesystem::is_symlink(path, none); ++links) {
    if (links == kMostLinks) throw std::runtime_error(path.string() + ": cannot be written: it is a link to itself");
    path = path.parent_path() / std::filesystem::read_symlink(path);
  }
  return path;
}

void require_replaceable(const std::filesystem::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return;
  if (S_ISDIR(info.st_mode)) throw std::runtime_error(path.string() + ": is a folder; expected a file to write");
  if (!S_ISREG(info.st_mode)) throw std::runtime_error(path.string() + ": is there, and no regular file");
  for (const int printed_to : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open_file {};
    if (fstat(printed_to, &open_file) == 0 && open_file.st_dev == info.st_dev && open_file.st_ino == info.st_ino)
      throw std::runtime_error(path.string() + ": is what this command prints to; expected another file");
  }
  const std::scoped_lock lock(guard);
  if (protecting && inputs().contains({info.st_dev, info.st_ino}))
    throw std::runtime_error(path.string() + ": is read by this command; it is not overwritten (--force)");
}

std::string file_kind(const std::filesystem::path& path) {
  return kind_of(head_of(path));
}

void require_kind(const std::filesystem::path& path, const std::string& kind) {
  const std::string there = file_kind(path);
  const bool replaceable = kind == kGgufModel || kind == kHdf5File || kind.ends_with(" of assay");
  if (!protecting || there.empty() || (there == kind && replaceable)) return;
  if (there == kind) throw std::runtime_error(path.string() + ": is there, and none of assay's; it is not overwritten (--force)");
  throw std::runtime_error(path.string() + ": is " + there + ", and would become " + kind + "; it is not overwritten (--force)");
}

}  // namespace assay
