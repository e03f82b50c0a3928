//! Compressed buffers of Arrow, and bounds on what is decompressed or claimed.

use std::io::{self, Read};

use arrow_ipc::CompressionType;
use lz4_flex::frame::FrameEncoder;
use nonfinite_check::{Error, FileFormat, Options, Report, check_bytes};
use ruzstd::encoding::CompressionLevel;

use crate::write::{
    Field, Form, Kind, Message, NAN, Node, ONE, arrow, f32s, field, numbers, offsets,
};
use crate::{assert_one, damaged, refused, report};

fn list(item: Field) -> Field {
    field("l", Kind::List(Box::new(item)))
}

/// A file and a stream whose buffers are compressed.
fn compressed_forms() -> [Form; 2] {
    [true, false].map(|file| Form { codec: Some(CompressionType::LZ4_FRAME), ..Form::plain(file) })
}

/// A buffer that claims this length, and holds these bytes.
fn buffer(claimed: i64, bytes: impl Read) -> Vec<u8> {
    let mut encoder = FrameEncoder::new(claimed.to_le_bytes().to_vec());
    io::copy(&mut { bytes }, &mut encoder).expect("a vector takes all");
    encoder.finish().expect("a whole frame")
}

/// The node, compressed.
fn compressed(node: &Node) -> Node {
    let compress = |bytes: &Vec<u8>| buffer(bytes.len() as i64, &bytes[..]);
    let buffers = node
        .buffers
        .iter()
        .map(|bytes| if bytes.is_empty() { Vec::new() } else { compress(bytes) });
    Node { buffers: buffers.collect(), ..*node }
}

/// A claim that the file does not hold takes no memory and no time.
#[test]
fn claims_that_are_not_there() {
    let claimed = 1 << 40;
    let node = Node { length: claimed, nulls: claimed, buffers: vec![vec![0; 8], vec![]] };
    for form in compressed_forms() {
        let plain = Form { codec: None, ..form };
        for (form, node) in [(plain, node.clone()), (form, compressed(&node))] {
            let bytes = form.arrow(&[f32s("x")], &[Message::Batch(claimed, vec![node])]);
            refused(&bytes, FileFormat::ARROW, "tensor \"x\"");
        }
    }
}

/// Data that lies there as it is does not count, though columns share what tells their nulls.
#[test]
fn what_is_there_is_not_bounded() {
    let rows = 1 << 17;
    let parent = Node { length: rows, nulls: 1, buffers: vec![vec![0xFE; rows as usize / 8]] };
    let child = numbers(&vec![ONE; rows as usize], 4, None);
    let nodes: Vec<_> = [parent].into_iter().chain(vec![child; 8]).collect();
    let fields = [field("s", Kind::Struct(vec![f32s("x"); 8]))];
    for result in bounded(&fields, &Message::Batch(rows, nodes), 1) {
        assert_eq!(result.expect("nothing is decoded").tensors.len(), 8);
    }
}

/// What tells lists and is longer than what is in them counts for each of the columns that share
/// it.
#[test]
fn lists_that_are_shared_are_bounded() {
    let lists = 1 << 17;
    let parent =
        Node { length: lists, nulls: 0, buffers: vec![vec![], vec![0; (lists as usize + 1) * 4]] };
    let row = Node { length: 1, nulls: 0, buffers: vec![vec![]] };
    let nodes: Vec<_> =
        [parent, row].into_iter().chain(vec![numbers(&[ONE], 4, None); 8]).collect();
    let fields = [list(field("s", Kind::Struct(vec![f32s("x"); 8])))];
    let batch = Message::Batch(lists, nodes);
    for result in bounded(&fields, &batch, 1 << 16) {
        assert!(matches!(result, Err(Error::Expansion { .. })), "{result:?}");
    }
    for result in bounded(&fields, &batch, 9 << 19) {
        assert_eq!(result.expect("within the bound").tensors.len(), 8);
    }
}

/// The results for a batch with this bound, as a file and in the streaming format.
fn bounded(fields: &[Field], batch: &Message, most: u64) -> [Result<Report, Error>; 2] {
    let options = Options { max_bytes: Some(most), ..Options::default() };
    let written = [true, false].map(|file| arrow(fields, std::slice::from_ref(batch), file));
    written.map(|bytes| check_bytes(&bytes, FileFormat::ARROW, &options))
}

