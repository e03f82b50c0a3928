#!/bin/bash -eu
# Builds every fuzz target into $OUT, with a dictionary and seeds, under the names that
# ClusterFuzzLite and OSS-Fuzz expect: TARGET, TARGET.dict, TARGET_seed_corpus.zip.
# `fuzz/fleet` runs this script without a container.
cd "$SRC/nonfinite"

# Optimised, with debug assertions: the default of cargo-fuzz.
cargo fuzz build
fuzz/seeds.py

for source in fuzz/fuzz_targets/*.rs; do
  target=$(basename "$source" .rs)
  cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
  cp fuzz/dictionary "$OUT/$target.dict"
  # fuzz/corpus also holds findings of earlier runs on this machine. Only the seeds are packed.
  python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" "fuzz/corpus/$target"/seed-*
done
