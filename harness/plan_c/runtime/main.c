/* Runs model.c: token ids in, logits or greedy tokens out. */
#define _GNU_SOURCE /* getopt_long */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "kernels/kernels.h"
#include "model.h"
#include "trace.h"

static const char usage[] =
    "usage: main [OPTIONS] [ID ...]\n"
    "Runs token ids, or rows of --input, and prints the last one's output (logits), a number a line.\n"
    "  ID ...          token ids; without any they are read from --ids\n"
    "  --ids FILE      a file of ids, between blanks or commas; -, the default, is standard input\n"
    "  --input FILE    of a program that begins at a later layer: safetensors with the rows of the site before\n"
    "  -n N            print N greedy tokens instead, an id a line\n"
    "  --chunk N       most tokens of a pass; 1: each by itself, as decoding does it\n"
    "  --trace FILE    write what every site gives, safetensors, and beside it the map for `assay import safetensors`, .json\n"
    "  --weights FILE  by default weights.bin beside this program\n"
    "  --map           use the weights where their file is mapped, not a copy in huge pages\n"
    "  --list          print sites, buffers and weights\n";

typedef struct Options {
  const char *ids, *input, *trace, *weights;
  int64_t greedy, chunk;
  bool list, map;
  int first_id; /* index into argv */
} Options;

static int64_t number(const char* what, const char* text, int64_t least, int64_t most) {
  char* end = NULL;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < least || value > most)
    fail("%s '%s': expected an integer from %ld to %ld", what, text, least, most);
  return value;
}

static Options read_options(int argc, char** argv) {
  static const struct option known[] = {{"help", 0, NULL, 'h'},  {"ids", 1, NULL, 'i'},   {"input", 1, NULL, 'r'},
                                        {"chunk", 1, NULL, 'c'}, {"trace", 1, NULL, 't'}, {"weights", 1, NULL, 'w'},
                                        {"list", 0, NULL, 'l'},  {"map", 0, NULL, 'm'},   {0}};
  Options options = {.ids = "-", .greedy = -1, .chunk = model.chunk};
  for (int option; (option = getopt_long(argc, argv, "hn:", known, NULL)) != -1;) {
    if (option == 'i') options.ids = optarg;
    if (option == 'r') options.input = optarg;
    if (option == 't') options.trace = optarg;
    if (option == 'w') options.weights = optarg;
    if (option == 'l') options.list = true;
    if (option == 'm') options.map = true;
    if (option == 'n') options.greedy = number("-n", optarg, 1, INT32_MAX);
    if (option == 'c') options.chunk = number("--chunk", optarg, 1, model.chunk);
    if (option == '?' || option == 'h') exit(fputs(usage, option == 'h' ? stdout : stderr) < 0 || option == '?' ? 2 : 0);
  }
  options.first_id = optind;
  return options;
}

static void list(void) {
  printf("%s, %s: layers %ld .. %ld of %ld, context %ld, prefill in chunks of %ld\n", model.name, model.weights_type,
         model.first_layer, model.last_layer, model.layers, model.context, model.chunk);
  printf("from %s to %s\n\n%-30s %6s %6s\n", model.input_site != NULL ? model.input_site : "token ids", model.output_site, "site",
         "heads", "width");
  for (int64_t i = 0; i < model.site_count; ++i)
    printf("%-30s %6ld %6ld\n", model.sites[i].name, model.sites[i].heads, model.sites[i].width);
  for (int set = 0; set < 2; ++set) {
    printf("\n%-20s %12s %10s %6s  in use\n", set == 0 ? "buffer of decode" : "buffer of prefill", "offset", "row bytes", "rows");
    for (int64_t i = 0; i < model.buffer_count; ++i) {
      const Buffer* const buffer = set == 0 ? &model.decode_buffers[i] : &model.prefill_buffers[i];
      printf("%-20s %12ld %10ld %6ld  %s .. %s\n", buffer->name, buffer->offset, buffer->row_bytes, buffer->rows, buffer->first,
             buffer->last);
    }
  }
  printf("arena: %ld bytes\n\n%-30s %-12s %12s %12s\n", model.arena_bytes, "weight", "layout", "offset", "bytes");
  for (int64_t i = 0; i < model.weight_count; ++i)
    printf("%-30s %-12s %12ld %12ld\n", model.weights[i].name, model.weights[i].layout, model.weights[i].offset,
           model.weights[i].bytes);
  printf("weights: %ld bytes, sha256 %s\n", model.weights_bytes, model.weights_sha256);
}

/* Ids from the arguments or the file, model.context at most; returns how many. */
static int64_t read_ids(const Options* options, int argc, char** argv, int32_t* ids) {
  const bool given = options->first_id < argc;
  FILE* const file = given || strcmp(options->ids, "-") == 0 ? stdin : fopen(options->ids, "re");
  if (file == NULL) fail("%s: %s", options->ids, strerror(errno));
  int64_t count = 0;
  char word[24];
  for (int i = options->first_id; given ? i < argc : fscanf(file, " %23[^, \t\r\n]%*[, \t\r\n]", word) == 1; ++i) {
    if (count == model.context) fail("more ids than the context, %ld", model.context);
    ids[count++] = (int32_t)number("id", given ? argv[i] : word, 0, model.vocab - 1);
  }
  if (ferror(file)) fail("%s: %s", options->ids, strerror(errno));
  return count;
}

