//! Streams of Arrow, and compressed buffers, which streams read in another way.

use std::io::{self, Read};
use std::num::NonZeroU64;

use arrow_ipc::{CompressionType, Precision};
use lz4_flex::frame::FrameEncoder;
use nonfinite_check::{Error, FileFormat, Options, Report, check_bytes, check_stream};
use ruzstd::encoding::CompressionLevel;

use crate::write::{Field, Form, Kind, Message, Node, arrow, field, numbers};
use crate::{Slowly, Watch, assert_one, damaged, refused, report};

const NAN: u64 = 0x7FC0_0000;
const ONE: u64 = 0x3F80_0000;

fn f32s(name: &'static str) -> Field {
    field(name, Kind::Float(Precision::SINGLE))
}

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

fn zeros(count: usize) -> Vec<u8> {
    buffer(count as i64, io::repeat(0).take(count as u64))
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

#[test]
fn files_are_no_streams() {
    let fields = [f32s("x")];
    let batch = [Message::Batch(1, vec![numbers(&[NAN], 4, None)])];
    let error =
        check_stream(&arrow(&fields, &batch, true)[..], &Options::default()).expect_err("a file");
    assert!(matches!(error, Error::NoStream { format: FileFormat::ARROW, .. }), "{error:?}");
    assert!(error.to_string().contains("streaming format can"), "{error}");
    let stream = arrow(&fields, &batch, false);
    assert!(check_stream(&stream[..], &Options::default()).expect("a stream").is_bad());
    // The mark of the end may be missing, but nothing may follow it.
    let (open, _) = stream.split_last_chunk::<8>().expect("a mark");
    assert!(check_stream(open, &Options::default()).expect("a stream").is_bad());
    let error =
        check_stream(&[&stream[..], b"x"].concat()[..], &Options::default()).expect_err("more");
    assert!(error.to_string().contains("goes on behind byte"), "{error}");
}

/// The claims of a stream are bounded by the bytes that have arrived, like the claims of a file by
/// its length.
#[test]
fn claims_are_bounded() {
    let claimed = 1 << 40;
    let node = Node { length: claimed, nulls: claimed, buffers: vec![vec![0; 8], vec![]] };
    let fields = [f32s("x")];
    for file in [true, false] {
        let bytes = arrow(&fields, &[Message::Batch(claimed, vec![node.clone()])], file);
        let result = match file {
            true => check_bytes(&bytes, FileFormat::ARROW, &Options::default()),
            false => check_stream(&bytes[..], &Options::default()),
        };
        assert!(
            matches!(result, Err(Error::Expansion { decoded, .. }) if decoded == 33 << 37),
            "{result:?}"
        );
    }
}

/// A body that is said to be longer than all that is decoded of it does not come: column by column,
/// what has come counts.
#[test]
fn bodies_that_lie() {
    let (rows, columns) = (1 << 20, 8);
    let bits = zeros(rows / 8);
    let parent = Node { length: rows as i64, nulls: rows as i64, buffers: vec![bits] };
    let child = || Node { length: rows as i64, nulls: 0, buffers: vec![vec![], vec![]] };
    let nodes: Vec<_> = [parent].into_iter().chain((0..columns).map(|_| child())).collect();
    let fields = [field("s", Kind::Struct(vec![f32s("x"); columns]))];
    let [_, stream] = compressed_forms();
    let batch = [Message::Batch(rows as i64, nodes)];
    let check = |excess, expansion| {
        let bytes = Form { excess, ..stream }.arrow(&fields, &batch);
        let options = Options { expansion: NonZeroU64::new(expansion), ..Options::default() };
        (bytes.len() as u64, check_stream(&bytes[..], &options))
    };
    // 4 MiB of numbers and 128 KiB of bits each.
    let (column, bits) = (rows as u64 * 4 + rows as u64 / 8, rows as u64 / 8);
    let (_, honest) = check(0, 8 * column / (64 << 10));
    assert_eq!(honest.expect("within the bound").tensors.len(), columns);
    for before in [0, 1, 5] {
        let expansion = (before * column + bits) / (64 << 10) - 1;
        let (length, result) = check(1 << 30, expansion);
        match result {
            Err(Error::Expansion { decoded, file, .. }) => {
                assert_eq!(decoded, before * column + bits, "{before}");
                assert!(file <= length, "{file} of {length} bytes");
            }
            other => panic!("{before}: {other:?}"),
        }
    }
    let (_, truncated) = check(1 << 30, 0);
    assert!(truncated.expect_err("it does not come").to_string().contains("ends before its data"));
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
    for result in bounded(&fields, &batch, 1) {
        assert!(matches!(result, Err(Error::Expansion { .. })), "{result:?}");
    }
    for result in bounded(&fields, &batch, 9) {
        assert_eq!(result.expect("within the bound").tensors.len(), 8);
    }
}

/// The results for a batch with this bound, as a file and as a stream.
fn bounded(fields: &[Field], batch: &Message, most: u64) -> [Result<Report, Error>; 2] {
    let options = Options { expansion: NonZeroU64::new(most), ..Options::default() };
    let [file, stream] = [true, false].map(|file| arrow(fields, std::slice::from_ref(batch), file));
    [check_bytes(&file, FileFormat::ARROW, &options), check_stream(&stream[..], &options)]
}

/// Compressed nodes of every kind give the same report as uncompressed ones, as files and as
/// streams.
#[test]
fn compressed_buffers() {
    let fields = [list(f32s("item")), f32s("x")];
    let offsets: Vec<u8> = [0i32, 2, 2, 5].iter().flat_map(|offset| offset.to_le_bytes()).collect();
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
    let offsets: Vec<u8> = [0i32, 1, 2].iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let nodes = [
        Node { length: 2, nulls: 1, buffers: vec![vec![0b10], offsets] },
        numbers(&[NAN, ONE], 4, Some(&[false, true])),
    ];
    for form in compressed_forms() {
        let nodes = nodes.iter().map(compressed).collect();
        damaged(&form.arrow(&[list(f32s("item"))], &[Message::Batch(2, nodes)]), FileFormat::ARROW);
    }
}

/// What tells the lists of a column is in memory, up to a limit, and is given back before the next.
#[test]
fn lists_of_a_stream_are_given_back() {
    let lists = 40 << 20;
    let offsets = zeros((lists + 1) * 4);
    let node = || Node { length: lists as i64, nulls: 0, buffers: vec![vec![], offsets.clone()] };
    let item = || compressed(&numbers(&[NAN], 4, None));
    let options = Options::default();
    for form in compressed_forms() {
        let check = |fields: &[Field], nodes| {
            let bytes = form.arrow(fields, &[Message::Batch(lists as i64, nodes)]);
            match form.file {
                true => check_bytes(&bytes, FileFormat::ARROW, &options),
                false => check_stream(&bytes[..], &options),
            }
        };
        // 160 MiB each, of which one is there at a time.
        let fields = [list(f32s("item")), list(f32s("item"))];
        let report = check(&fields, vec![node(), item(), node(), item()]).expect("one at a time");
        assert!(report.tensors.iter().all(|tensor| tensor.shape == [lists] && !tensor.is_bad()));
        let error = check(&[list(list(f32s("item")))], vec![node(), node(), item()])
            .expect_err("both at once");
        assert!(error.to_string().contains("too many rows"), "{error}");
        let stream = error.to_string().contains("for a stream: give the path");
        assert_eq!(stream, !form.file, "{error}");
    }
}

/// Offsets that are not compressed are in memory as well, but only of a stream: at most 256 MiB.
#[test]
fn lists_that_are_too_many_for_a_stream() {
    let most = 256 << 20;
    // An offset more than there are lists.
    for offsets in [most / 4, most / 4 + 1] {
        let lists = offsets as i64 - 1;
        let node = Node { length: lists, nulls: 0, buffers: vec![vec![], vec![0; offsets * 4]] };
        let nodes = vec![node, numbers(&[NAN], 4, None)];
        let bytes = arrow(&[list(f32s("item"))], &[Message::Batch(lists, nodes)], false);
        let report =
            check_bytes(&bytes, FileFormat::ARROW, &Options::default()).expect("it lies there");
        assert!(!report.is_bad());
        match check_stream(&bytes[..], &Options::default()) {
            Ok(stream) => assert_eq!((offsets * 4, stream), (most, report)),
            Err(error) => {
                assert!(offsets * 4 > most, "{error}");
                assert!(error.to_string().contains("for a stream: give the path"), "{error}");
            }
        }
    }
}

/// The metadata of a message is in memory, too: at most 256 MiB. None of it comes here.
#[test]
fn lengths_of_metadata() {
    let most = 256 << 20;
    for (length, message) in [
        (most, "the Arrow file ends before its messages does"),
        (most + 1, "the length of a message cannot be"),
        (u32::MAX, "the length of a message cannot be"),
    ] {
        let schema = arrow(&[f32s("x")], &[], false);
        let (schema, _mark) = schema.split_last_chunk::<8>().expect("a mark");
        let stream = [schema, b"\xFF\xFF\xFF\xFF", &length.to_le_bytes()].concat();
        let error = check_stream(&stream[..], &Options::default()).expect_err("no message");
        assert!(error.to_string().contains(message), "{error}");
    }
}

/// Numbers that are no floats are passed over in steps of 1 MiB. Between two of them the check can
/// be stopped.
#[test]
fn steps_of_what_is_passed_over() {
    let rows = 1 << 20;
    let batch = Message::Batch(rows, vec![numbers(&vec![7; rows as usize], 4, None)]);
    let bytes = arrow(&[field("i", Kind::Int)], &[batch], false);
    let (watch, options) = Watch::new(usize::MAX);
    check_stream(&bytes[..], &options).expect("a stream");
    assert_eq!(watch.asked(), 4);
}

/// It ends where it is asked to: nothing more is read.
#[test]
fn streams_can_be_stopped() {
    let rows = 100_000;
    let plain = numbers(&vec![ONE; rows], 4, None);
    let [_, stream] = compressed_forms();
    for (form, node) in [(Form::plain(false), plain.clone()), (stream, compressed(&plain))] {
        let batch = Message::Batch(rows as i64, vec![node]);
        let bytes = form.arrow(&[f32s("x")], &[batch.clone(), batch.clone(), batch]);
        for most in [0, 3, 9] {
            let (watch, options) = Watch::new(most);
            let mut source = Slowly(&bytes);
            let stopped = check_stream(&mut source, &options);
            assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
            assert_eq!(watch.asked(), most + 1);
            assert!(!source.0.is_empty(), "all has been read");
        }
        let (watch, options) = Watch::new(usize::MAX);
        check_stream(&bytes[..], &options).expect("a stream");
        assert!(watch.asked() > 9, "asked {} times", watch.asked());
        // The last batch has been announced.
        assert_eq!(watch.started(), rows as u64 * 4);
    }
}
