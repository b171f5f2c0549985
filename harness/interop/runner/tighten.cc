#include "harness/interop/runner/tighten.h"

#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace assay {
namespace {

constexpr std::uint64_t kUnit = std::uint64_t{1} << 32;  // a filter sees half words: ranges are told by the upper one
constexpr std::uint64_t kArenaUnits = 16;
constexpr std::uint32_t kNewest = 450;       // the last system call that this program knows
constexpr std::uint32_t kUserDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
#error "tighten: this architecture's system calls are not known"
#endif

// Upper halves of addresses, both included.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// Within one unit of addresses, by their lower halves, both included.
struct Piece {
  std::uint32_t unit = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// A filter in the making: what it does with one system call after the other. What it says nothing of is allowed.
class Filter {
 public:
  Filter() {
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0);
    end(EPERM);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    add(BPF_JMP | BPF_JGT | BPF_K, kNewest, 0, 1);
    end(ENOSYS);
  }

  // What `body` adds is for this call alone, which is allowed if none of that ends it.
  template <class Body>
  void on(long call, Body body) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 1, 0);
    const std::size_t at = code_.size();
    add(BPF_JMP | BPF_JA, 0);
    body();
    allow();
    code_[at].k = static_cast<std::uint32_t>(code_.size() - at - 1);
  }
  void deny(long call) {
    on(call, [this] { end(EPERM); });
  }
  void end(int error) {
    add(BPF_RET | BPF_K, error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
  }
  void allow() { end(0); }

  // An argument, in the accumulator.
  void load(int argument, bool upper = false) {
    add(BPF_LD | BPF_W | BPF_ABS,
        static_cast<std::uint32_t>(offsetof(seccomp_data, args) + static_cast<std::size_t>(argument) * 8 + (upper ? 4 : 0)));
  }
  // The next `skip` instructions are for a lower half that is `value`.
  void skip_unless_equal(std::uint32_t value, std::uint8_t skip) { add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip); }
  void allow_if_zero(int argument) {
    load(argument);
    skip_unless_equal(0, 3);
    load(argument, true);
    skip_unless_equal(0, 1);
    allow();
  }
  void deny_if(int argument, std::uint32_t value, int error) {
    load(argument);
    skip_unless_equal(value, 1);
    end(error);
  }
  // The range that begins at one argument and is as long as another, if it may reach into `closed`. What ends within 4 GiB before is
  // taken for one that does: nothing of anybody's lies there.
  void deny_range(int start, int length, const Range& closed) {
    load(length, true);
    add(BPF_MISC | BPF_TAX, 0);
    load(start, true);
    add(BPF_JMP | BPF_JGT | BPF_K, closed.last, 4, 0);
    add(BPF_ALU | BPF_ADD | BPF_X, 0);
    add(BPF_ALU | BPF_ADD | BPF_K, 1);
    add(BPF_JMP | BPF_JGE | BPF_K, closed.first, 0, 1);
    end(EPERM);
  }

  // The same of a piece, exactly. Of what is 4 GiB long or longer all that comes near.
  void deny_range(int start, int length, const Piece& closed) {
    load(length, true);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 9, 0);
    deny_range(start, length, Range{closed.unit, closed.unit});
    add(BPF_JMP | BPF_JA, 15);
    load(start, true);
    add(BPF_JMP | BPF_JEQ | BPF_K, closed.unit, 3, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, closed.unit - 1, 0, 12);
    load(start);
    add(BPF_JMP | BPF_JGT | BPF_K, closed.first, 3, 10);  // from the unit before it may reach over
    load(start);
    add(BPF_JMP | BPF_JGT | BPF_K, closed.last, 8, 0);
    add(BPF_JMP | BPF_JGE | BPF_K, closed.first, 6, 0);
    add(BPF_MISC | BPF_TAX, 0);
    add(BPF_LD | BPF_IMM, closed.first);
    add(BPF_ALU | BPF_SUB | BPF_X, 0);  // bytes from its start to the piece
    add(BPF_MISC | BPF_TAX, 0);
    load(length);
    add(BPF_JMP | BPF_JGT | BPF_X, 0, 0, 1);
    end(EPERM);
  }

  int install() {
    allow();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    const sock_fprog program{static_cast<unsigned short>(code_.size()), const_cast<sock_filter*>(code_.data())};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : errno;
  }

 private:
  void add(int code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
  }
  std::vector<sock_filter> code_;
};

Range units_of(const void* begin, const void* end) {
  return {static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(begin) / kUnit),
          static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(end) - 1) / kUnit)};
}

