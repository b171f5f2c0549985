// What C finds kernels with (kernels/kernels.h).
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

#include "kernels/op_tables.h"

namespace assay::find_kernel_test {
namespace {

std::string explained(const char* op, const char* isa) {
  std::array<char, 512> text;
  const std::size_t length = assay_explain_kernel(op, isa, text.data(), text.size());
  EXPECT_EQ(length, std::string(text.data()).size());
  return text.data();
}

TEST(FindKernel, IsWhatTheTablesSelect) {
  ASSERT_EQ(unsetenv("ASSAY_ISA"), 0);
  for (const OpTable& table : op_tables()) {
    AssayKernel* const best = select_kernel(table).run;
    EXPECT_EQ(assay_find_kernel(table.op, nullptr), best) << table.op;
    EXPECT_EQ(explained(table.op, nullptr), "");
    for (const IsaRow& row : kIsas) {
      if (!isa_selectable(row.isa)) continue;
      const std::string name(row.name);
      AssayKernel* const within = select_kernel(table, row.isa).run;
      EXPECT_EQ(assay_find_kernel(table.op, name.c_str()), within) << table.op << " within " << name;
    }
  }
}

TEST(FindKernel, ANamedIsaComesBeforeTheEnvironments) {
  const OpTable& table = op_tables().front();
  AssayKernel* const scalar = select_kernel(table, Isa::scalar).run;
  ASSERT_EQ(setenv("ASSAY_ISA", "scalar", 1), 0);
  EXPECT_EQ(assay_find_kernel(table.op, nullptr), scalar);
  ASSERT_EQ(setenv("ASSAY_ISA", "scaler", 1), 0);
  EXPECT_EQ(assay_find_kernel(table.op, nullptr), nullptr);
  EXPECT_TRUE(
      explained(table.op, nullptr).starts_with("ASSAY_ISA=scaler: no such ISA; did you mean scalar? Supported here: scalar"));
  EXPECT_EQ(assay_find_kernel(table.op, "scalar"), scalar);
  ASSERT_EQ(setenv("ASSAY_ISA", "", 1), 0);
  EXPECT_NE(assay_find_kernel(table.op, nullptr), nullptr);
  ASSERT_EQ(unsetenv("ASSAY_ISA"), 0);
}

TEST(FindKernel, SaysWhyThereIsNone) {
  for (const char* op : {"rms_nrm", "rms_norm ", "RMS_NORM", "rms_norm_avx2", ""}) {
    EXPECT_EQ(assay_find_kernel(op, nullptr), nullptr) << op;
    EXPECT_NE(explained(op, nullptr), "") << op;
  }
  EXPECT_EQ(explained("rms_nrm", nullptr), "rms_nrm: no such op; did you mean rms_norm?");
  for (const char* isa : {"", "avx", "neon2", "scalar "}) {
    EXPECT_EQ(assay_find_kernel("add", isa), nullptr) << isa;
    EXPECT_NE(explained("add", isa), "") << isa;
  }
}

TEST(FindKernel, AReasonIsCutWhereItsRoomEnds) {
  const std::string whole = explained("rms_nrm", nullptr);
  for (std::size_t room = 0; room <= whole.size() + 1; ++room) {
    std::string text(room + 1, '#');
    EXPECT_EQ(assay_explain_kernel("rms_nrm", nullptr, text.data(), room), whole.size());
    const std::string expected = room == 0 ? "" : whole.substr(0, room - 1) + '\0';
    EXPECT_EQ(text.substr(0, expected.size()), expected);
    EXPECT_EQ(text.back(), '#');
  }
}

}  // namespace
}  // namespace assay::find_kernel_test
