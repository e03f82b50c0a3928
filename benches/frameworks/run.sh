#!/usr/bin/env bash
# Makes the environment and our shared library under a cache folder, then measures. Options: --torch, and those of
# frameworks.py.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${NONFINITE_FRAMEWORKS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nonfinite-frameworks}

requirements=("-r" "$here/requirements.txt")
options=()
for option in "$@"; do
    case $option in
        --torch) requirements+=("-r" "$here/requirements-torch.txt") ;;
        *) options+=("$option") ;;
    esac
done

[[ -x $cache/venv/bin/python ]] || python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install --quiet --disable-pip-version-check "${requirements[@]}"
CARGO_TARGET_DIR=$cache/target cargo build --quiet --release --manifest-path "$here/ours/Cargo.toml"

# One thread for everybody; what has a setting of its own is set in frameworks.py.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 POLARS_MAX_THREADS=1 RAYON_NUM_THREADS=1
export ARROW_NUM_THREADS=1
# Nothing is reported to anybody.
export OPENVINO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1
suffix=so
[[ $(uname) == Darwin ]] && suffix=dylib
exec "$cache/venv/bin/python" "$here/frameworks.py" \
    --library "$cache/target/release/libnonfinite_frameworks.$suffix" "${options[@]}"
