//! Every question of every backend under a validity bitmap.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{BACKENDS, Nulls, expect};
use nonfinite_oracle::{Nullable, bitmap, check_null_census, check_null_stats, check_nulls_of};

fuzz_target!(|nulls: Nulls| {
    let Nulls { valid, offset, tensor } = &nulls;
    let (bitmap, kinds) = (bitmap(valid, *offset), tensor.kinds());
    let x = Nullable { elements: tensor.elements(), bitmap: &bitmap, offset: *offset };
    for backend in &*BACKENDS {
        expect(check_nulls_of(backend, x, tensor.predicate, &kinds, valid));
        expect(check_null_census(backend, x, &kinds, valid));
        expect(check_null_stats(*backend, x, valid));
    }
});
