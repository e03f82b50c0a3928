# Sourced by arm64, s390x and wasm32: Debian's rustc-web, a compiler with LLVM's back ends for all
# of them. The cargo of rustup calls it through RUSTC. Its release differs from that of rustup, so
# it has its own build folder in $EMU. shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The packages whose tests run there. Release builds, so that ci/hot-loops --neon can read the
# kernels.
PACKAGES=(--release -p nonfinite -p nonfinite-kernels)

# Unpacks the compiler and the source of std; ends in the files rustc and rustc-web.version.
rustc_web() {
  local v=$EMU/rustc-web.version
  # One release for all targets, that both architectures have: rustc refuses libraries of another.
  if [ ! -e "$v" ]; then
    { versions amd64; versions arm64; } | sort -V | uniq -d | tail -n 1 >"$v.new"
    [ -s "$v.new" ] || fail "no rustc-web for both amd64 and arm64"
    mv "$v.new" "$v"
  fi
  v=$(cat "$v")
  unpack rustc-web "rustc-web=$v" "libstd-rust-web-dev=$v" "rust-web-src=$v"
  wrapper "$EMU/rustc" "$ROOT/usr/bin/rustc"
}

versions() {
  apt cache madison "libstd-rust-web-dev:$1" | awk '{ print $3 }' | sort -u
}

# cross ARCHITECTURE CPU: unpacks a C compiler for linking, and the emulator. Makes the files cc-CPU
# and run-CPU.
cross() {
  local arch=$1 cpu=$2
  unpack "cross-$arch" "gcc-12-$cpu-linux-gnu" "libc6-dev-$arch-cross" qemu-user
  wrapper "$EMU/cc-$cpu" "$ROOT/usr/bin/$cpu-linux-gnu-gcc-12" "--sysroot=$ROOT"
  # Cargo sets LD_LIBRARY_PATH to folders of the host: not for the guest.
  wrapper "$EMU/run-$cpu" "$ROOT/usr/bin/qemu-$cpu" -L "$ROOT/usr/$cpu-linux-gnu" \
    -E LD_LIBRARY_PATH=
}

# variable TARGET NAME VALUE: sets CARGO_TARGET_<TARGET>_<NAME>.
variable() {
  local target=${1^^}
  export "CARGO_TARGET_${target//-/_}_$2=$3"
}

# For a target whose std cargo must build: adds the crates of std to the flags of cargo. The flag is
# unstable, so RUSTC_BOOTSTRAP makes the compiler act as a nightly one.
FLAGS=()
build_std() {
  export RUSTC_BOOTSTRAP=1
  FLAGS+=("-Zbuild-std=$1")
}

# cargo_for TARGET COMMAND ARGS...: `cargo COMMAND ARGS` for the target.
cargo_for() {
  "$TOP/ci/need" cargo
  export RUSTC=$EMU/rustc CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$EMU/target}
  cd "$TOP"
  exec cargo "$2" --target "$1" "${FLAGS[@]}" "${@:3}"
}
