#!/usr/bin/env bash
# c.sh BUILD CC: installs BUILD and builds a C program against it, by CMake and by flags of pkg-config; neither needs the C++ runtime.
set -euo pipefail

. "$(dirname "$0")/common.sh"
cc=$2
consumer=$(cd "$(dirname "$0")/c_consumer" && pwd)

say "install, then move the tree"
cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
prefix=$work/moved

say "by CMake, in a project of C alone"
cmake -S "$consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >"$work/log" || { cat "$work/log"; die "does not configure"; }
cmake --build "$work/cmake" >"$work/log" || { cat "$work/log"; die "does not build"; }

say "by pkg-config's flags"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags assay) "$consumer/main.c" $(pkg-config --libs assay) -o "$work/plain"

for program in "$work/cmake/consumer" "$work/plain"; do
  [[ $("$program") == "1 -1 1 -2" ]] || die "$program: another result"
  ldd "$program" | grep -E 'libstdc\+\+|libgomp|hdf5' && die "$program needs more than C"
  "$program" rms_nrm >"$work/why" && die "an unknown op is found"
  grep -qx 'rms_nrm: no such op; did you mean rms_norm?' "$work/why" || { cat "$work/why"; die "an unknown op is not explained"; }
  "$program" rms_norm scaler >"$work/why" && die "an unknown ISA is found"
  grep -q '^scaler: no such ISA; did you mean scalar? Supported here: scalar' "$work/why" || { cat "$work/why"; die "an unknown ISA is not explained"; }
  ASSAY_ISA=scaler "$program" >/dev/null && die "ASSAY_ISA is not read"
  ASSAY_ISA=scaler "$program" rms_norm scalar >/dev/null || die "a named ISA does not come before ASSAY_ISA"
done

say "pass"