/// Compressed nodes of every kind give the same report as uncompressed ones.
#[test]
fn compressed_buffers() {
    let fields = [list(f32s("item")), f32s("x")];
    let offsets = offsets(&[0, 2, 2, 5]);
    let nodes = [
        Node { length: 3, nulls: 1, buffers: vec![vec![0b101], offsets] },
        numbers(&[ONE, ONE, ONE, NAN, NAN], 4, Some(&[true, true, true, false, true])),
        numbers(&[NAN, NAN, ONE], 4, Some(&[false, true, true])),
    ];
    for form in compressed_forms() {
        let nodes = nodes.iter().map(compressed).collect();
        let bytes = form.arrow(&fields, &[Message::Batch(3, nodes)]);
        let report = report(&bytes, FileFormat::ARROW);
        assert_one(&report.tensors[0], 0, &[2], NAN, "list");
        assert_one(&report.tensors[1], 0, &[1], NAN, "numbers");
    }
}

/// A frame of several blocks, and several frames (RFC 8878, section 3: a decoder treats them as
/// one).
#[test]
fn large_frames_of_zstd() {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(0x0019_660D).wrapping_add(0x3C6E_F35F);
        // Neither NaN nor infinity.
        u64::from(state & 0xBFFF_FFFF)
    };
    let mut numbers_of_column: Vec<_> = (0..100_000).map(|_| random()).collect();
    numbers_of_column[99_999] = NAN;
    let plain = numbers(&numbers_of_column, 4, None).buffers.remove(1);
    let frame = |bytes| ruzstd::encoding::compress_to_vec(bytes, CompressionLevel::Fastest);
    let length = (plain.len() as i64).to_le_bytes();
    let (head, tail) = plain.split_at(150_000);
    let one = [&length[..], &frame(&plain[..])].concat();
    let two = [&length[..], &frame(head), &frame(tail)].concat();
    for (data, file) in
        [one, two].into_iter().flat_map(|data| [(data.clone(), true), (data, false)])
    {
        let form = Form { codec: Some(CompressionType::ZSTD), ..Form::plain(file) };
        let node = Node { length: 100_000, nulls: 0, buffers: vec![vec![], data] };
        let bytes = form.arrow(&[f32s("x")], &[Message::Batch(100_000, vec![node])]);
        let report = report(&bytes, FileFormat::ARROW);
        assert_one(&report.tensors[0], 0, &[99_999], NAN, "x");
    }
}

/// The prefix of a buffer is its length, or says that the buffer is not compressed.
#[test]
fn lengths_of_compressed_buffers() {
    let plain = numbers(&[ONE, NAN], 4, None).buffers.remove(1);
    let batch = |data: Vec<u8>| {
        [Message::Batch(2, vec![Node { length: 2, nulls: 0, buffers: vec![vec![], data] }])]
    };
    let [file, stream] = compressed_forms();
    let fields = [f32s("x")];
    let good = [buffer(8, &plain[..]), [&(-1i64).to_le_bytes()[..], &plain].concat()];
    for (form, data) in
        [file, stream].into_iter().flat_map(|form| good.clone().map(|data| (form, data)))
    {
        assert_one(
            &report(&form.arrow(&fields, &batch(data)), FileFormat::ARROW).tensors[0],
            0,
            &[1],
            NAN,
            "x",
        );
    }
    let bad = [
        (vec![], "tensor \"x\""),
        (vec![0; 7], "a buffer without its length"),
        (buffer(-2, &plain[..]), "a buffer of negative length"),
        (buffer(i64::MIN, &plain[..]), "a buffer of negative length"),
        (0i64.to_le_bytes().to_vec(), "tensor \"x\""),
        // No more than it says is taken, and no less will do.
        (buffer(7, &plain[..]), "tensor \"x\""),
        (buffer(8, &plain[..7]), "tensor \"x\""),
        ([&(-1i64).to_le_bytes()[..], &plain[..7]].concat(), "tensor \"x\""),
        ([&8i64.to_le_bytes()[..], b"no frame of LZ4"].concat(), "tensor \"x\""),
    ];
    for (form, (data, message)) in
        [file, stream].into_iter().flat_map(|form| bad.clone().map(|bad| (form, bad)))
    {
        refused(&form.arrow(&fields, &batch(data)), FileFormat::ARROW, message);
    }
}

#[test]
fn damaged_compressed_files() {
    let offsets = offsets(&[0, 1, 2]);
    let nodes = [
        Node { length: 2, nulls: 1, buffers: vec![vec![0b10], offsets] },
        numbers(&[NAN, ONE], 4, Some(&[false, true])),
    ];
    for form in compressed_forms() {
        let nodes = nodes.iter().map(compressed).collect();
        damaged(&form.arrow(&[list(f32s("item"))], &[Message::Batch(2, nodes)]), FileFormat::ARROW);
    }
}
