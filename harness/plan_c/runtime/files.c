#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("main: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(2);
}

void* allocate(int64_t bytes) {
  void* const at = mmap(NULL, (size_t)(bytes > 0 ? bytes : 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) fail("%ld bytes of memory: %s", bytes, strerror(errno));
  return at;
}

static const uint8_t* map_file(const char* path, uint64_t* size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) fail("%s: %s", path, strerror(errno));
  if (!S_ISREG(status.st_mode)) fail("%s: not a regular file", path);
  *size = (uint64_t)status.st_size;
  if (*size == 0) fail("%s: an empty file", path);
  const void* const bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) fail("%s: %s", path, strerror(errno));
  close(file);
  return bytes;
}

/* A header of 64 bytes: "ASSAYWTS", a version in 4 bytes, 4 zeros, how many bytes of data in 8, their sha256 in 32, zeros; the data. */
const uint8_t* load_weights(const char* path, bool map) {
  const int64_t header = 64, huge_page = 2 << 20;
  uint64_t size = 0, data_bytes = 0;
  uint32_t version = 0;
  char sha256[65];
  const uint8_t* const bytes = map_file(path, &size);
  if (size < (uint64_t)header || memcmp(bytes, "ASSAYWTS", 8) != 0)
    fail("%s: no weights of `assay plan --c`; expected ASSAYWTS at byte 0", path);
  memcpy(&version, bytes + 8, sizeof version);
  memcpy(&data_bytes, bytes + 16, sizeof data_bytes);
  for (int i = 0; i < 32; ++i) snprintf(sha256 + 2 * i, 3, "%02x", bytes[24 + i]);
  if (version != 1) fail("%s: version %u at byte 8; expected 1", path, version);
  if (strcmp(sha256, model.weights_sha256) != 0) {
    fail("%s: weights of another directory: their sha256, at byte 24, is\n  %s; expected, for %s,\n  %s", path, sha256,
         model.name, model.weights_sha256);
  }
  const uint64_t expected = (uint64_t)(header + model.weights_bytes);
  if (data_bytes != (uint64_t)model.weights_bytes || size != expected) {
    fail("%s: %lu bytes, of which its header counts %lu as data; expected %lu: was it cut short?", path, size, data_bytes,
         expected);
  }
  if (map) return bytes + header;
  uint8_t* at = allocate(model.weights_bytes + huge_page);
  at += -(uintptr_t)at % (uintptr_t)huge_page;
  madvise(at, (size_t)model.weights_bytes, MADV_HUGEPAGE);
  memcpy(at, bytes + header, (size_t)model.weights_bytes);
  munmap((void*)bytes, size);
  return at;
}

/* A safetensors file: the length of the header in 8 bytes, the header, which is JSON, the data. */
typedef struct Text {
  const char* path;
  const char* begin;
  const char* at;
  const char* end;
} Text;

static _Noreturn void fail_at(const Text* text, const char* expected) {
  fail("%s: byte %td: expected %s", text->path, 8 + (text->at - text->begin), expected);
}

/* What comes after white space; 0 at the end. */
static char next(Text* text) {
  while (text->at < text->end && (*text->at == ' ' || *text->at == '\t' || *text->at == '\r' || *text->at == '\n')) ++text->at;
  return text->at < text->end ? *text->at : '\0';
}

static bool take(Text* text, char wanted) {
  const bool there = next(text) == wanted;
  if (there) ++text->at;
  return there;
}

static void expect(Text* text, char wanted) {
  if (!take(text, wanted)) fail_at(text, (const char[]){'\'', wanted, '\'', '\0'});
}

/* A string as it stands between its quotes; names of sites have nothing that needs an escape. */
static const char* take_string(Text* text, size_t* length) {
  expect(text, '"');
  const char* const begin = text->at;
  for (; text->at < text->end && *text->at != '"'; ++text->at) {
    if (*text->at == '\\') ++text->at;
  }
  if (text->at >= text->end) fail_at(text, "the string's end");
  *length = (size_t)(text->at++ - begin);
  return begin;
}

static uint64_t take_integer(Text* text) {
  if (next(text) < '0' || *text->at > '9') fail_at(text, "an integer");
  uint64_t value = 0;
  for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; ++text->at) {
    const uint64_t digit = (uint64_t)(*text->at - '0');
    if (value > (UINT64_MAX - digit) / 10) fail_at(text, "an integer below 2^64");
    value = 10 * value + digit;
  }
  return value;
}

