// What an output may take the place of: nothing that was read in this run, and no file of another kind.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

// What an output will be.
inline constexpr char kGgufModel[] = "a GGUF model";
inline constexpr char kHdf5File[] = "an HDF5 file";
inline constexpr char kOwnJson[] = "a JSON file of assay";
inline constexpr char kOwnPage[] = "an HTML page of assay";
inline constexpr char kLedger[] = "a ledger of assay";

// Who reads a file says so.
void note_input(const std::filesystem::path& path);

// From here on outputs are held to this rule: the program's are, unless --force is given. A library's user knows his files.
void protect_files() noexcept;

// The path without links: what is written there is what the last of them names, which need not exist yet. Throws std::runtime_error where
// they go round in a circle.
std::filesystem::path without_links(std::filesystem::path path);

// Throws std::runtime_error where `path` is a folder, a pipe or a device, what this process prints to, or, of protected files, one that was
// read.
void require_replaceable(const std::filesystem::path& path);

// What a file is by its first bytes: one of the kinds above, or such as "a text"; empty: it is empty, or not there.
std::string file_kind(const std::filesystem::path& path);

// Throws std::runtime_error where files are protected and `path` is one of another kind, or of one that may be anybody's.
void require_kind(const std::filesystem::path& path, const std::string& kind);

}  // namespace assay
