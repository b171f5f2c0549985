#include "engine/files/checked.h"
#include "engine/files/mapped_file.h"
#include "harness/interop/import/npy.h"
#include "harness/interop/import/zip.h"

namespace assay {
namespace {

constexpr std::string_view kSuffix = ".npy";

class Npz final : public ArrayFile {
 public:
  explicit Npz(const std::filesystem::path& path) : file_(path), members_(read_zip(file_.bytes(), file_.name())) {
    for (const ZipMember& member : members_) {
      const Where where{file_.name(), member.offset, "member " + shown(member.name)};
      if (!member.name.ends_with(kSuffix) || member.name.size() == kSuffix.size()) {
        throw ModelFileError(Fault::name, where, "expected NAME.npy");
      }
      NpyHeader header = parse_npy_header(unpack_start(member, kMostNpyHeader, file_.name()), where);
      // Within 64 bits: at most 2^29 elements of 8 bytes.
      const std::uint64_t expected = header.length + static_cast<std::uint64_t>(header.array.elements()) * header.array.element;
      if (member.size != expected) {
        throw ModelFileError(Fault::size_mismatch, where,
                             std::to_string(member.size) + " bytes; its header announces " + std::to_string(expected));
      }
      header.array.name = member.name.substr(0, member.name.size() - kSuffix.size());
      arrays_.push_back(std::move(header.array));
      headers_.push_back(header.length);
    }
  }

  const std::string& name() const override { return file_.name(); }
  const std::vector<ArrayInfo>& arrays() const override { return arrays_; }
  std::vector<std::uint8_t> read(std::size_t index) const override {
    std::vector<std::uint8_t> content = unpack(members_.at(index), file_.name());
    content.erase(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(headers_[index]));
    return content;
  }

 private:
  MappedFile file_;
  std::vector<ZipMember> members_;
  std::vector<std::uint64_t> headers_;  // bytes before the first element
  std::vector<ArrayInfo> arrays_;
};

}  // namespace

std::unique_ptr<ArrayFile> open_npz(const std::filesystem::path& path) {
  return std::make_unique<Npz>(path);
}

}  // namespace assay
