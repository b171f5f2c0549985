#include "harness/interop/remote/needed_files.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystem[] = {
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/aarch64-linux-gnu/lib",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/localtime",
    // How many processors there are, their caches, their features; how memory is given out.
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage",
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ':');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// What the dynamic section of a library names.
struct Names {
  std::vector<std::string> libraries;
  std::vector<std::string> folders;
};

template <class T>
bool read_at(std::ifstream& in, std::uint64_t offset, T& value) {
  in.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(in.read(reinterpret_cast<char*>(&value), sizeof value));
}

// A file that is no library of this machine names nothing: who opens it says so.
Names names_in(const std::string& path) {
  Names names;
  std::ifstream in(path, std::ios::binary);
  Elf64_Ehdr head;
  if (!in || !read_at(in, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
    return names;
  std::vector<Elf64_Phdr> parts(head.e_phnum);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (!read_at(in, head.e_phoff + p * sizeof(Elf64_Phdr), parts[p])) return names;
  }
  const auto offset_of = [&parts](std::uint64_t address) {
    for (const Elf64_Phdr& part : parts) {
      if (part.p_type == PT_LOAD && address >= part.p_vaddr && address < part.p_vaddr + part.p_filesz)
        return part.p_offset + (address - part.p_vaddr);
    }
    return std::uint64_t{0};
  };
  std::vector<std::pair<std::int64_t, std::uint64_t>> texts;
  std::uint64_t strings = 0;
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type != PT_DYNAMIC) continue;
    Elf64_Dyn one;
    for (std::uint64_t at = 0; at + sizeof one <= part.p_filesz && read_at(in, part.p_offset + at, one); at += sizeof one) {
      if (one.d_tag == DT_STRTAB) strings = offset_of(one.d_un.d_ptr);
      if (one.d_tag == DT_NEEDED || one.d_tag == DT_RUNPATH || one.d_tag == DT_RPATH)
        texts.emplace_back(one.d_tag, one.d_un.d_val);
    }
  }
  for (const auto& [tag, at] : texts) {
    std::string text;
    in.clear();
    in.seekg(static_cast<std::streamoff>(strings + at));
    std::getline(in, text, '\0');
    if (tag == DT_NEEDED) {
      names.libraries.push_back(text);
    } else {
      for (const std::string& folder : split(text)) names.folders.push_back(folder);
    }
  }
  return names;
}

std::string with_origin(std::string folder, const fs::path& library) {
  for (const char* name : {"$ORIGIN", "${ORIGIN}"}) {
    if (const auto at = folder.find(name); at != std::string::npos)
      folder.replace(at, std::strlen(name), library.parent_path().string());
  }
  return folder;
}

}  // namespace

std::vector<std::string> needed_files(const std::vector<std::string>& files) {
  std::vector<std::string> all(std::begin(kSystem), std::end(kSystem));
  std::vector<std::string> open = files;
  std::set<std::string> seen;
  std::error_code none;
  const char* more = std::getenv("LD_LIBRARY_PATH");
  const std::vector<std::string> given = split(more == nullptr ? "" : more);
  while (!open.empty()) {
    const std::string file = open.back();
    open.pop_back();
    if (!seen.insert(file).second) continue;
    all.push_back(file);
    const Names names = names_in(file);
    std::vector<std::string> folders = given;
    for (const std::string& one : names.folders) folders.push_back(with_origin(one, file));
    for (const std::string& folder : folders) {
      for (const std::string& library : names.libraries) {
        if (const fs::path path = fs::path(folder) / library; fs::is_regular_file(path, none)) open.push_back(path.string());
      }
    }
  }
  // What a plugin opens by itself when it runs, such as a library for this very CPU.
  for (const std::string& file : files) {
    if (std::ranges::any_of(kSystem, [&file](const char* folder) { return file.starts_with(std::string(folder) + "/"); }))
      continue;
    for (const auto& entry : fs::directory_iterator(fs::path(file).parent_path(), none)) {
      const std::string name = entry.path().filename().string();
      const bool library = name.ends_with(".so") || name.find(".so.") != std::string::npos;
      if (library && entry.is_regular_file(none)) all.push_back(entry.path().string());
    }
  }
  return all;
}

}  // namespace assay
