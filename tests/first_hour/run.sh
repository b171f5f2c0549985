#!/usr/bin/env bash
# run.sh: a newcomer's first hour. README's blocks of shell commands, each in its order and as it stands there, in an empty Debian 12 of
# debootstrap's, from a clone whose path has spaces; then the projects of examples/ and tests/install/consumer. Says what each block took.
# A command whose comment says "exits N" must exit with N, any other with 0. Needs root and the network; an hour on two cores.
#   tests/first_hour/run.sh           in an empty root
#   tests/first_hour/run.sh --here    on this machine, with what is installed here: where debootstrap or chroot is not allowed
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$source/build/first_hour
mirror=${ASSAY_MIRROR:-http://deb.debian.org/debian}

die() { printf 'first hour: %s\n' "$*" >&2; exit 2; }

empty_root() {
  [[ $EUID -eq 0 ]] || die "an empty root takes root; --here walks on this machine"
  command -v debootstrap >/dev/null || apt-get install -qy --no-install-recommends debootstrap >/dev/null
  [[ -x $work/base/bin/bash ]] || debootstrap --variant=minbase bookworm "$work/base" "$mirror" >"$work/debootstrap.log"
  rm -rf "$work/root"
  cp -a "$work/base" "$work/root"
  cp /etc/resolv.conf "$work/root/etc/"
  mount -t proc proc "$work/root/proc"
  mount --rbind /dev "$work/root/dev"
  trap 'umount "$work/root/proc"; umount -R -l "$work/root/dev"' EXIT
}

# The blocks, each a file of its own: 01, 02, ...
blocks() {
  awk -v out="$1" '/^```sh$/ { inside = 1; file = sprintf("%s/%02d", out, ++n); next } /^```$/ { inside = 0 } inside { print > file }' "$source/README.md"
}

mkdir -p "$work"
home=/home/newcomer
if [[ ${1-} == --here ]]; then
  root='' home=$work/home
  rm -rf "$home"
  enter() { env -i HOME="$home" PATH=/usr/local/bin:/usr/bin:/bin "$@"; }
elif [[ $# -eq 0 ]]; then
  empty_root
  root=$work/root
  enter() { chroot "$root" env -i HOME="$home" PATH=/usr/sbin:/usr/local/bin:/usr/bin:/bin "$@"; }
else
  die "unknown argument '$1'; expected --here or nothing"
fi
mkdir -p "$root$home/a clone" "$root$home/blocks"
git -C "$source" archive HEAD | tar -x -C "$root$home/a clone"
blocks "$root$home/blocks"
cp "$source/tests/first_hour/walk" "$root$home/"
enter bash "$home/walk" "$home/a clone" "$home/blocks"
