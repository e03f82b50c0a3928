# The five daily commands: https://just.systems, or read the plain commands in CONTRIBUTING.md.

# All tests, on every backend that this CPU has.
test *args:
    cargo test {{ args }}

# Formatting, clippy and documentation without a warning.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features

# Fuzz targets, a minute each: all, or those that are named.
fuzz *targets:
    fuzz/campaign --minutes 1 --no-record {{ targets }}

# This commit against another one: `just bench main --bench masks --filter /16KiB/clean/nonfinite`.
bench base *args:
    ci/bench-compare {{ base }} {{ args }}

# The page that looks at dropped files, at http://127.0.0.1:8000.
page:
    checker/web/test serve

# Every check of a change.
ci:
    bash .ci/run
