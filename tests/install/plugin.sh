#!/usr/bin/env bash
# plugin.sh BUILD CXX: installs BUILD, writes a plugin with `assay new-plugin`, builds it against the installed package, checks it,
# breaks it and sees it named, as someone with a kernel of their own would.
set -euo pipefail

. "$(dirname "$0")/common.sh"
cxx=$2

say "install"
cmake --install "$build" --prefix "$work/assay" >"$work/install.log"
assay=$work/assay/bin/assay

say "a new plugin"
cd "$work"
"$assay" new-plugin "$work/mine"
"$assay" new-plugin "$work/mine" 2>"$work/again" && die "a folder that is not empty was written to"
grep -q 'not empty; expected a new folder' "$work/again" || die "the refusal is not named"
"$assay" new-plugin "$work/a b" 2>"$work/again" && die "a name with a space was taken"

say "build and check"
cmake -S mine -B mine/build -DCMAKE_PREFIX_PATH="$work/assay" -DCMAKE_CXX_COMPILER="$cxx" >configure.log || { cat configure.log; die "does not configure"; }
cmake --build mine/build >build.log 2>&1 || { cat build.log; die "does not build"; }
grep -q 'warning' build.log && { cat build.log; die "builds with warnings"; }
ctest --test-dir mine/build --output-on-failure >ctest.log || { cat ctest.log; die "the kernel as written does not pass"; }
"$assay" check rms_norm --plugin mine/build/mine.so --color never >check.log
grep -q '^rms_norm mine:rms_norm .*pass$' check.log || { cat check.log; die "the table has no line of the kernel"; }

say "its ledger"
"$assay" ledger accept rms_norm --plugin mine/build/mine.so --ledger ledger.json --why "first" >/dev/null
"$assay" check rms_norm --plugin mine/build/mine.so --ledger ledger.json | grep -q ' 0 not in the ledger' || die "its ledger is not read"

say "break it: a float for the sum, then eps outside the root"
sed -i 's/double sum = 0/float sum = 0/; s/sum += static_cast<double>(x\[i\]) \* x\[i\]/sum += x[i] * x[i]/' mine/kernel.cc
cmake --build mine/build >build.log
"$assay" check rms_norm --plugin mine/build/mine.so --ledger ledger.json --checks ledger >drift.log && die "drift is not seen"
grep -q 'drift: digest' drift.log || { cat drift.log; die "drift is not named"; }
sed -i 's|std::sqrt(sum / static_cast<double>(args.n) + args.eps)|(std::sqrt(sum / static_cast<double>(args.n)) + args.eps)|' mine/kernel.cc
cmake --build mine/build >build.log
ctest --test-dir mine/build --output-on-failure >ctest.log && die "a wrong kernel passes"
grep -q 'FAIL rms_norm mine:rms_norm, case' ctest.log || { cat ctest.log; die "the failure is not named"; }

say "pass"
