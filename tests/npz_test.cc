// .npz archives that nobody vouches for: every kind of wrong one is refused by its fault, file and member, and for the price of the
// file; no prefix and no changed byte of a right one brings the reader down or past it.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/files/file_error.h"
#include "harness/interop/import/array_file.h"
#include "harness/interop/import/npy.h"
#include "tests/import_support.h"
#include "tests/temporary.h"
#include "tests/zip_image.h"

namespace assay::npz_test {
namespace {

const std::string kFour(16, 'x');  // four f32

std::vector<ZipEntry> two_members() {
  return {
      {.name = "a.npy", .content = npy("<f4", "(4,)", kFour)},
      {.name = "b/c.npy", .content = npy("<f8", "(2, 300)", std::string(4800, 'y'), 2), .deflated = true, .zip64_header = true}};
}

// Opens the archive and reads every array.
void read_all(const std::filesystem::path& path) {
  const auto file = open_npz(path);
  for (std::size_t i = 0; i < file->arrays().size(); ++i) file->read(i);
}

TEST(Npz, RightOnesAreRead) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.npz";
  write_bytes(path, zip_image(two_members()));
  const auto file = open_npz(path);
  ASSERT_EQ(file->arrays().size(), 2U);
  EXPECT_EQ(file->arrays()[0].name, "a");
  EXPECT_EQ(file->arrays()[0].type, "<f4");
  EXPECT_EQ(file->arrays()[0].shape, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(file->read(0), std::vector<std::uint8_t>(16, 'x'));
  EXPECT_EQ(file->find("b/c"), 1U);
  EXPECT_EQ(file->arrays()[1].shape, (std::vector<std::int64_t>{2, 300}));
  EXPECT_EQ(file->read(1), std::vector<std::uint8_t>(4800, 'y'));
  EXPECT_FALSE(file->find("c"));

  // Scalars, empty arrays, every type.
  std::vector<ZipEntry> entries{{.name = "s.npy", .content = npy("<i8", "()", "12345678"), .deflated = true},
                                {.name = "e.npy", .content = npy("<f2", "(3, 0)", "")}};
  for (const char* descr : {"<f2", "<f4", "<f8", "<i4", "<i8", "<u2"}) {
    const std::size_t size = static_cast<std::size_t>(descr[2] - '0');
    entries.push_back({.name = std::string(descr + 1) + ".npy", .content = npy(descr, "(3,)", std::string(3 * size, 'z'))});
  }
  write_bytes(path, zip_image(entries));
  read_all(path);
  EXPECT_EQ(open_npz(path)->arrays()[0].elements(), 1);
  EXPECT_EQ(open_npz(path)->arrays()[1].elements(), 0);
}

struct Wrong {
  std::string what;
  Fault fault;
  std::string image;
  std::vector<std::string> mentions;
};

// One member, "a.npy".
std::string one(ZipEntry entry) {
  if (entry.name.empty()) entry.name = "a.npy";
  if (entry.content.empty()) entry.content = npy("<f4", "(4,)", kFour);
  return zip_image({std::move(entry)});
}

std::string one_npy(const std::string& content) {
  return one({.name = "a.npy", .content = content});
}

std::vector<Wrong> wrong_archives() {
  const std::string right = zip_image(two_members());
  auto twice = two_members();
  twice[1].name = "a.npy";
  auto over = two_members();
  over[1].offset = 0;
  over[1].local_name = "b/c.npy";
  auto inside = two_members();
  inside[0].content += std::string(64, 'x');
  auto behind = two_members();
  behind[1].offset = static_cast<std::uint32_t>(right.size() - 70);
  return {
      {"no archive", Fault::magic, std::string(400, 'x'), {"end record"}},
      {"too short", Fault::magic, "PK", {"end record"}},
      {"more members than bytes", Fault::count, zip_image(two_members(), {.count = 60000}), {"60000 members"}},
      {"fewer than there are", Fault::trailing_bytes, zip_image(two_members(), {.count = 1}), {"directory", "53 bytes behind"}},
      {"no member", Fault::count, zip_image({}), {"without members"}},
      {"two disks", Fault::version, zip_image(two_members(), {.disk = 1}), {"several parts"}},
      {"ZIP64 count", Fault::version, zip_image(two_members(), {.count = 0xffff}), {"ZIP64", "safetensors"}},
      {"ZIP64 directory", Fault::version, zip_image(two_members(), {.offset = 0xffffffff}), {"ZIP64"}},
      {"ZIP64 member", Fault::version, one({.size = 0xffffffff}), {"member 'a.npy'", "ZIP64"}},
      {"directory elsewhere", Fault::size_mismatch, zip_image(two_members(), {.offset = 5}), {"end record"}},
      {"bytes before the archive", Fault::size_mismatch, "#!/bin/sh\n" + right, {"expected it to end here"}},
      {"bytes behind the directory",
       Fault::trailing_bytes,
       zip_image(two_members(), {.before_end = "hidden"}),
       {"6 bytes behind"}},
      {"a name twice", Fault::duplicate, zip_image(twice), {"member 'a.npy'", "twice"}},
      {"a way out", Fault::name, one({.name = "../a.npy"}), {"member '../a.npy'"}},
      {"a way out, deep", Fault::name, one({.name = "x/../../a.npy"}), {"member"}},
      {"from the root", Fault::name, one({.name = "/a.npy"}), {"member '/a.npy'"}},
      {"a folder", Fault::name, one({.name = "a.npy/"}), {"member"}},
      {"backslashes", Fault::name, one({.name = "..\\a.npy"}), {"member"}},
      {"a zero byte", Fault::name, one({.name = std::string("a\0.npy", 6)}), {"\\x00"}},
      {"another kind", Fault::name, one({.name = "a.txt"}), {"expected NAME.npy"}},
      {"no name", Fault::name, one({.name = ".npy"}), {"expected NAME.npy"}},
      {"other name in the header", Fault::member, one({.local_name = "b.npy"}), {"disagree"}},
      {"encrypted", Fault::feature, one({.flags = 1}), {"encrypted"}},
      {"bzip2", Fault::feature, one({.method = 12}), {"compression method 12"}},
      {"stored in fewer bytes", Fault::size_mismatch, one({.size = 500}), {"stored, but"}},
      {"two members in one place", Fault::member, zip_image(over), {"member 'b/c.npy'", "disagree"}},
      {"a member in the directory", Fault::outside_file, zip_image(behind), {"member 'b/c.npy'"}},
      {"longer than the archive", Fault::truncated, one({.size = 4000, .packed_size = 4000}), {"member 'a.npy'"}},
      {"a bomb", Fault::count, one({.deflated = true, .size = 1U << 31}), {"more than deflate can"}},
      {"another checksum", Fault::damaged, one({.crc = 1}), {"member 'a.npy'", "checksum"}},
      {"another checksum, deflated", Fault::damaged, one({.deflated = true, .crc = 1}), {"checksum"}},
      {"not deflated", Fault::damaged, one({.method = 8}), {"do not unpack"}},
      {"data behind the array", Fault::size_mismatch, zip_image(inside), {"member 'a.npy'", "its header announces"}},
  };
}

std::vector<Wrong> wrong_arrays() {
  return {
      {"no .npy", Fault::magic, one_npy(std::string(80, 'q')), {"no .npy header"}},
      {"an empty member", Fault::truncated, one_npy("\x93"), {"1 bytes are no .npy header"}},
      {"version 3", Fault::version, one_npy(npy("<f4", "(4,)", kFour, 3)), {".npy version 3.0"}},
      {"header longer than the member", Fault::truncated, one_npy(npy("<f4", "(4,)", "").substr(0, 40)), {"header of"}},
      {"an endless header", Fault::header_length, one_npy(npy_with(std::string(70000, ' '), "", 2)), {"header of 70004"}},
      {"Fortran order",
       Fault::feature,
       one_npy(npy_with("{'descr': '<f4', 'fortran_order': True, 'shape': (4,), }", kFour)),
       {"Fortran order", "ascontiguousarray"}},
      {"big-endian", Fault::big_endian, one_npy(npy(">f4", "(4,)", kFour)), {"'>f4'", "expected <f2"}},
      {"objects", Fault::tensor_type, one_npy(npy("|O", "(4,)", kFour)), {"'|O'"}},
      {"complex", Fault::tensor_type, one_npy(npy("<c8", "(2,)", kFour)), {"'<c8'"}},
      {"records",
       Fault::tensor_type,
       one_npy(npy_with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }", kFour)),
       {"records"}},
      {"no shape", Fault::member, one_npy(npy_with("{'descr': '<f4', 'fortran_order': False, }", kFour)), {"header, byte"}},
      {"a shape twice",
       Fault::duplicate,
       one_npy(npy_with("{'shape': (4,), 'descr': '<f4', 'shape': (4,), }", kFour)),
       {"'shape' is there twice"}},
      {"another entry",
       Fault::member,
       one_npy(npy_with("{'descr': '<f4', 'order': False, 'shape': (4,), }", kFour)),
       {"not 'order'"}},
      {"text behind",
       Fault::member,
       one_npy(npy_with("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), } #", kFour)),
       {"expected spaces"}},
      {"no tuple", Fault::member, one_npy(npy("<f4", "(4)", kFour)), {"expected ','"}},
      {"a negative length", Fault::member, one_npy(npy("<f4", "(-4,)", kFour)), {"expected a length"}},
      {"a long", Fault::member, one_npy(npy("<f4", "(4L,)", kFour)), {"expected ','"}},
      {"nine axes", Fault::dimensions, one_npy(npy("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 4)", kFour)), {"more than 8"}},
      {"a wrapping product", Fault::overflow, one_npy(npy("<f4", "(4294967296, 4294967296)", kFour)), {"leaves 64 bits"}},
      {"a wrapping product with a zero",
       Fault::overflow,
       one_npy(npy("<f4", "(0, 4294967296, 4294967296)", "")),
       {"leaves 64 bits"}},
      {"a length of 65 bits", Fault::overflow, one_npy(npy("<f4", "(36893488147419103232,)", kFour)), {"leaves 64 bits"}},
      {"too many elements", Fault::count, one_npy(npy("<f4", "(536870913,)", kFour)), {"at most 2^29"}},
      {"more than the member has", Fault::size_mismatch, one_npy(npy("<f4", "(536870912,)", kFour)), {"its header announces"}},
      {"less than the member has", Fault::size_mismatch, one_npy(npy("<f4", "(3,)", kFour)), {"its header announces"}},
  };
}

void expect_refused(const std::vector<Wrong>& all) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "wrong.npz";
  for (const Wrong& wrong : all) {
    SCOPED_TRACE(wrong.what);
    write_bytes(path, wrong.image);
    try {
      read_all(path);
      ADD_FAILURE() << "it is read";
    } catch (const ModelFileError& error) {
      EXPECT_EQ(fault_name(error.fault()), fault_name(wrong.fault)) << error.what();
      expect_mentions(error.what(), wrong.mentions);
      expect_mentions(error.what(), {"wrong.npz: byte "});
    }
  }
}

TEST(Npz, EachWrongArchiveIsRefusedByName) {
  expect_refused(wrong_archives());
}

TEST(Npz, EachWrongArrayIsRefusedByName) {
  expect_refused(wrong_arrays());
}

// The bytes of another member, under a header of its own: a directory entry alone would not show it.
TEST(Npz, MembersMayNotOverlap) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "wrong.npz";
  const std::string inner = zip_image({{.name = "b.npy", .content = npy("<f4", "(4,)", kFour)}});
  const std::size_t inner_size = 30 + 5 + npy("<f4", "(4,)", kFour).size();  // header, name, content
  const std::string data = inner.substr(0, inner_size);
  std::vector<ZipEntry> entries{
      {.name = "a.npy", .content = npy("<u2", "(" + std::to_string(data.size() / 2) + ",)", data.substr(0, data.size() / 2 * 2))},
      {.name = "b.npy", .content = npy("<f4", "(4,)", kFour)}};
  const std::string image = zip_image(entries);
  entries[1].offset = static_cast<std::uint32_t>(image.find("PK\3\4", 4));  // the one inside a.npy
  write_bytes(path, zip_image(entries));
  expect_mentions(message_of([&] { read_all(path); }), {"member 'b.npy': it begins before 'a.npy' ends", "[overlap]"});
}

