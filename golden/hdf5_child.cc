#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "golden/hdf5_source.h"
#include "golden/output_rule.h"
#include "golden/packed_answer.h"

namespace assay {
namespace {

enum class Question : std::uint8_t { exists, is_group, children, attributes, integer_array, describe, read };
enum class Reply : std::uint8_t { answer, refusal };

struct Header {
  std::uint8_t kind = 0;  // a Question or a Reply
  std::uint64_t bytes = 0;
};

// Enough for the largest dataset, packed.
constexpr std::uint64_t kMostBytes = kMaxDatasetElements * 8 + (1U << 20);

enum class Received : std::uint8_t { whole, gone, silent, garbled };

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// `silent` after `patience_ms` without a byte; -1: never.
Received receive_all(int socket, void* to, std::uint64_t size, int patience_ms) {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    pollfd ready{socket, POLLIN, 0};
    const int events = poll(&ready, 1, patience_ms);
    if (events < 0 && errno == EINTR) continue;
    if (events <= 0) return Received::silent;
    const ssize_t received = recv(socket, at, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return Received::gone;
    at += received;
    size -= static_cast<std::uint64_t>(received);
  }
  return Received::whole;
}

bool send_frame(int socket, std::uint8_t kind, std::string_view payload) {
  Packer header;
  header.put(kind);
  header.put(static_cast<std::uint64_t>(payload.size()));
  return send_all(socket, header.bytes()) && send_all(socket, payload);
}

Received receive_frame(int socket, Header& header, std::string& payload, int patience_ms) {
  std::array<char, sizeof header.kind + sizeof header.bytes> bytes{};
  const Received begun = receive_all(socket, bytes.data(), bytes.size(), patience_ms);
  if (begun != Received::whole) return begun;
  Unpacker in({bytes.data(), bytes.size()});
  in.get(header.kind);
  in.get(header.bytes);
  if (header.bytes > kMostBytes) return Received::garbled;
  payload.resize(header.bytes);
  return receive_all(socket, payload.data(), payload.size(), patience_ms);
}

// ---- the child ----

std::string answer(Hdf5Source& file, Question question, const std::string& object, const std::string& attribute) {
  Packer out;
  switch (question) {
    case Question::exists:
      out.put(file.exists(object));
      break;
    case Question::is_group:
      out.put(file.is_group(object));
      break;
    case Question::children:
      out.put(file.children(object));
      break;
    case Question::attributes:
      out.put(file.attributes(object));
      break;
    case Question::integer_array:
      out.put(file.integer_array(object, attribute));
      break;
    case Question::describe:
      out.put(file.describe(object));
      break;
    case Question::read:
      out.put(file.read(object));
      break;
  }
  return out.bytes();
}

// Nothing of the parent's is run on a fault here, no core is left, and what the C library says when it dies is left to the parent.
void as_at_start() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, SIG_DFL);
  std::signal(SIGINT, SIG_IGN);  // of the terminal's whole group: the parent decides
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void serve(int socket, const std::filesystem::path& path) {
  std::unique_ptr<Hdf5Source> file;
  const auto say = [&](Reply verdict, std::string_view text) {
    return send_frame(socket, static_cast<std::uint8_t>(verdict), text);
  };
  // Its first answer says whether there is such a file.
  std::string reply;
  Reply verdict = Reply::answer;
  const auto attempt = [&](auto&& body) {
    try {
      reply = body();
      verdict = Reply::answer;
    } catch (const std::exception& error) {
      reply = error.what();
      verdict = Reply::refusal;
    }
  };
  attempt([&] {
    file = open_hdf5_here(path);
    return std::string();
  });
  Header header;
  std::string payload;
  while (say(verdict, reply) && file && receive_frame(socket, header, payload, -1) == Received::whole) {
    attempt([&] {
      Unpacker in(payload);
      std::string object;
      std::string attribute;
      in.get(object);
      in.get(attribute);
      return answer(*file, static_cast<Question>(header.kind), object, attribute);
    });
  }
}

// ---- the parent ----

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return "ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

class Hdf5InChild final : public Hdf5Source {
 public:
  Hdf5InChild(std::filesystem::path path, std::chrono::milliseconds patience) : path_(std::move(path)), patience_(patience) {
    note_input(path_);  // the child's notes are not this process's
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail_to_start();
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      as_at_start();
      serve(ends[1], path_);
      _exit(0);
    }
    close(ends[1]);
    socket_ = ends[0];
    if (child_ < 0) {
      const int why = errno;
      close(socket_);
      errno = why;
      fail_to_start();
    }
    try {
      receive("/");
    } catch (...) {
      end();
      throw;
    }
  }
  ~Hdf5InChild() override { end(); }

  bool exists(const std::string& object) override { return ask<bool>(Question::exists, object); }
  bool is_group(const std::string& object) override { return ask<bool>(Question::is_group, object); }
  std::vector<std::string> children(const std::string& group) override {
    return ask<std::vector<std::string>>(Question::children, group);
  }
  Attributes attributes(const std::string& object) override { return ask<Attributes>(Question::attributes, object); }
  std::vector<std::int64_t> integer_array(const std::string& object, const std::string& attribute) override {
    return ask<std::vector<std::int64_t>>(Question::integer_array, object, attribute);
  }
  Array describe(const std::string& dataset) override { return ask<Array>(Question::describe, dataset); }
  Array read(const std::string& dataset) override { return ask<Array>(Question::read, dataset); }

 private:
  [[noreturn]] void fail_to_start() const {
    throw Hdf5Error(path_.string() + ": no process to read it in: " + std::generic_category().message(errno));
  }

  // Ends the child and returns its status; of one that has died already, how it died.
  int end() {
    int status = 0;
    if (child_ <= 0) return status;
    close(socket_);
    kill(child_, SIGKILL);
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
  }

  template <class T>
  T ask(Question question, const std::string& object, const std::string& attribute = {}) {
    if (child_ <= 0) throw Hdf5Error(lost_);
    Packer out;
    out.put(object);
    out.put(attribute);
    send_frame(socket_, static_cast<std::uint8_t>(question), out.bytes());  // a child that is gone shows in its answer
    const std::string payload = receive(object);
    T value{};
    try {
      Unpacker(payload).get(value);
    } catch (const Hdf5Error& error) {
      throw Hdf5Error(path_.string() + ": " + object + ": " + error.what());
    }
    return value;
  }

  std::string receive(const std::string& object) {
    Header header;
    std::string payload;
    const Received received = receive_frame(socket_, header, payload, static_cast<int>(patience_.count()));
    if (received == Received::whole) {
      if (static_cast<Reply>(header.kind) == Reply::answer) return payload;
      throw Hdf5Error(payload);
    }
    const int status = end();
    lost_ = path_.string() + ": " + object + ": the process that reads it " +
            (received == Received::silent    ? "gave no answer for " + std::to_string(patience_.count()) + " ms"
             : received == Received::garbled ? "gave a garbled answer"
                                             : how_it_ended(status)) +
            ": the file is damaged, or made to harm";
    throw Hdf5Error(lost_);
  }

  std::filesystem::path path_;
  std::chrono::milliseconds patience_;
  pid_t child_ = -1;
  int socket_ = -1;
  std::string lost_;  // why there is no child any more
};

}  // namespace

std::unique_ptr<Hdf5Source> open_hdf5_in_child(const std::filesystem::path& path, std::chrono::milliseconds patience) {
  return std::make_unique<Hdf5InChild>(path, patience);
}

}  // namespace assay
