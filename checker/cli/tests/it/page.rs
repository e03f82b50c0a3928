//! What `--html` overwrites.

use std::fs;
use std::path::Path;

use crate::{array, command, file, run};

fn check(page: &Path, file: &Path) -> crate::Run {
    crate::Run::of(command().args(["check", "--html"]).args([page, file]))
}

#[test]
fn what_is_overwritten() {
    let nan = file("page_nan.npy", &array(&[f32::NAN]));
    let other = file("page_other.npy", &array(&[0.0]));
    let page = file("page.html", b"");
    fs::remove_file(&page).expect("it is there");
    // A new file, and an older report.
    for (checked, status, verdict) in [
        (&nan, 1, "The one tensor that was looked at holds NaN"),
        (&other, 0, "The one tensor that was looked at holds no NaN"),
    ] {
        let run = check(&page, checked);
        assert_eq!((run.status, run.err.as_str()), (status, ""));
        assert!(run.out.starts_with(if status == 1 { nan.to_str().unwrap() } else { verdict }));
        assert!(fs::read_to_string(&page).unwrap().contains(&format!("<h1>{verdict}")));
    }
    // A model, which the user may have meant to check.
    let before = fs::read(&other).unwrap();
    let refused = check(&other, &nan);
    assert_eq!((refused.status, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("no report, and it is not overwritten"), "{}", refused.err);
    assert_eq!(fs::read(&other).unwrap(), before);
    let nowhere = check(&page.join("x.html"), &nan);
    assert_eq!((nowhere.status, nowhere.err.lines().count()), (2, 1));
    let dash = run(["check".as_ref(), "--html".as_ref(), "-".as_ref(), nan.as_os_str()]);
    assert!(dash.status == 2 && dash.err.contains("not to standard output"), "{}", dash.err);
}