TEST(Npz, EveryPrefixIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "short.npz";
  const std::string right = zip_image(two_members());
  for (std::size_t size = 1; size < right.size(); ++size) {
    write_bytes(path, right.substr(0, size));
    EXPECT_THROW(read_all(path), ModelFileError) << size << " of " << right.size() << " bytes";
  }
}

// Either refused, or what the byte said did not matter (time stamps, versions): the values are the same.
TEST(Npz, EveryChangedByteIsRefusedOrChangesNothing) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "changed.npz";
  const std::string right = zip_image(two_members());
  std::size_t read = 0;
  for (std::size_t at = 0; at < right.size(); ++at) {
    for (const int change : {0x01, 0x80}) {
      std::string image = right;
      image[at] = static_cast<char>(image[at] ^ change);
      write_bytes(path, image);
      try {
        const auto file = open_npz(path);
        for (std::size_t i = 0; i < file->arrays().size(); ++i) {
          EXPECT_EQ(file->read(i), std::vector<std::uint8_t>(i == 0 ? 16 : 4800, i == 0 ? 'x' : 'y')) << "byte " << at;
        }
        ++read;
      } catch (const ModelFileError&) {
      }
    }
  }
  EXPECT_GT(read, 0U);
  EXPECT_LT(read, right.size());
}

}  // namespace
}  // namespace assay::npz_test
