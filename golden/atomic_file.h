// Files that are whole or not there: written beside the target, flushed to disk, renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

// Whether a file may be replaced that was read in this run: one that is kept, such as a ledger, is read to be written.
enum class Replaces : std::uint8_t { no_input, its_input };

// "PATH.new", empty at first, which is nobody else's until it is PATH or gone: its lock is held as long as the object lives, and
// a second writer of PATH, in this process or another, is refused. One that a killed process left behind is taken over. Whoever
// reads PATH finds the old file or the new one. Every failure throws std::runtime_error naming the file.
class NewFile {
 public:
  // Links are followed. `kind` (golden/output_rule.h) is what it will be, where that is known; else its first bytes say so in the end.
  // What is there already must be replaceable by it.
  explicit NewFile(const std::filesystem::path& path, std::string kind = {}, Replaces replaces = Replaces::no_input);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // removes it, where it was not committed

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary() const { return temporary_; }
  int descriptor() const { return file_; }

  // Flushes it to disk and renames it; at most once, and nothing is written after it.
  void commit();
  // "PATH: cannot be written: " and what errno says.
  [[noreturn]] void fail() const;

 private:
  void open_and_lock();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::string kind_;
  Replaces replaces_;
  int file_ = -1;
};

// A NewFile that is filled with bytes.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path, std::string kind = {}, Replaces replaces = Replaces::no_input)
      : file_(path, std::move(kind), replaces) {}

  void write(std::span<const std::uint8_t> bytes);
  void write_text(std::string_view text);
  void commit() { file_.commit(); }

 private:
  NewFile file_;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// What is to go if a signal ends the process before it is whole: a file or a folder, by a name that stands still until it is forgotten.
void remember_unfinished(const char* name) noexcept;
void forget_unfinished(const char* name) noexcept;

// For a signal that ends the process: removes what it has begun to write. Async-signal-safe; of a child's it touches nothing.
void remove_unfinished_files() noexcept;

}  // namespace assay