/* At most `most`; returns how many. */
static int take_integers(Text* text, uint64_t* out, int most) {
  int count = 0;
  for (expect(text, '['); !take(text, ']'); out[count++] = take_integer(text)) {
    if (count > 0) expect(text, ',');
    if (count == most) fail_at(text, "']': eight numbers of a shape at most, two offsets");
  }
  return count;
}

typedef struct Array {
  char dtype[16];
  uint64_t shape[8];
  uint64_t offsets[2];
  int dimensions;
} Array;

static bool is(const char* text, size_t length, const char* name) {
  return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* One member of the header: an array, or __metadata__, strings by name, of which `tokens` is kept. */
static Array take_member(Text* text, Text* tokens) {
  Array array = {.dimensions = -1};
  expect(text, '{');
  for (int i = 0; !take(text, '}'); ++i) {
    if (i > 0) expect(text, ',');
    size_t length = 0, size = 0;
    const char* const key = take_string(text, &length);
    expect(text, ':');
    if (is(key, length, "shape")) {
      array.dimensions = take_integers(text, array.shape, 8);
    } else if (is(key, length, "data_offsets")) {
      take_integers(text, array.offsets, 2);
    } else {
      const char* const value = take_string(text, &size);
      if (is(key, length, "dtype") && size < sizeof array.dtype) memcpy(array.dtype, value, size);
      if (is(key, length, "tokens")) *tokens = (Text){text->path, text->begin, value, value + size};
    }
  }
  return array;
}

static const float* copy_rows(const char* path, const char* name, const Array* array, uint64_t width, const uint8_t* data,
                              uint64_t bytes) {
  const uint64_t begin = array->offsets[0], end = array->offsets[1], row_bytes = width * sizeof(float), rows = array->shape[0];
  uint64_t row = 1; /* cannot overflow: it stops where it passes the width */
  for (int d = 1; d < array->dimensions && row <= width; ++d)
    row = array->shape[d] > width ? array->shape[d] : row * array->shape[d];
  if (strcmp(array->dtype, "F32") != 0 || array->dimensions < 2 || row != width || rows == 0)
    fail("%s: %s: expected dtype F32 and shape [rows, %lu]", path, name, width);
  if (begin > end || end > bytes || (end - begin) % row_bytes != 0 || (end - begin) / row_bytes != rows) {
    fail(
        "%s: %s: data_offsets [%lu, %lu]; expected %lu rows of %lu bytes within the %lu"
        " of the data",
        path, name, begin, end, rows, row_bytes, bytes);
  }
  return memcpy(allocate((int64_t)(end - begin)), data + begin, end - begin); /* aligned */
}

const float* read_rows(const char* path, const char* name, int64_t width, int64_t* rows, int32_t* tokens, int64_t most) {
  uint64_t size = 0, length = 0;
  const uint8_t* const bytes = map_file(path, &size);
  if (size >= 8) memcpy(&length, bytes, 8);
  if (size < 8 || length > size - 8) fail("%s: byte 0: a header of %lu bytes; the file has %lu", path, length, size);
  const char* const header = (const char*)bytes + 8;
  Text text = {path, header, header, header + length}, ids = {path, header, header, header};
  const float* found = NULL;
  expect(&text, '{');
  for (int i = 0; !take(&text, '}'); ++i) {
    if (i > 0) expect(&text, ',');
    size_t letters = 0;
    const char* const key = take_string(&text, &letters);
    expect(&text, ':');
    const Array array = take_member(&text, &ids);
    if (!is(key, letters, name)) continue;
    found = copy_rows(path, name, &array, (uint64_t)width, bytes + 8 + length, size - 8 - length);
    *rows = (int64_t)array.shape[0];
  }
  if (found == NULL) fail("%s: no array '%s'", path, name);
  int64_t count = 0;
  for (; next(&ids) != '\0'; ++count) {
    const uint64_t id = take_integer(&ids);
    if (id > INT32_MAX) fail_at(&ids, "a token below 2^31");
    if (count < most) tokens[count] = (int32_t)id;
  }
  if (count != 0 && count != *rows)
    fail("%s: %ld rows of %s for %ld tokens; expected every token's (--all-rows, or --chunk 1)", path, *rows, name, count);
  return found;
}
