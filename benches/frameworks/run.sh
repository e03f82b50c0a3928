#!/usr/bin/env bash
# Makes the environment and our shared library in a cache folder, then measures. Options: --torch,
# and the options of frameworks.py.
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
CARGO_TARGET_DIR=$cache/target cargo build --quiet --locked --release \
    --manifest-path "$here/ours/Cargo.toml"

# One thread for all. frameworks.py sets the threads of frameworks without such a variable.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 POLARS_MAX_THREADS=1
export RAYON_NUM_THREADS=1 ARROW_NUM_THREADS=1
# Nothing is reported to anybody.
export OPENVINO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1
suffix=so
[[ $(uname) == Darwin ]] && suffix=dylib
exec "$cache/venv/bin/python" "$here/frameworks.py" \
    --library "$cache/target/release/libnonfinite_frameworks.$suffix" "${options[@]}"
