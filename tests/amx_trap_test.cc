// amx_int8 where no CPU has AMX: its kernels run as they are compiled, and each instruction on tiles traps (SIGILL), is decoded and carried out by
// the model. So the very machine code is held to the goldens: which tiles it names, its strides, what it leaves configured. Around the tiles
// stands AVX-512 VNNI, which the CPU must have. One that has AMX runs them itself.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "harness/verdict/cases.h"
#include "harness/verdict/check.h"
#include "harness/verdict/data_dir.h"
#include "harness/verdict/ledger.h"
#include "harness/verdict/suite.h"
#include "kernels/op_tables.h"
#include "kernels/products/tile_model.h"

#if defined(__x86_64__)
#include <signal.h>
#include <ucontext.h>

namespace assay::amx_trap_test {
namespace {

constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// An instruction on tiles: VEX.128, map 0F38, W0. Its memory operand is base + displacement, and the stride is the index, scaled.
struct Instruction {
  int opcode = 0;
  int prefix = 0;  // 0: none, 1: 66, 2: F3, 3: F2
  int reg = 0;
  int rm = 0;
  int vvvv = 0;
  bool memory = false;
  std::uint8_t* address = nullptr;
  std::int64_t stride = 0;
  int bytes = 0;
};

std::int64_t displacement(const std::uint8_t* at, int bytes) {
  std::int8_t one = 0;
  std::int32_t four = 0;
  if (bytes == 1) std::memcpy(&one, at, 1);
  if (bytes == 4) std::memcpy(&four, at, 4);
  return one + four;
}

// False for any other.
bool decode(const std::uint8_t* code, const greg_t* registers, Instruction& out) {
  if (code[0] != 0xc4 || (code[1] & 31) != 2 || (code[2] & 0x84) != 0) return false;
  out.prefix = code[2] & 3;
  out.vvvv = ~(code[2] >> 3) & 15;
  out.opcode = code[3];
  const int mod = code[4] >> 6;
  out.reg = code[4] >> 3 & 7;
  out.rm = code[4] & 7;
  out.memory = mod != 3;
  out.bytes = 5;
  if (!out.memory) return true;
  const auto value = [&](int low, int extension) { return registers[kRegisters[low + 8 * extension]]; };
  const int b = ~code[1] >> 5 & 1;
  const int x = ~code[1] >> 6 & 1;
  int base = out.rm;
  if (out.rm == 4) {
    const int sib = code[out.bytes++];
    base = sib & 7;
    const int index = sib >> 3 & 7;
    if (index != 4 || x == 1) out.stride = value(index, x) << (sib >> 6);
  }
  const bool no_base = mod == 0 && base == 5;  // of the instruction pointer, or with a SIB of nothing
  const int wide = mod == 1 ? 1 : mod == 2 || no_base ? 4 : 0;
  std::int64_t address = displacement(code + out.bytes, wide);
  out.bytes += wide;
  if (!no_base) address += value(base, b);
  if (no_base && out.rm == 5) address += registers[REG_RIP] + out.bytes;
  out.address = reinterpret_cast<std::uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
  return true;
}

// The tiles of the thread that runs the tests, and how many instructions they have seen.
TileModel tiles;
std::int64_t carried_out = 0;

bool carry_out(const Instruction& one) {
  if (one.opcode == 0x49 && one.prefix == 0 && one.memory) {
    TileConfig config;
    std::memcpy(&config, one.address, sizeof config);
    tiles.configure(config);
  } else if (one.opcode == 0x49 && one.prefix == 0) {
    tiles.release();
  } else if (one.opcode == 0x49 && one.prefix == 3 && !one.memory) {
    tiles.zero(one.reg);
  } else if (one.opcode == 0x4b && one.prefix == 3) {
    tiles.load(one.reg, one.address, one.stride);
  } else if (one.opcode == 0x4b && one.prefix == 2) {
    tiles.store(one.reg, one.address, one.stride);
  } else if (one.opcode == 0x5e && one.prefix == 3) {
    tiles.dot<std::int8_t, std::int8_t>(one.reg, one.rm, one.vvvv);
  } else if (one.opcode == 0x5e && one.prefix == 2) {
    tiles.dot<std::int8_t, std::uint8_t>(one.reg, one.rm, one.vvvv);
  } else {
    return false;
  }
  return true;
}

struct sigaction guards;  // what the guard does with it

void on_illegal(int signal, siginfo_t* info, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Instruction one;
  const auto* const code = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);  // NOLINT(performance-no-int-to-ptr)
  if (!decode(code, registers, one) || !carry_out(one)) return guards.sa_sigaction(signal, info, context);
  registers[REG_RIP] += one.bytes;
  ++carried_out;
}

// As InProcess, one part after the other, with the traps.
class Trapping final : public Executor {
 public:
  explicit Trapping(AssayStatus (*kernel)(const void* args)) : kernel_(kernel) {}