/* weights.bin where the program lies. */
static const char* weights_beside(void) {
  static char path[4096];
  if (readlink("/proc/self/exe", path, sizeof path - sizeof "weights.bin") < 0)
    fail("/proc/self/exe: %s; say --weights FILE", strerror(errno));
  return strcpy(strrchr(path, '/') + 1, "weights.bin"), path;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One pass; ends the program where a site refuses. */
static const float* pass(Run* run, const void* input, int64_t rows) {
  static const char* const names[] = {"ok", "bad_shape", "bad_parameter", "out_of_range", "not_finite"};
  const int64_t first = run->position;
  const float* const output = rows == 1 ? model_decode(run, input) : model_prefill(run, input, rows);
  if (output == NULL) fail("%s refuses tokens %ld .. %ld: %s", run->site, first, first + rows - 1, names[run->status]);
  if (run->see != NULL) trace_pass(rows);
  return output + (rows > 1 && model.output_rows > 1 ? (rows - 1) * model.output_width : 0);
}

static const float* prefill(Run* run, const uint8_t* input, int64_t rows, int64_t chunk) {
  const int64_t row_bytes = model.input_site == NULL ? (int64_t)sizeof(int32_t) : model.input_width * (int64_t)sizeof(float);
  const float* output = NULL;
  for (int64_t row = 0; row < rows; row += chunk)
    output = pass(run, input + row * row_bytes, rows - row < chunk ? rows - row : chunk);
  return output;
}

static void decode_greedily(Run* run, const float* logits, int64_t count, int32_t* next) {
  AssayKernel* const argmax = assay_find_kernel("argmax", NULL);
  for (int64_t i = 0; i < count; ++i, ++next) {
    const AssayStatus status = argmax(&(ArgmaxArgs){.x = logits, .index = next, .n = model.vocab});
    if (status != ASSAY_OK) fail("the logits at position %ld are not finite", run->position - 1);
    printf("%d\n", (int)*next);
    if (i + 1 < count) logits = pass(run, next, 1);
  }
}

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  if (options.list) return list(), 0;
  const bool of_ids = model.input_site == NULL;
  const bool of_logits = strcmp(model.output_site, "lm_head") == 0;
  if (options.greedy > 0 && !(of_ids && of_logits)) fail("-n: this part of the model has no tokens on both of its sides");
  if (of_ids != (options.input == NULL))
    fail(of_ids ? "--input: this program takes token ids" : "--input FILE: rows of %s are missing", model.input_site);

  const char* fault = assay_float_fault();
  if (fault != NULL) fail("%s", fault);
  if ((fault = model_start()) != NULL) {
    char why[512];
    assay_explain_kernel(fault, NULL, why, sizeof why);
    fail("%s", why);
  }
  const uint8_t* const weights = load_weights(options.weights != NULL ? options.weights : weights_beside(), options.map);

  int32_t* const ids = allocate((model.context + 1) * (int64_t)sizeof *ids); /* 0 where a part is told none */
  int64_t rows = 0;
  const void* input = ids;
  if (!of_ids) input = read_rows(options.input, model.input_site, model.input_width, &rows, ids, model.context);
  const int64_t id_count = of_ids || options.first_id < argc ? read_ids(&options, argc, argv, ids) : 0;
  if (of_ids) rows = id_count;
  if (rows == 0) fail("no token id\n%s", usage);
  if (id_count > 0 && id_count != rows) fail("%ld ids for %ld rows of --input", id_count, rows);
  const int64_t decoded = options.greedy > 0 ? options.greedy - 1 : 0;
  if (rows > model.context - decoded) fail("%ld tokens and %ld more; the context is %ld", rows, decoded, model.context);

  Run run = {.arena = allocate(model.arena_bytes), .weights = weights};
  if (options.trace != NULL) {
    run.see = trace_see;
    trace_open(options.trace, rows + decoded, (rows + options.chunk - 1) / options.chunk + decoded);
  }
  const double start = seconds();
  const float* const output = prefill(&run, input, rows, options.chunk);
  const double middle = seconds();
  if (options.greedy > 0) {
    decode_greedily(&run, output, options.greedy, ids + rows);
  } else {
    for (int64_t i = 0; i < model.output_width; ++i) printf("%.9g\n", (double)output[i]);
  }
  const double end = seconds();
  if (run.see != NULL) trace_close(ids);
  if (fflush(stdout) != 0 || ferror(stdout)) fail("standard output: %s", strerror(errno));
  fprintf(stderr, "prefill %ld tokens in %.4f s, %.1f tokens/s\n", rows, middle - start, (double)rows / (middle - start));
  if (decoded > 0)
    fprintf(stderr, "decode  %ld tokens in %.4f s, %.1f tokens/s\n", decoded, end - middle, (double)decoded / (end - middle));
  return 0;
}
