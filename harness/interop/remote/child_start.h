// The beginning of a child: between fork and exec only system calls are made.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/interop/remote/isolation.h"

namespace assay {

// Texts as a program's start takes them.
class StartTexts {
 public:
  explicit StartTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  StartTexts(const StartTexts&) = delete;
  StartTexts& operator=(const StartTexts&) = delete;
  char* const* pointers() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

// What a child begins with. Of descriptors: its standard input and output, where it says how that went, and what is shared with it.
struct Beginning {
  char* const* words;  // of which the first is its program's path
  char* const* variables;
  int in;
  int out;
  int report;
  int error;                   // -1: ours
  int shared;                  // -1: nothing is
  const Isolation* isolation;  // null: none
};
// What a child says before it becomes its program, and once more if it cannot.
struct Begun {
  int error = 0;
  Isolation::Outcome outcome;
};

// The child's number; below 0 where there is none. No copy is made of this process's pages, which may be many.
pid_t start_child(const Beginning& how);

}  // namespace assay