  Execution run(const Call& call, std::span<const CallPart> parts, const Manner&) override {
    Execution result;
    for (const CallPart& part : parts) {
      const Arguments arguments(call.op(), part.params, part.pointers);
      AssayStatus status = ASSAY_OK;
      install_fault_handlers();
      struct sigaction traps {};
      traps.sa_sigaction = on_illegal;
      traps.sa_flags = SA_SIGINFO | SA_NODEFER;
      sigaction(SIGILL, &traps, &guards);
      const auto fault = catch_faults([&] { status = kernel_(arguments.data()); });
      sigaction(SIGILL, &guards, nullptr);
      if (fault && fault->text.empty()) result.fault = MemoryFault{fault->signal, fault->address};
      if (fault) result.failure = fault->text;
      if (tiles.configured() || take_back_tiles()) result.failure = kTilesLeft;
      tiles.release();
      if (status != ASSAY_OK) result.status = status;
      if (result.fault || !result.failure.empty()) break;
    }
    return result;
  }

 private:
  AssayStatus (*kernel_)(const void* args);
};

const AnyKernel* kernel_of(const OpTable& table) {
  for (const AnyKernel& kernel : table.kernels) {
    if (kernel.isa == Isa::amx_int8) return &kernel;
  }
  return nullptr;
}

void check_file(const std::filesystem::path& path, const Ledger& ledger, int& ops) {
  const GoldenFile file(path, Hdf5Origin::known);
  const Op& op = require_op(file.op());
  const AnyKernel* const kernel = kernel_of(*op.table);
  if (kernel == nullptr) return;
  ++ops;
  const std::int64_t before = carried_out;
  Trapping executor(kernel->run);
  // A trap takes microseconds: each case in one layout. The other layouts are the model's.
  const Checks checks = Checks::parse("classes,bound,exact,bits,ledger");
  for (const std::string& name : file.case_names()) {
    CaseCheck check(op, case_from_golden(op, file, name), &ledger);
    const CaseResult result = check.check(
        {.name = kernel->name, .selection = "--isa " + std::string(isa_name(kernel->isa)), .executor = &executor}, checks);
    EXPECT_TRUE(!result.failure) << kernel->name << " " << name << ": " << result.failure->message;
    EXPECT_TRUE(result.in_ledger) << kernel->name << " " << name;
  }
  EXPECT_TRUE(isa_supported(kernel->isa) || carried_out > before) << kernel->name << ": no instruction was carried out";
}

TEST(AmxTrap, TheMachineCodeOfAmxInt8GivesTheLedgersBits) {
  if (!isa_supported(Isa::avx512vnni)) GTEST_SKIP() << "this CPU lacks avx512vnni, which is around the tiles";
  if (kernel_of(kernel_tables::gemm_q4_k_x16_q8_k) == nullptr) GTEST_SKIP() << "this build has scalar kernels alone";
  const Ledger ledger(ledger_path());
  int ops = 0;
  for (const auto& path : golden_files(own_golden())) check_file(path, ledger, ops);
  EXPECT_GT(ops, 0);
}

}  // namespace
}  // namespace assay::amx_trap_test

#else

TEST(AmxTrap, TheMachineCodeOfAmxInt8GivesTheLedgersBits) {
  GTEST_SKIP() << "another architecture's";
}

#endif
