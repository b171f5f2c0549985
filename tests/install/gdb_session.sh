#!/usr/bin/env bash
# gdb_session.sh COMMANDS PROGRAM: what someone who types COMMANDS at gdb sees; docs/plan-as-c.md shows it.
set -euo pipefail

gdb -q -batch -iex 'set debuginfod enabled off' -ex 'set trace-commands on' -x "$1" "$2" 2>&1 |
  sed -e 's/^+/(gdb) /' -e '/^\[Thread debugging/d; /^Using host libthread_db/d; /^(gdb) source /d; /^$/d' -e 's/0x[0-9a-f]\{4,\}/0x.../g' -e "s|$(dirname "$(realpath "$2")")/||" -e 's/<assay::[^>]*)>/<...>/'
