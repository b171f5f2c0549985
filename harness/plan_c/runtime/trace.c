#define _POSIX_C_SOURCE 200809L
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files.h"

static struct {
  char* path;       /* where it will lie */
  char* unfinished; /* where it lies meanwhile; null once it is closed */
  uint8_t* bytes;
  size_t size;
  size_t ids;     /* where the tokens stand in the header, kIdWidth letters each */
  size_t data;    /* where the first array begins */
  bool all;       /* every row is kept, not the last of each pass alone */
  int64_t tokens; /* of the run */
  int64_t rows;   /* kept, in the end */
  int64_t done;   /* tokens before the pass under way */
  int64_t kept;   /* rows before it */
  int32_t* positions;
} trace;
enum { kIdWidth = 11 };

static void remove_unfinished(void) {
  if (trace.unfinished != NULL) unlink(trace.unfinished);
}

static char* joined(const char* text, size_t length, const char* ending) {
  char* const out = allocate((int64_t)(length + strlen(ending) + 1));
  memcpy(out, text, length);
  return strcpy(out + length, ending), out;
}

static int64_t numbers(const Site* site) {
  return (site->heads > 0 ? site->heads : 1) * site->width;
}

/* Arrays lie in the order of the sites, without gaps. */
static char* header(size_t* length, size_t* data_bytes) {
  char* text = NULL;
  FILE* const out = open_memstream(&text, length);
  if (out == NULL) fail("the trace's header: %s", strerror(errno));
  fputs("12345678{\"__metadata__\":{\"tokens\":\"", out); /* room for its length, and for the tokens */
  fflush(out);
  trace.ids = *length;
  fprintf(out, "%*s\"}", (int)trace.tokens * kIdWidth, "");
  *data_bytes = 0;
  for (int64_t i = 0; i < model.site_count; ++i) {
    const Site* const site = &model.sites[i];
    const size_t end = *data_bytes + (size_t)(trace.rows * numbers(site)) * sizeof(float);
    fprintf(out, ",\"%s\":{\"dtype\":\"F32\",\"shape\":[%ld,", site->name, trace.rows);
    if (site->heads > 0) fprintf(out, "%ld,", site->heads);
    fprintf(out, "%ld],\"data_offsets\":[%zu,%zu]}", site->width, *data_bytes, end);
    *data_bytes = end;
  }
  fputc('}', out);
  fflush(out);
  while (*length % 8 != 0) fputc(' ', out), fflush(out);
  if (fclose(out) != 0) fail("the trace's header: %s", strerror(errno));
  const uint64_t json = *length - 8;
  memcpy(text, &json, 8);
  return text;
}

void trace_open(const char* path, int64_t tokens, int64_t passes) {
  trace.path = joined(path, strlen(path), "");
  trace.tokens = tokens;
  trace.all = true;
  for (int64_t i = 0; i < model.site_count && passes < tokens; ++i)
    trace.all = trace.all && model.prefill_buffers[model.sites[i].buffer].rows > 1;
  trace.rows = trace.all ? tokens : passes;
  trace.positions = allocate(trace.rows * (int64_t)sizeof *trace.positions);
  size_t data_bytes = 0;
  char* const head = header(&trace.data, &data_bytes);
  trace.size = trace.data + data_bytes;
  char* const unfinished = joined(path, strlen(path), ".part");
  const int file = open(unfinished, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail("%s: %s", unfinished, strerror(errno));
  trace.unfinished = unfinished;
  atexit(remove_unfinished);
  const int error = posix_fallocate(file, 0, (off_t)trace.size);
  if (error != 0) fail("%s: %zu bytes: %s", unfinished, trace.size, strerror(error));
  trace.bytes = mmap(NULL, trace.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (trace.bytes == MAP_FAILED) fail("%s: %s", unfinished, strerror(errno));
  close(file);
  memcpy(trace.bytes, head, trace.data);
  free(head);
}

void trace_see(const Run* run) {
  uint8_t* array = trace.bytes + trace.data;
  for (int64_t i = 0; i < model.site_count; ++i) {
    const Site* const site = &model.sites[i];
    const size_t row_bytes = (size_t)numbers(site) * sizeof(float);
    if (strcmp(site->name, run->site) == 0) {
      const Buffer* const buffer = &run->buffers[site->buffer];
      const int64_t rows = buffer->rows < run->rows ? buffer->rows : run->rows;
      const int64_t keep = trace.all ? rows : 1;
      const uint8_t* const from = run->arena + buffer->offset + site->column + (rows - keep) * buffer->row_bytes;
      for (int64_t row = 0; row < keep; ++row)
        memcpy(array + (size_t)(trace.kept + row) * row_bytes, from + row * buffer->row_bytes, row_bytes);
      return;
    }
    array += (size_t)trace.rows * row_bytes;
  }
}

void trace_pass(int64_t rows) {
  for (int64_t row = trace.all ? 0 : rows - 1; row < rows; ++row) trace.positions[trace.kept++] = (int32_t)(trace.done + row);
  trace.done += rows;
}

static void put_string(FILE* out, const char* name, const char* text) {
  fprintf(out, " \"%s\": \"", name);
  for (; *text != '\0'; ++text)
    fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", (unsigned char)*text < ' ' ? ' ' : *text);
  fputs("\",\n", out);
}

static void put_integers(FILE* out, const char* name, const int32_t* values, int64_t count) {
  fprintf(out, "  \"%s\": [", name);
  for (int64_t i = 0; i < count; ++i) fprintf(out, "%s%d", i > 0 ? ", " : "", values[i]);
  fputs("],\n", out);
}

static void write_map(const char* path, const int32_t* tokens) {
  FILE* const out = fopen(path, "we");
  if (out == NULL) fail("%s: %s", path, strerror(errno));
  fputs("{\n", out);
  put_string(out, "model", model.name);
  put_string(out, "weights", model.weights_type);
  put_string(out, "model_sha256", model.sha256);
  put_string(out, "recipe", "assay");
  put_string(out, "rope", model.rope);
  put_string(out, "dtype", "float32");
  put_string(out, "source", "assay plan --c");
  fputs(" \"prompts\": {\"prompt\": {\n", out);
  put_integers(out, "tokens", tokens, trace.tokens);
  put_integers(out, "positions", trace.positions, trace.rows);
  fputs("  \"sites\": {", out);
  for (int64_t i = 0; i < model.site_count; ++i) {
    const Site* const site = &model.sites[i];
    fprintf(out, "%s\n   \"%s\": {\"array\": \"%s\", \"layout\": \"row,%s\"}", i > 0 ? "," : "", site->name, site->name,
            site->heads > 0 ? "head,dim" : "feature");
  }
  fputs("\n  }\n }}\n}\n", out);
  if (fclose(out) != 0) fail("%s: %s", path, strerror(errno));
}

void trace_close(const int32_t* tokens) {
  static const char ending[] = ".safetensors";
  size_t stem = strlen(trace.path);
  if (stem >= sizeof ending && strcmp(trace.path + stem - (sizeof ending - 1), ending) == 0) stem -= sizeof ending - 1;
  write_map(joined(trace.path, stem, ".json"), tokens);
  for (int64_t i = 0; i < trace.tokens; ++i) {
    char id[kIdWidth + 1];
    snprintf(id, sizeof id, "%*d", kIdWidth, tokens[i]);
    memcpy(trace.bytes + trace.ids + i * kIdWidth, id, kIdWidth);
  }
  if (munmap(trace.bytes, trace.size) != 0 || rename(trace.unfinished, trace.path) != 0)
    fail("%s: %s", trace.path, strerror(errno));
  trace.unfinished = NULL;
}
