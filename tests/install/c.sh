#!/usr/bin/env bash
# c.sh BUILD CC: installs BUILD and builds a C program against it, by CMake and by flags of pkg-config; neither needs the C++ runtime.
set -euo pipefail

. "$(dirname "$0")/common.sh"
cc=$2
consumer=$(cd "$(dirname "$0")/c_consumer" && pwd)

install_and_move

say "by CMake, in a project of C alone"
must "does not configure" cmake -S "$consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc"
must "does not build" cmake --build "$work/cmake"

say "by pkg-config's flags"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags assay) "$consumer/main.c" $(pkg-config --libs assay) -o "$work/plain"

for program in "$work/cmake/consumer" "$work/plain"; do
  [[ $("$program") == "1 -1 1 -2" ]] || die "$program: another result"
  ldd "$program" | grep -E 'libstdc\+\+|libgomp|hdf5' && die "$program needs more than C"
  "$program" rms_nrm >"$work/log" && die "an unknown op is found"
  log_has "an unknown op is not explained" '^rms_nrm: no such op; did you mean rms_norm\?$'
  "$program" rms_norm scaler >"$work/log" && die "an unknown ISA is found"
  log_has "an unknown ISA is not explained" '^scaler: no such ISA; did you mean scalar\? Supported here: scalar'
  ASSAY_ISA=scaler "$program" >/dev/null && die "ASSAY_ISA is not read"
  ASSAY_ISA=scaler "$program" rms_norm scalar >/dev/null || die "a named ISA does not come before ASSAY_ISA"
done

say "pass"
