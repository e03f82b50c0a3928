//! Strided views of any layout against a nested loop over the elements that they name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite::{Census, Elements, Error, MaskView, Predicate, TensorView};
use nonfinite_fuzz::{BACKENDS, Layout, Strided, expect};
use nonfinite_oracle::{
    Above, Kind, Subject, Summary, bitmap, check, holds, kinds, read, summary_of_valid,
};

/// A view as a subject of the checks. It must answer for its elements in row-major order.
struct Named<'a>(TensorView<'a>);

impl Subject for Named<'_> {
    fn name(&self) -> &str {
        "view"
    }
    fn mask(&self, _: Elements<'_>, predicate: Predicate, out: &mut [u8]) {
        self.0.mask(predicate, out).expect("an output of the right length");
    }
    fn bits(&self, _: Elements<'_>, predicate: Predicate, out: &mut [u8], offset: usize) {
        self.0.bits(predicate, out, offset).expect("an output of the right length");
    }
    fn any(&self, _: Elements<'_>, predicate: Predicate) -> bool {
        self.0.any(predicate)
    }
    fn all(&self, _: Elements<'_>, predicate: Predicate) -> bool {
        self.0.all(predicate)
    }
    fn count(&self, _: Elements<'_>, predicate: Predicate) -> usize {
        self.0.count(predicate)
    }
    fn position(&self, _: Elements<'_>, predicate: Predicate) -> Option<usize> {
        self.0.position(predicate)
    }
    fn census(&self, _: Elements<'_>) -> Census {
        self.0.census()
    }
    fn stats(&self, _: Elements<'_>) -> Summary {
        self.0.stats().into()
    }
    fn above(&self, _: Elements<'_>, threshold: f64) -> Above {
        Above::of(self.0, threshold)
    }
}

fuzz_target!(|input: Strided| {
    let Strided { format, predicate, input: from, output: to, memory } = &input;
    let size = format.size_in_bytes();
    let elements = Elements::from_bytes(memory, *format).expect("whole elements");
    let view = TensorView::strided(elements, from.offset, &from.sizes, &from.strides);
    let Some(named) = from.named() else {
        // Too many elements for a loop: only checks that the view is made or refused, and that a
        // short output is refused.
        if let Ok(view) = view {
            let length = Error::OutputLength { elements: view.len(), output: 1 };
            assert_eq!(view.mask(*predicate, &mut [0xA5u8][..]), Err(length));
        }
        return;
    };
    let exist = named.iter().all(|&i| (0..elements.len() as i128).contains(&i));
    assert_eq!(view.is_ok(), exist, "{view:?}");
    let Ok(view) = view else { return };
    let gathered: Vec<u8> =
        named.iter().flat_map(|&i| &memory[i as usize * size..][..size]).copied().collect();
    let kinds = kinds(*format, &gathered);
    for backend in &*BACKENDS {
        let view = view.on(*backend);
        expect(check(&Named(view), *format, &gathered, &kinds));
        scattered(&view, *predicate, &gathered, to);
        with_nulls(view, *predicate, &gathered, &kinds, memory);
    }
});

/// Questions under a validity bitmap, made of bits of the memory.
fn with_nulls(
    view: TensorView<'_>,
    predicate: Predicate,
    gathered: &[u8],
    kinds: &[Kind],
    memory: &[u8],
) {
    let valid =
        |i: usize| memory.get(i / 8 % memory.len().max(1)).is_some_and(|x| x >> (i % 8) & 1 == 1);
    let valid: Vec<bool> = (0..kinds.len()).map(valid).collect();
    let offset = memory.len() % 19;
    let bits = bitmap(&valid, offset);
    let view = view.with_validity(&bits, offset).expect("a bit for each element");
    let hits = |holds: &dyn Fn(Kind) -> bool| {
        let at: Vec<usize> = (0..kinds.len()).filter(|&i| valid[i] && holds(kinds[i])).collect();
        (at.len(), at.first().copied())
    };
    let wanted = hits(&|kind| holds(predicate, kind));
    assert_eq!((view.count(predicate), view.position(predicate)), wanted, "{view:?}");
    let census = view.census();
    for (class, kind) in
        [(census.nan, Kind::Nan), (census.pos_inf, Kind::PosInf), (census.neg_inf, Kind::NegInf)]
    {
        assert_eq!((class.count, class.first), hits(&|other| other == kind), "{view:?}");
    }
    let format = view.view().format();
    let elements: Vec<u64> = gathered.chunks_exact(format.size_in_bytes()).map(read).collect();
    let want = summary_of_valid(format, &elements, &valid);
    assert_eq!(Summary::from(view.stats()), want, "{view:?}");
}

/// A mask into an output of another layout.
fn scattered(view: &TensorView<'_>, predicate: Predicate, gathered: &[u8], to: &Layout) {
    /// Neither 0 nor 1.
    const CANARY: u8 = 0xA5;
    /// Longer than most layouts reach.
    const ROOM: usize = 6000;
    let mut out = [CANARY; ROOM];
    let Some(named) = to.named() else { return };
    let mut want = out;
    match MaskView::strided(&mut out[..], to.offset, &to.sizes, &to.strides) {
        Err(Error::Overlap { .. }) => {}
        Err(_) => assert!(named.iter().any(|&i| !(0..ROOM as i128).contains(&i)), "{to:?}"),
        Ok(mut target) => {
            let result = view.mask_into(predicate, &mut target);
            assert_eq!(result.is_ok(), view.sizes() == to.sizes, "{result:?}");
            if result.is_ok() {
                let hits = kinds(view.format(), gathered);
                for (&i, kind) in named.iter().zip(hits) {
                    let place = &mut want[i as usize];
                    assert_eq!(*place, CANARY, "{to:?} names byte {i} twice");
                    *place = u8::from(holds(predicate, kind));
                }
            }
        }
    }
    assert!(out == want, "{to:?}");
}
