#!/usr/bin/env bash
# headers.sh SOURCE HEADER...: each installed header by itself as C11, with each C compiler that is here.
set -euo pipefail

cd "$1"
shift
compiled=0
for cc in gcc clang-16; do
  command -v "$cc" >/dev/null || { echo "$cc: not here"; continue; }
  for header in "$@"; do
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only -x c - <<<"#include \"$header\"
    int not_empty;" || { echo "headers: $header is not C11 for $cc" >&2; exit 1; }
    compiled=$((compiled + 1))
  done
done
echo "headers: $compiled compiled"
((compiled > 0))
