#!/usr/bin/env bash
# help.sh BUILD: installs BUILD, stands in an empty folder, and there reads the help of every command: each file that it names is there,
# each example runs as it is printed. Left out are those whose input is the user's own.
set -euo pipefail

. "$(dirname "$0")/common.sh"

install_and_move
export PATH=$prefix/bin:$PATH
mkdir "$work/here"
cd "$work/here"
own='^assay (explain|import|import [a-z.]+|ledger|ledger accept|reduce|verify)$'

mapfile -t commands < <(assay completion man --json | sed -n 's/^ *"command": "\(.*\)",$/\1/p')
[[ ${#commands[@]} -gt 20 ]] || die "only ${#commands[@]} commands in the option table"
for command in "${commands[@]}"; do
  $command --help >"$work/log" || die "'$command --help' fails"
  while read -r file; do
    [[ -e $file ]] || die "the help of '$command' names '$file', which is not there"
  done < <(grep -Eo "[^ (']*(golden|docs)/[^ ),']+" "$work/log" || true)
  example=$(sed -n 's/^Example: //p' "$work/log")
  [[ -n $example ]] || die "no example in the help of '$command'"
  [[ $command =~ $own ]] && continue
  say "$example"
  code=0
  bash -c "$example" >"$work/log" 2>&1 || code=$?
  # Two traces that part, a kernel that a trace blames: an answer, not an error.
  [[ $code == 0 || ( $code == 1 && $example =~ ^assay\ (diff|bisect|attribute|audit) ) ]] || { cat "$work/log"; die "exit code $code"; }
done

say "pass"
