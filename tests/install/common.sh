# What the install tests begin with; sourced, with BUILD as $1. Gives $build, $work, say and die.
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset ASSAY_DATA ASSAY_ISA ASSAY_CHECKS ASSAY_PLUGINS

say() { printf -- '-- %s\n' "$*"; }
die() { printf 'install test: %s\n' "$*" >&2; exit 1; }

# A sanitized library asks for the sanitizers' run-time in every consumer: not what is installed.
if grep -q '^ASSAY_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
  say "skipped: a build with sanitizers is not for installing"
  exit 77
fi
