# Sourced by the scripts beside it. Debian packages go into one folder, $EMU (default: .emu at the
# root of the repository), with a private state of apt: nothing is installed, no lock of the system
# is taken, and root is not needed.

shopt -s inherit_errexit
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "${EMU:=$TOP/.emu}"
EMU=$(cd "$EMU" && pwd)
ROOT=$EMU/root
LIBS=$ROOT/usr/lib/x86_64-linux-gnu
export EMU

fail() {
  echo "$0: $*" >&2
  exit 1
}

# begin SETUP ARGS...: calls the function SETUP, under a lock of $EMU. Ends the script if ARGS are
# `setup`.
begin() {
  [ "$(uname -sm)" = "Linux x86_64" ] || fail "works on x86-64 Linux only"
  "$TOP/ci/need" flock
  exec 9>"$EMU/lock"
  flock 9
  "$1"
  exec 9>&-
  if [ "${2:-}" = setup ]; then
    echo "${0##*/}: ready in $EMU"
    exit 0
  fi
}

# Further tests besides the backend tests: guard pages.
GUARD=(--test guard)

# backend_tests BACKENDS ARGS...: sets the arguments of `cargo test` if the user gave none: ARGS,
# and the backend tests, which must run on BACKENDS (with commas between them) and no others.
# `known_bad` tests the tests, and is left out.
backend_tests() {
  export NONFINITE_REQUIRE=$1 NONFINITE_ONLY=$1 RUST_BACKTRACE=0
  ARGS=(test "${@:2}" --test backends -- --show-output --skip known_bad)
}

# apt get|cache ARGS...: on the private state.
apt() {
  "$TOP/ci/need" apt-get
  local tool=apt-$1 state=$EMU/apt
  shift
  if [ ! -e "$state/conf" ] || [ -n "$(find "$state/conf" -mmin +600)" ]; then
    mkdir -p "$state"/{lists,cache/archives}/partial
    cat >"$state/new" <<C
Dir::State::Lists "$state/lists";
Dir::Cache "$state/cache";
APT::Architectures { "amd64"; "arm64"; };
APT::Sandbox::User "$(id -un)";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
Debug::NoLocking "true";
C
    # A list that cannot be fetched, perhaps of a third party, is ignored. A missing package is an
    # error later.
    APT_CONFIG=$state/new apt-get -qq update >&2 || true
    mv "$state/new" "$state/conf"
  fi
  APT_CONFIG=$state/conf "$tool" "$@"
}

# unpack GROUP [--alone] PACKAGE...: unpacks the packages into $ROOT, once, with the dependencies
# that the system lacks. --alone leaves out the dependencies.
unpack() {
  local group=$1 archives=$EMU/apt/cache/archives deb members
  shift
  [ ! -e "$EMU/unpacked/$group" ] || return 0
  rm -f "$archives"/*.deb
  if [ "$1" = --alone ]; then
    shift
    apt cache stats >/dev/null # makes the folder
    (cd "$archives" && apt get -qq download "$@" >&2)
  else
    apt get -qq -y --download-only install "$@" >&2
  fi
  mkdir -p "$ROOT" "$EMU/unpacked"
  for deb in "$archives"/*.deb; do
    # The whole of these would only fill the disk.
    case ${deb##*/} in
      libc6_*) continue ;; # must be the system's, as its dynamic loader is
      linux-image-*) members=('./boot/vmlinuz-*') ;;
      rust-web-src_*) members=('./usr/src/rustc-*/library' ./usr/lib/rustlib) ;;
      qemu-user_*) members=(./usr/bin/qemu-aarch64 ./usr/bin/qemu-s390x) ;;
      *) members=(.) ;;
    esac
    dpkg --fsys-tarfile "$deb" | tar -x -C "$ROOT" --no-same-owner --wildcards "${members[@]}"
  done
  rm -f "$archives"/*.deb
  touch "$EMU/unpacked/$group"
}

# wrapper FILE PROGRAM ARGS...: makes FILE run an unpacked program with the unpacked libraries.
wrapper() {
  local file=$1
  shift
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$LIBS" "$*" >"$file.new"
  chmod +x "$file.new"
  mv "$file.new" "$file"
}
