#!/usr/bin/env bash
# plan_c.sh BUILD CC: installs BUILD, writes the embedded model out as C, builds that as a stranger would, by its Makefile and by its
# CMakeLists.txt, and runs it: tokens, a trace that is audited, a part fed by that trace, files that are not what they should be, gdb.
set -euo pipefail

. "$(dirname "$0")/common.sh"
cc=$2
here=$(cd "$(dirname "$0")" && pwd)

install_and_move
assay=$prefix/bin/assay
model=$prefix/share/assay/golden/models/kjv-Q4_K_M.gguf
cd "$work"
prompt=(1 285 260 1045 363 1101 260 942 306 260 587 2 411 260 733 1201 258 984 375 368)

say "the whole model, by make"
must "is not written" "$assay" plan "$model" --context 128 --chunk 16 --all-rows --c whole
must "does not build" make -C whole CC="$cc" ASSAY="$prefix"
whole/main -n 8 "${prompt[@]}" >tokens 2>times
[[ $(wc -l <tokens) == 8 ]] || die "there are not eight tokens"
ldd whole/main | grep -E 'libstdc\+\+|libgomp|hdf5' && die "the program needs more than C"

say "the same by CMake"
must "does not configure" cmake -S whole -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc"
must "does not build" cmake --build cmake
printf '%s\n' "${prompt[@]}" | cmake/main -n 8 2>times | cmp - tokens || die "other tokens"
ASSAY_ISA=scalar whole/main --chunk 1 -n 8 "${prompt[@]}" 2>times | cmp - tokens || die "other tokens by scalar kernels, one by one"

say "its trace is audited"
whole/main --trace run.safetensors -n 4 "${prompt[@]}" >/dev/null 2>times
must "is not imported" "$assay" import safetensors run.safetensors --map run.json -o run.h5
must "is not right" "$assay" audit "$model" run.h5

say "a part, from the whole's rows"
must "is not written" "$assay" plan "$model" --context 128 --chunk 16 --all-rows --layers 2-3 --c part
must "does not build" make -C part CC="$cc" ASSAY="$prefix"
part/main --input run.safetensors --trace part.safetensors >last_row 2>times
must "is not imported" "$assay" import safetensors part.safetensors --map part.json -o part.h5
must "the part gives something else than the whole" "$assay" diff part.h5 run.h5 --sites 'layers.0[23].*'

# refused WORDS MESSAGE: exit code 2, a message that matches, and nothing written.
refused() {
  local code=0
  # shellcheck disable=SC2086
  $1 >/dev/null 2>refusal </dev/null || code=$?
  grep -Eq "$2" refusal && [[ $code == 2 && ! -e no.safetensors && ! -e no.safetensors.part ]] || { cat refusal; die "$1: exit code $code; expected 2 and: $2"; }
}

say "what is refused"
head -c 1000 whole/weights.bin >short.bin
refused 'whole/main --weights short.bin 1' 'short.bin: 1000 bytes, .* expected [0-9]+: was it cut short'
refused 'whole/main --weights part/weights.bin 1' 'part/weights.bin: weights of another directory'
refused 'whole/main --weights whole/model.c 1' 'expected ASSAYWTS at byte 0'
refused 'whole/main --weights none 1' 'none: No such file'
refused 'whole/main 4096' "id '4096': expected an integer from 0 to 4095"
refused 'whole/main' 'no token id'
refused 'whole/main -n 128 1 2' 'the context is 128'
refused 'whole/main --input run.safetensors' 'takes token ids'
refused 'part/main --trace no.safetensors' 'rows of layers.01.ffn_residual are missing'
refused 'part/main --input run.json --trace no.safetensors' 'run.json: byte 0: a header of'
refused 'part/main --input run.safetensors 1 2' '2 ids for 23 rows'
refused 'part/main --input run.safetensors --trace /nowhere/x' '/nowhere/x.part: No such file'
sed 's/"layers.01.ffn_residual"/"layers.01.ffn_residuel"/' run.safetensors >other.safetensors
refused 'part/main --input other.safetensors --trace no.safetensors' "no array 'layers.01.ffn_residual'"
ASSAY_ISA=avx9 refused 'whole/main 1' 'ASSAY_ISA=avx9: no such ISA'

say "from site to site in gdb"
if command -v gdb >/dev/null && command -v gcc >/dev/null; then
  # Clang keeps no type that is a compound literal's alone.
  must "does not build" make -C whole CC=gcc ASSAY="$prefix" CFLAGS='-O0 -g' clean main
  must "gdb fails" "$here/gdb_session.sh" "$here/plan_c.gdb" whole/main
  log_has "the session lacks a line" 'Breakpoint 1, site .* "layers.02.q_proj"' 'call\(run, gemm_q4_k_x16_q8_k, &\(ProductArgs\)' \
    '^\$1 = \{-?[0-9.]+, ' '^\$2 = \{w = .*, m = 3, n = 256, k = 256,' 'Breakpoint 3, site .* "layers.02.q_norm"'
else
  say "no gdb or no gcc here"
fi

say "pass"