// This program, the libraries that it began with, and what the kernel gave it.
int add_image(dl_phdr_info* library, std::size_t, void* pieces) {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  for (int h = 0; h < library->dlpi_phnum; ++h) {
    const auto& header = library->dlpi_phdr[h];
    if (header.p_type != PT_LOAD) continue;
    begin = std::min<std::uint64_t>(begin, library->dlpi_addr + header.p_vaddr);
    end = std::max<std::uint64_t>(end, library->dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  begin -= begin % page;
  end += (page - end % page) % page;
  for (std::uint64_t at = begin; at < end; at = (at / kUnit + 1) * kUnit) {
    const std::uint64_t last = std::min(end - 1, at / kUnit * kUnit + kUnit - 1);
    static_cast<std::vector<Piece>*>(pieces)->push_back(
        {static_cast<std::uint32_t>(at / kUnit), static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(last)});
  }
  return 0;
}
std::vector<Piece> images() {
  std::vector<Piece> pieces;
  dl_iterate_phdr(add_image, &pieces);
  return pieces;
}

void deny_mappings(Filter& filter, const Arena& arena) {
  const auto deny_ranges = [&, pieces = images()](int start, int length) {
    filter.deny_range(start, length, units_of(arena.begin, arena.begin + arena.bytes));
    for (const Piece& piece : pieces) filter.deny_range(start, length, piece);
  };
  for (const long call : {SYS_mprotect, SYS_pkey_mprotect, SYS_munmap}) filter.on(call, [&] { deny_ranges(0, 1); });
  filter.on(SYS_mremap, [&] {
    deny_ranges(0, 1);
    filter.allow_if_zero(4);  // so the C library leaves it without MREMAP_FIXED
    deny_ranges(4, 2);
  });
  filter.on(SYS_mmap, [&] {
    filter.allow_if_zero(0);
    deny_ranges(0, 1);  // a place that is only wished for is another's then: nothing asks for one there
  });
}

// Every call that reads, writes, closes or copies one of the channels, and where a file stands among its arguments, perhaps twice.
struct OfFiles {
  long call;
  int one;
  int other = -1;
};
constexpr OfFiles kOfFiles[] = {
    {SYS_read, 0},      {SYS_readv, 0},   {SYS_preadv2, 0},  {SYS_write, 0},       {SYS_writev, 0},     {SYS_pwritev2, 0},
    {SYS_sendto, 0},    {SYS_sendmsg, 0}, {SYS_sendmmsg, 0}, {SYS_recvfrom, 0},    {SYS_recvmsg, 0},    {SYS_recvmmsg, 0},
    {SYS_splice, 0, 2}, {SYS_tee, 0, 1},  {SYS_vmsplice, 0}, {SYS_sendfile, 0, 1}, {SYS_ioctl, 0},      {SYS_fcntl, 0},
    {SYS_close, 0},     {SYS_dup, 0},     {SYS_dup3, 0, 1},  {SYS_shutdown, 0},    {SYS_setsockopt, 0},
#if defined(__x86_64__)
    {SYS_dup2, 0, 1},
#endif
};

void deny_channels(Filter& filter, int in, int out) {
  for (const OfFiles& row : kOfFiles) {
    filter.on(row.call, [&] {
      for (const int argument : {row.one, row.other}) {
        for (const int file : {in, out}) {
          if (argument >= 0) filter.deny_if(argument, static_cast<std::uint32_t>(file), EBADF);
        }
      }
    });
  }
  filter.deny(SYS_close_range);
}

void deny_handlers(Filter& filter) {
  filter.on(SYS_rt_sigaction, [&] {
    filter.allow_if_zero(1);  // it looks, and changes nothing
    for (const int signal : {SIGSEGV, SIGBUS, SIGALRM}) filter.deny_if(0, static_cast<std::uint32_t>(signal), EPERM);
  });
  filter.deny(SYS_setitimer);
#if defined(__x86_64__)
  filter.deny(SYS_alarm);
#endif
}

}  // namespace

Arena reserve_arena() {
  const std::size_t bytes = (kArenaUnits + 2) * kUnit;
  void* const base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return {};
  auto* const begin = static_cast<std::uint8_t*>(base);
  return {begin + (kUnit - reinterpret_cast<std::uintptr_t>(begin) % kUnit) % kUnit + kUnit, kArenaUnits * kUnit};
}

int give_up_others() {
  Filter filter;
  const auto self = static_cast<std::uint32_t>(getpid());
  for (const long call : {SYS_execve, SYS_execveat}) filter.deny(call);
  for (const long call : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo}) {
    filter.on(call, [&] {
      filter.load(0);
      filter.skip_unless_equal(self, 1);
      filter.allow();
      filter.end(EPERM);
    });
  }
  return filter.install();
}

int give_up_arena(const Arena& arena, int in, int out) {
  Filter filter;
  deny_mappings(filter, arena);
  deny_channels(filter, in, out);
  deny_handlers(filter);
  filter.deny(SYS_seccomp);
  filter.on(SYS_prctl, [&] {
    for (const std::uint32_t what : {std::uint32_t{PR_SET_SECCOMP}, kUserDispatch}) filter.deny_if(0, what, EPERM);
  });
  return filter.install();
}

}  // namespace assay
