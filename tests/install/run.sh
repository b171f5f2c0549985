#!/usr/bin/env bash
# run.sh BUILD CXX CC: installs BUILD far from the source tree, moves the tree, and there builds a consumer with
# find_package, runs the program, and looks at every file that belongs to an installation.
set -euo pipefail

. "$(dirname "$0")/common.sh"
cxx=$2 cc=$3
consumer=$(cd "$(dirname "$0")/consumer" && pwd)

install_and_move

say "a consumer with find_package(assay)"
must "the consumer does not configure" cmake -S "$consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_COMPILER="$cc"
must "the consumer does not build" cmake --build "$work/consumer"
"$work/consumer/consumer"

say "the installed program finds its data from anywhere"
(cd / && "$prefix/bin/assay" check add --color never) || die "the installed 'assay check add' fails"
(cd / && "$prefix/bin/assay" check add --json) >"$work/report.json"
grep -q '"verdict": "pass"' "$work/report.json" || die "'assay check add --json' reports no pass"

say "what belongs to an installation"
for file in share/assay/golden/{MANIFEST.json,SCHEMA.md,LICENSES.md,ops/add.h5,record/record_ops.py,record/requirements.txt} \
  share/doc/assay/{LICENSE,README.md,CHANGELOG.md,CONTRIBUTING.md,docs/design.md,docs/plots/diff.png,action.yml,examples/ci/CMakeLists.txt,examples/python/orders.py,templates/assay.gitlab-ci.yml} \
  share/man/man1/assay.1 share/bash-completion/completions/assay share/zsh/site-functions/_assay \
  share/fish/vendor_completions.d/assay.fish; do
  [[ -s $prefix/$file ]] || die "$file is missing or empty"
done
if grep -rIl --exclude=*.h5 -e "$build" -e "$work" "$prefix"/{lib*,share} 2>/dev/null; then
  die "the files above name the folder that they were built in"
fi

say "the completions parse"
bash -n "$prefix/share/bash-completion/completions/assay"
if command -v zsh >/dev/null; then zsh -n "$prefix/share/zsh/site-functions/_assay"; fi
if command -v fish >/dev/null; then fish --no-execute "$prefix/share/fish/vendor_completions.d/assay.fish"; fi

say "pass"
