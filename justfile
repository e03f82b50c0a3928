# The daily commands: https://just.systems, or read the plain commands in CONTRIBUTING.md.

# The tests of the crate on every backend that this CPU has, or all of one product (see .ci/run).
test product="":
    {{ if product == "" { "cargo test" } else { "bash .ci/run " + product } }}

# Formatting, clippy and documentation without a warning: all, or one package.
lint package="":
    cargo fmt --all --check
    cargo clippy {{ if package == "" { "--workspace" } else { "-p " + package } }} \
        --all-targets --all-features -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features \
        {{ if package == "" { "--workspace" } else { "-p " + package } }}

# Fuzz targets, a minute each: all, or those that are named.
fuzz *targets:
    fuzz/campaign --minutes 1 --no-record {{ targets }}

# What every change needs, or one product, or `all`.
ci run="quick":
    bash .ci/run {{ run }}

# This commit against another one: `just bench main --bench masks --filter /16KiB/clean/nonfinite`.
bench base *args:
    ci/bench-compare {{ base }} {{ args }}

# The page that looks at dropped files, at http://127.0.0.1:8000.
page:
    checker/web/test serve
