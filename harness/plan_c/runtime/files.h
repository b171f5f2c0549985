/* Files in: the packed weights, and rows of a safetensors file. What is wrong with one ends the program with exit code 2. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
_Noreturn void
fail(const char* format, ...);

/* Bytes for as long as the program runs, zero and 64-byte aligned. */
void* allocate(int64_t bytes);

/* The data of the weights' file, whose header and size are held to what model.c was written with: where it is mapped, or copied to huge
   pages, from which decoding takes some 3 % less time. */
const uint8_t* load_weights(const char* path, bool map);

/* The array `name` of a safetensors file, which must be F32 [rows, ...] with `width` numbers a row. Where the file's metadata has
   "tokens", it has one for each row, and `tokens`, room for `most`, gets them. */
const float* read_rows(const char* path, const char* name, int64_t width, int64_t* rows, int32_t* tokens, int64_t most);
