//! The page: its length, its policy, and names with HTML in them. `checker/web/test` tests the page
//! in a browser.

use std::path::PathBuf;

use nonfinite_check::{Error, FileFormat, Options, Report, check_bytes};
use nonfinite_report::html::{self, MOST_BYTES};
use serde_json::{Map, json};

/// The report of a file of f8 tensors of this shape.
fn report(tensors: &[(String, Vec<u8>)], shape: &[usize]) -> Report {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, bytes) in tensors {
        let offsets = [data.len(), data.len() + bytes.len()];
        let entry = json!({"dtype": "F8_E4M3", "shape": shape, "data_offsets": offsets});
        header.insert(name.clone(), entry);
        data.extend_from_slice(bytes);
    }
    let header = serde_json::to_vec(&header).unwrap();
    let bytes = [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat();
    let options = Options { draw: true, ..Options::default() };
    check_bytes(&bytes, FileFormat::SAFETENSORS, &options).expect("a good file")
}

fn page(report: Report) -> String {
    let page = html::document(&[(PathBuf::from("model.safetensors"), Ok(report))]);
    assert!(page.len() <= MOST_BYTES, "{} bytes", page.len());
    page
}

/// The sum of the bad tensors in the cells of the overview.
fn bad_in_cells(page: &str) -> usize {
    let cells = page.split("<td class=b>").skip(1);
    let numbers = cells.map(|cell| {
        let text = cell
            .strip_prefix("<a href=#t")
            .map_or(cell, |link| &link[link.find('>').unwrap() + 1..]);
        let end = text.find(|char: char| !char.is_ascii_digit()).unwrap();
        text[..end].parse::<usize>().unwrap()
    });
    numbers.sum()
}

/// The number before these words.
fn number_before(page: &str, words: &str) -> usize {
    let Some(at) = page.find(words) else { return 0 };
    page[..at].rsplit([' ', '>']).next().unwrap().parse().unwrap()
}

/// 100,000 tensors as those of a large model are named: all are in the overview.
#[test]
fn many_tensors() {
    let kinds = ["q", "k", "v", "o", "gate", "up", "down", "norm", "bias", "scale"];
    let tensors: Vec<_> = (0..100_000)
        .map(|i| {
            let (layer, kind, expert) = (i / 100, kinds[i % 10], i / 10 % 10);
            let bad = if i % 97 == 0 { 0x7F } else { 0 };
            (format!("model.layers.{layer}.experts.{expert}.{kind}.weight"), vec![bad])
        })
        .collect();
    let page = page(report(&tensors, &[1]));
    assert_eq!(bad_in_cells(&page), 100_000usize.div_ceil(97));
    let answer = "1031 of 100000 tensors hold NaN or infinity; the first is \
                  model.layers.0.experts.0.q.weight, at [0]";
    assert!(page.contains(&format!("<h1>{answer}</h1>")));
    assert_eq!(page.matches("<tr><th scope=row>").count(), 10);
    let listed = page.matches("<details ").count();
    assert_eq!(listed + number_before(&page, " more bad tensor"), 1031);
}

/// 20,000 bad tensors with names that are long, have nothing in common, and become longer as HTML:
/// what does not fit is counted.
#[test]
fn many_hostile_tensors() {
    let tensors: Vec<_> =
        (0..20_000).map(|i| (format!("{}a{i}b", "<\"&'>".repeat(40)), vec![0x7F])).collect();
    let page = page(report(&tensors, &[1]));
    let (listed, rows) =
        (page.matches("<details ").count(), page.matches("<tr><th scope=row>").count());
    assert!(listed > 200 && rows > 200, "{listed} {rows}");
    assert_eq!(listed + number_before(&page, " more bad tensors."), 20_000);
    assert_eq!(rows + number_before(&page, " more kinds of"), 20_000);
    assert_eq!(bad_in_cells(&page) + number_before(&page, " bad, 0 that"), 20_000);
}

