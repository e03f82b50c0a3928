//! Structures that contradict themselves, as the fuzz target `border` makes them by the million:
//! one of each kind, for Miri and AddressSanitizer.
#![expect(unsafe_code, reason = "structures of C")]

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use nonfinite_border::arrow::{self, ArrowArray, Schema};
use nonfinite_border::buffer::Buffer;
use nonfinite_border::dlpack::Tensor;
use nonfinite_border::{Array, Error, Kind};

fn tensor(data: &mut [f32], sizes: &[i64], strides: &[i64]) -> Tensor {
    Tensor {
        data: data.as_mut_ptr().cast(),
        device_type: 1,
        ndim: sizes.len() as i32,
        code: 2,
        bits: 32,
        lanes: 1,
        shape: sizes.as_ptr(),
        strides: strides.as_ptr(),
        ..Tensor::empty()
    }
}

fn read(tensor: &Tensor) -> Result<Array<()>, Error> {
    // SAFETY: the lists are as long as the tensor says, and the data too where a test reads them.
    unsafe { tensor.array(true, ()) }
}

#[track_caller]
fn assert_layout<T>(result: Result<T, Error>) {
    assert!(matches!(result, Err(Error::Layout(_))), "{:?}", result.err());
}

#[test]
fn tensors() {
    let mut data = [1.0, f32::NAN, 2.0, 3.0, 4.0, 5.0];
    let good = tensor(&mut data, &[2, 3], &[3, 1]);
    let array = read(&good).expect("a tensor");
    assert_eq!(array.view().expect("a view").census().nan.first, Some(1));
    // SAFETY: as in `read`.
    let flat = |tensor: Tensor| unsafe { tensor.flat().map(|(bytes, _)| bytes.len()) };
    assert_eq!(flat(good), Some(24));
    let bad = [
        Tensor { ndim: -1, ..good },
        // No number is read behind the second one.
        Tensor { ndim: 65, ..good },
        Tensor { shape: null(), ..good },
        Tensor { data: null_mut(), ..good },
        Tensor { byte_offset: u64::MAX - 8, ..good },
        tensor(&mut data, &[-2, -3], &[-3, 1]),
        tensor(&mut data, &[1 << 40, 1 << 40], &[1 << 40, 1]),
        tensor(&mut data, &[2, 3], &[i64::MIN, 1]),
    ];
    for tensor in bad {
        assert_layout(read(&tensor));
        assert_eq!(flat(tensor), None);
    }
    // An element without dimensions needs neither sizes nor strides.
    for (shape, strides) in [(null(), null()), (null(), good.strides), (good.shape, null())] {
        let one = Tensor { ndim: 0, byte_offset: 4, shape, strides, ..good };
        assert_eq!(flat(one), None);
        let nan = read(&one).expect("an element").view().expect("a view").census().nan;
        assert_eq!((nan.count, nan.first), (1, Some(0)));
    }
    // Without elements any stride will do.
    let mut empty = read(&tensor(&mut data, &[0, 3], &[1, i64::MIN])).expect("an empty tensor");
    assert_eq!(empty.block_mut(), Some(&mut [][..]));
}

#[test]
fn buffers() {
    let (mut data, sizes) = ([1f32, f32::INFINITY, 2.0], [3isize]);
    let good = Buffer {
        buf: data.as_mut_ptr().cast(),
        len: 12,
        itemsize: 4,
        readonly: true,
        ndim: 1,
        format: c"f".as_ptr(),
        shape: sizes.as_ptr(),
        strides: null(),
        suboffsets: null(),
    };
    // SAFETY: the lists and the data are as long as the buffer says.
    let read = |buffer: Buffer| unsafe { buffer.array(()) };
    let array = read(good).expect("a buffer");
    assert_eq!(array.view().expect("a view").census().pos_inf.first, Some(1));
    assert_layout(read(Buffer { len: 8, ..good }));
    assert_layout(read(Buffer { ndim: 65, ..good }));
    assert_layout(read(Buffer { shape: null(), ..good }));
    assert!(matches!(read(Buffer { itemsize: 8, ..good }), Err(Error::Kind(_))));
}

unsafe extern "C" fn keep_schema(_: *mut Schema) {}
unsafe extern "C" fn keep_array(_: *mut ArrowArray) {}

#[test]
fn arrays_of_arrow() {
    let (data, bitmap) = ([1f32, f32::NAN, f32::NAN, 2.0], [0b1101u8]);
    let buffers: [*const c_void; 2] = [bitmap.as_ptr().cast(), data.as_ptr().cast()];
    let schema = Schema {
        format: c"f".as_ptr(),
        name: null(),
        metadata: null(),
        flags: 0,
        n_children: 0,
        children: null_mut(),
        dictionary: null_mut(),
        release: Some(keep_schema),
        private_data: null_mut(),
    };
    let good = ArrowArray {
        length: 3,
        null_count: 1,
        offset: 1,
        n_buffers: 2,
        n_children: 0,
        buffers: buffers.as_ptr(),
        children: null_mut(),
        dictionary: null_mut(),
        release: Some(keep_array),
        private_data: null_mut(),
    };
    // SAFETY: the buffers are as long as the array says.
    let read = |schema: Schema, array: ArrowArray| unsafe {
        arrow::array(&raw const schema, &raw const array, ())
    };
    let array = read(schema, good).expect("an array");
    assert_eq!(array.kind, Kind::Float(nonfinite::Format::F32));
    let nan = array.view().expect("a view").census().nan;
    assert_eq!((nan.count, nan.first), (1, Some(1)));
    assert_layout(read(Schema { release: None, ..schema }, good));
    let bad = [
        ArrowArray { release: None, ..good },
        ArrowArray { buffers: null(), ..good },
        ArrowArray { n_buffers: 1, ..good },
        ArrowArray { null_count: 4, ..good },
        ArrowArray { null_count: -2, ..good },
        ArrowArray { length: -1, ..good },
        ArrowArray { offset: i64::MAX, ..good },
    ];
    for array in bad {
        assert_layout(read(schema, array));
    }
}
