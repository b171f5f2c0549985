#!/usr/bin/env bash
# plugin.sh BUILD CXX: installs BUILD, writes a plugin with `assay new-plugin`, builds it against the installed package, checks it,
# breaks it and sees it named, as someone with a kernel of their own would.
set -euo pipefail

. "$(dirname "$0")/common.sh"
cxx=$2

install_and_move
assay=$prefix/bin/assay

say "a new plugin"
cd "$work"
"$assay" new-plugin "$work/mine"
"$assay" new-plugin "$work/mine" 2>"$work/log" && die "a folder that is not empty was written to"
log_has "the refusal is not named" 'not empty; expected a new folder'
"$assay" new-plugin "$work/a b" 2>"$work/log" && die "a name with a space was taken"

say "build and check"
must "does not configure" cmake -S mine -B mine/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx"
must "does not build" cmake --build mine/build
grep -q 'warning' log && { cat log; die "builds with warnings"; }
must "the kernel as written does not pass" ctest --test-dir mine/build --output-on-failure
must "is not checked" "$assay" check rms_norm --plugin mine/build/mine.so --color never
log_has "the table has no line of the kernel" '^rms_norm mine:rms_norm .*pass$'

say "its ledger"
"$assay" ledger accept rms_norm --plugin mine/build/mine.so --ledger ledger.json --why "first" >/dev/null
"$assay" check rms_norm --plugin mine/build/mine.so --ledger ledger.json | grep -q ' 0 not in the ledger' || die "its ledger is not read"

say "break it: a float for the sum, then eps outside the root"
sed -i 's/double sum = 0/float sum = 0/; s/sum += static_cast<double>(x\[i\]) \* x\[i\]/sum += x[i] * x[i]/' mine/kernel.cc
must "does not build" cmake --build mine/build
"$assay" check rms_norm --plugin mine/build/mine.so --ledger ledger.json --checks ledger >log && die "drift is not seen"
log_has "drift is not named" 'drift: digest'
sed -i 's|std::sqrt(sum / static_cast<double>(args.n) + args.eps)|(std::sqrt(sum / static_cast<double>(args.n)) + args.eps)|' mine/kernel.cc
must "does not build" cmake --build mine/build
ctest --test-dir mine/build --output-on-failure >log && die "a wrong kernel passes"
log_has "the failure is not named" 'FAIL rms_norm mine:rms_norm, case'

say "pass"