/// Maps that are as long as maps can be: those that do not fit are named.
#[test]
fn many_maps() {
    let data: Vec<u8> = (0..128 * 128)
        .map(|i| if i / 128 % 2 == 0 && (i % 4 == 1 || i % 8 == 0) { 0x7F } else { 0 })
        .collect();
    let tensors: Vec<_> = (0..200).map(|i| (format!("w{i}"), data.clone())).collect();
    let page = page(report(&tensors, &[128, 128]));
    let maps = page.matches(" data-map=").count();
    let none = page.matches("No map, for want of room in this report.").count();
    assert!(maps > 10 && none > 10 && maps + none == 200, "{maps} {none}");
}

/// Thousands of files: those that are not clean come first, and those that do not fit are counted.
#[test]
fn many_files() {
    let bad = report(&[("w".to_owned(), vec![0x7F])], &[1]);
    let clean = report(&[("w".to_owned(), vec![0])], &[1]);
    let files: Vec<_> = (0..20_000)
        .map(|i| {
            let result = match i % 4000 {
                0 => Err(Error::Empty),
                1 => Ok(bad.clone()),
                _ => Ok(clean.clone()),
            };
            (PathBuf::from(format!("folder/{i}.safetensors")), result)
        })
        .collect();
    let page = html::document(&files);
    assert!(page.len() <= MOST_BYTES, "{} bytes", page.len());
    let answer = "5 of 19995 tensors hold NaN or infinity; the first is w in \
                  folder/1.safetensors, at [0]; 5 files were not checked";
    assert!(page.contains(&format!("<h1>{answer}")));
    let sections = page.matches("<h2>").count();
    assert_eq!(
        (page.matches("<details ").count(), page.matches("This file could").count()),
        (5, 5)
    );
    assert_eq!(sections + number_before(&page, " more files"), 20_000);
    assert!(page.contains("of which 0 not clean"));
    // Also with bad files only.
    let files: Vec<_> =
        (0..20_000).map(|i| (PathBuf::from(i.to_string()), Ok(bad.clone()))).collect();
    let page = html::document(&files);
    assert!(page.len() <= MOST_BYTES, "{} bytes", page.len());
    assert_eq!(page.matches("<h2>").count() + number_before(&page, " not clean"), 20_000);
}

/// Names, paths and messages stay text.
#[test]
fn hostile_text() {
    let evil = "</script><script>alert(x)</script>\"'><img src=x onerror=alert(x)>\u{202e}\n\0&lt;";
    let report = report(&[(evil.to_owned(), vec![0x7F])], &[1]);
    let error = Error::Outside(evil.to_owned());
    let page =
        html::document(&[(PathBuf::from(evil), Ok(report)), (PathBuf::from(evil), Err(error))]);
    let escaped = "&lt;/script&gt;&lt;script&gt;alert(x)&lt;/script&gt;&quot;&#39;&gt;\
                   &lt;img src=x onerror=alert(x)&gt;\\u{202e}\\n\\0&amp;lt;";
    // Two paths, a name in the overview (with another number) and in its entry, a message.
    assert!(page.replace("<wbr>", "").matches(escaped).count() >= 4, "{page}");
    assert_eq!((page.matches("<script").count(), page.matches("<img").count()), (1, 0));
    assert!(!page.contains(['\u{202e}', '\0']) && !page.contains("&lt;&quot;"));
}

/// The policy names the style and the script, by a number that depends on the body.
#[test]
fn policy() {
    let nonce = |page: &str| {
        let start = page.find("<style nonce=").unwrap() + 13;
        let end = start + page[start..].find('>').unwrap();
        page[start..end].to_owned()
    };
    let page = html::document(&[]);
    let number = nonce(&page);
    assert_ne!(number, nonce(&html::page("x", "x", "")));
    let policy = format!(
        "content=\"default-src 'none'; style-src 'nonce-{number}'; script-src 'nonce-{number}'; \
         base-uri 'none'; form-action 'none'\""
    );
    assert!(page.contains(&policy) && page.contains(&format!("<script nonce={number}>")));
    // Attributes that the policy would not let work, and what comes from elsewhere. SVG has a name
    // that looks like a URL.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for word in [" style=", " onclick", "src=", "http://", "https://", "javascript:"] {
        assert!(!page.contains(word), "{word}");
    }
    // A page without a script has no place for one.
    assert!(!html::page("a & b", "<p>", "").contains("<script"));
}
