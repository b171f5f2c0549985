// HDF5 files made of a text, so that what is mutated is the structure of a file that the library takes for right. A line each:
//
//     G PATH                              a group
//     A PATH NAME i|r|s|v|b VALUE         an attribute: integer, real, text of fixed or variable length, one byte
//     A PATH NAME a VALUE...              an array of integers
//     D PATH TYPE SHAPE LAYOUT VALUE...   a dataset; the values are repeated until it is full
//     L PATH TARGET   H PATH TARGET   X PATH TARGET   a soft, a hard, an external link (to a file that is not there)
//
// TYPE: f32 f64 f16 i8 i16 i32 i64 u8 u16 u32 u64, be32 (f32, big-endian), text, words (of variable length), pair (a compound), enum.
// SHAPE: 2x3, scalar, null. LAYOUT: plain, compact, chunks, deflate, fletcher, unwritten, outside (in another file), virtual.
// What the library refuses, and what is no such line, is left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace assay::fuzz {

// Datasets and generated inputs above this, up to what golden/store.h takes, are left out: that a file may claim them is known.
inline constexpr std::uint64_t kMostRecipeElements = 1 << 14;

// Writes the file, over what is there.
void write_recipe(std::string_view recipe, const std::filesystem::path& path);

}  // namespace assay::fuzz
