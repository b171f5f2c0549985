# What the install tests begin with; sourced, with BUILD as $1. Gives $build, $work and the functions below.
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset ASSAY_DATA ASSAY_ISA ASSAY_CHECKS ASSAY_PLUGINS

say() { printf -- '-- %s\n' "$*"; }
die() { printf 'install test: %s\n' "$*" >&2; exit 1; }
# must WHAT COMMAND...: its output goes to $work/log; where it fails, that is shown, and WHAT said of it.
must() {
  local what=$1
  "${@:2}" >"$work/log" 2>&1 || { cat "$work/log"; die "$what"; }
}
# log_has WHAT PATTERN...: $work/log has a line for each extended regular expression; where it lacks one, it is shown, and WHAT said.
log_has() {
  local pattern
  for pattern in "${@:2}"; do grep -Eq -e "$pattern" "$work/log" || { cat "$work/log"; die "$1: no line '$pattern'"; }; done
}
# The build in $prefix, a tree that was moved after it was installed.
install_and_move() {
  say "install, then move the tree"
  must "does not install" cmake --install "$build" --prefix "$work/first"
  mv "$work/first" "$work/moved"
  prefix=$work/moved
}

# A sanitized library asks for the sanitizers' run-time in every consumer: not what is installed.
if grep -q '^ASSAY_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
  say "skipped: a build with sanitizers is not for installing"
  exit 77
fi
