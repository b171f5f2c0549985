#include "tests/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace assay {
namespace {

void checked(int result, const char* call) {
  if (result != 0) throw std::runtime_error(std::string(call) + " failed");
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all(more);
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string entry = *one;
    const std::string name = entry.substr(0, entry.find('=') + 1);
    if (name == "ASSAY_ISA=" || name == "ASSAY_CHECKS=") continue;
    if (std::ranges::any_of(more, [&](const std::string& other) { return other.starts_with(name); })) continue;
    all.push_back(entry);
  }
  return all;
}

// False at the end.
bool drain(int& file, std::string& text) {
  char buffer[4096];
  const ssize_t got = read(file, buffer, sizeof buffer);
  if (got > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
    return true;
  }
  close(file);
  file = -1;
  return false;
}

}  // namespace

Program::Program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment, const Launch& launch) {
  const char* const path = std::getenv("ASSAY_PROGRAM");
  if (path == nullptr) throw std::runtime_error("ASSAY_PROGRAM is not set");
  std::vector<std::string> words(launch.through);
  words.emplace_back(path);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_with(environment);
  int out[2];
  int err[2];
  checked(pipe2(out, O_CLOEXEC), "pipe2");
  checked(pipe2(err, O_CLOEXEC), "pipe2");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (launch.out.empty()) {
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, launch.out.c_str(), O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t interrupt;  // what a shell starts in the background ignores it, and so would the program
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &interrupt);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int spawned =
      posix_spawnp(&pid_, words.front().c_str(), &actions, &attributes, pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
  checked(spawned, words.front().c_str());
}

Program::~Program() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

bool Program::read_some() {
  pollfd files[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  poll(files, 2, -1);
  if (files[0].revents != 0) drain(out_, ran_.out);
  if (files[1].revents != 0) drain(err_, ran_.err);
  return true;
}

void Program::await_output(const std::string& words) {
  while ((ran_.out.empty() || ran_.out.find(words) == std::string::npos) && read_some()) {
  }
}

void Program::await_handler(int signal) const {
  for (;;) {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    std::string word;
    while (status >> word && word != "SigCgt:" && word != "State:") {
    }
    std::string state;
    status >> state;
    if (!status || state == "Z") return;
    while (status >> word && word != "SigCgt:") {
    }
    std::uint64_t caught = 0;
    status >> std::hex >> caught;
    if ((caught >> (signal - 1) & 1) != 0) return;
    usleep(1000);
  }
}

void Program::send(int signal) const {
  kill(pid_, signal);
}

Ran Program::wait() {
  while (read_some()) {
  }
  int status = 0;
  rusage usage = {};
  wait4(pid_, &status, 0, &usage);
  pid_ = -1;
  ran_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran_.peak_bytes = usage.ru_maxrss * 1024;
  return ran_;
}

Ran run_assay(const std::vector<std::string>& arguments, const std::vector<std::string>& environment, const Launch& launch) {
  return Program(arguments, environment, launch).wait();
}

}  // namespace assay
