# The daily commands: https://just.systems, or read the plain commands in CONTRIBUTING.md. A product
# is one of core, c, arrow, ops, engines, checker, web, python, fuzz.

# The tests of the crate on every backend that this CPU has, or all checks of a product.
test product="core":
    {{ if product == "core" { "cargo test" } else { "bash .ci/run " + product } }}

# Formatting, clippy and documentation without a warning: all members of Cargo.toml, or a product's.
lint product="":
    cargo fmt --all --check
    cargo clippy {{ if product == "" { "--workspace --all-features" } \
        else { shell("ci/built --selection $1", product) } }} --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps {{ if product == "" \
        { "--workspace --all-features" } else { shell("ci/built --selection $1", product) } }}

# Fuzz targets, a minute each: all, those of a product, or those that are named.
fuzz *targets:
    fuzz/campaign --minutes 1 --no-record {{ targets }}

# What every change needs, or all of a product, or `all`.
ci product="quick":
    bash .ci/run {{ product }}

# This commit against another one: `just bench main --bench masks --filter /16KiB/clean/nonfinite`.
bench base *args:
    ci/bench-compare {{ base }} {{ args }}

# The page that looks at dropped files, at http://127.0.0.1:8000.
page:
    checker/web/test serve
