"""Checks of files."""

import dataclasses
import html
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from sample_files import PATIENCE, huge, model, safetensors

import nonfinite
from nonfinite import distributed


@pytest.fixture
def models(tmp_path):
    """A folder with a bad model, a clean array, and text."""
    model(tmp_path / "bad.safetensors")
    np.save(tmp_path / "clean.npy", np.ones((3, 4)))
    (tmp_path / "README.md").write_text("# Text")
    return tmp_path


def command(*arguments):
    """Run the command. Returns the exit status and the output."""
    words = [sys.executable, "-m", "nonfinite", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, timeout=PATIENCE)
    return done.returncode, done.stdout.decode()


def test_counts_and_places_are_those_of_numpy(tmp_path):
    tensors = model(tmp_path / "m.safetensors")
    report = nonfinite.check_file(tmp_path / "m.safetensors", stats=True)
    assert [tensor.name for tensor in report.tensors] == list(tensors)
    assert report.is_bad and report.complete and report.format == "safetensors"
    for tensor in report.tensors:
        array = tensors[tensor.name]
        assert tensor.shape == array.shape and tensor.bytes == array.nbytes
        if array.dtype != np.float32:
            assert tensor.looked_at == "not_float" and tensor.max is tensor.zeros is None
            continue
        kinds = {
            "nan": np.isnan(array), "pos_inf": np.isposinf(array), "neg_inf": np.isneginf(array),
        }
        for kind, mask in kinds.items():
            found = getattr(tensor, kind)
            assert found.count == mask.sum()
            assert (kind in tensor.bad) == mask.any()
            if mask.any():
                first = np.unravel_index(mask.argmax(), mask.shape)
                assert found.first.coordinate == tuple(first)
                bits = array[first].view(np.uint32)
                assert int(found.first.bits, 16) == bits
            else:
                assert found.first is None
        finite = np.where(np.isfinite(array), array, 0)
        assert tensor.max == finite.max() and tensor.min == finite.min()
        assert finite[tensor.max_at.coordinate] == finite.max()
    where = report.tensors[1].where
    assert where.statement.startswith("rows 3, 17 only")
    assert sum(count for _, count in where.map.lit) == where.elements == 201


def test_paths(models):
    names = {"bad.safetensors", "clean.npy"}
    of = lambda paths: {Path(file.path).name for file in nonfinite.check(paths).files}
    assert of(models) == names
    assert of(str(models)) == names
    assert of(models / "*.*[sy]") == names
    assert of([models / "clean.npy"]) == {"clean.npy"}
    assert of(iter([models / "clean.npy", str(models / "bad.safetensors")])) == names


@pytest.mark.parametrize(
    "words, options",
    [
        ([], {}),
        (["--stats"], {"stats": True}),
        (["--allow", "mask:-inf", "--allow", "*.1.*:nan"], {"allow": ["mask:-inf", "*.1.*:nan"]}),
        (["--allow", "*:all"], {"allow": "*:all"}),
        (["--fail-on", "-inf"], {"fail_on": "-inf"}),
        (["--max-abs", "2.5"], {"max_abs": 2.5}),
        (["--threads", "1"], {"threads": 1}),
        (["--max-bytes", "0"], {"max_bytes": 0}),
    ],
)
def test_the_document_and_the_status_are_those_of_the_command(models, words, options):
    status, text = command("check", "--json", "--map", *words, models)
    report = nonfinite.check(models, **options)
    assert report.to_json() + "\n" == text
    assert report.exit_status == status
    assert report.ok == (status == 0)
    document = json.loads(text)
    assert report.is_bad == document["bad"] and report.complete == document["complete"]
    assert dataclasses.asdict(report.totals)["nan"] == document["totals"]["nan"]
    for file, read in zip(report.files, document["files"], strict=True):
        assert file.path == read["path"]
        for tensor, entry in zip(file.tensors, read["tensors"], strict=True):
            assert list(tensor.bad) == entry["bad"]
            assert (tensor.large is None) == ("large" not in entry)
            assert tensor.where is None or tensor.where.statement == entry["where"]["statement"]
            plain = json.loads(json.dumps(dataclasses.asdict(tensor)))
            assert holds(plain, entry), entry


def holds(fields, entry):
    """Whether everything that the document has of something is in the fields of its class."""
    if isinstance(entry, dict):
        return all(name in fields and holds(fields[name], value) for name, value in entry.items())
    if isinstance(entry, list):
        return all(holds(*pair) for pair in zip(fields, entry, strict=True))
    return fields == entry


def test_raw_dtypes(tmp_path):
    raw = np.array([0x3F80, 0x7FC0], np.uint16).view("V2")
    np.save(tmp_path / "raw.npy", raw)
    report = nonfinite.check(tmp_path / "raw.npy")
    assert not report.complete and report.exit_status == 2 and not report.is_bad
    assert report.not_looked_at[0][0] == str(tmp_path / "raw.npy")
    reason = report.not_looked_at[0][1].reason
    assert report.files[0].tensors[0].reason == reason
    # The advice of the reason.
    assert "pass array.view(ml_dtypes.bfloat16) to nonfinite.all_finite" in reason
    array = np.load(tmp_path / "raw.npy")
    assert not nonfinite.all_finite(array.view(ml_dtypes.bfloat16))
    assert nonfinite.all_finite(array[:1].view(ml_dtypes.bfloat16))


def test_what_was_not_looked_at_is_never_clean(models):
    (models / "broken.npy").write_bytes(b"\x93NUMPY\x09\0")
    (models / "unknown.bin").write_bytes(bytes(range(256)) * 10)
    report = nonfinite.check(models)
    assert not report.complete and not report.ok and report.exit_status == 2
    files = {Path(file.path).name: file for file in report.files}
    assert "version 9.0" in files["broken.npy"].error
    assert not files["broken.npy"].complete and files["broken.npy"].tensors == ()
    assert "unknown.bin" not in files and report.no_format == (str(models / "unknown.bin"),)
    (models / "broken.npy").unlink()
    assert nonfinite.check(models).exit_status == 1
    assert nonfinite.check(models, strict=True).exit_status == 2
    (models / "bad.safetensors").unlink()
    report = nonfinite.check(models)
    assert report.exit_status == 0 and report.complete and report.ok
    assert nonfinite.check(models, strict=True).exit_status == 2
    report = nonfinite.check(models / "unknown.bin")
    assert report.exit_status == 2 and not report.complete and report.no_format == ()


def test_errors_have_types(models):
    (models / "broken.npy").write_bytes(b"\x93NUMPY\x09\0")
    (models / "empty").mkdir()
    cases = {
        "broken.npy": (nonfinite.InvalidFileError, "version 9.0"),
        "README.md": (nonfinite.UnknownFormatError, "text"),
        "missing.npy": (FileNotFoundError, "No such file"),
        "empty": (IsADirectoryError, "directory"),
        "table.parquet": (nonfinite.UnknownFormatError, "a Parquet file, which is a table"),
        "table.arrow": (nonfinite.UnknownFormatError, "an Arrow file, which is a table"),
    }
    (models / "table.parquet").write_bytes(b"PAR1" + bytes(20) + b"PAR1")
    (models / "table.arrow").write_bytes(b"ARROW1\0\0" + bytes(20))
    for name, (kind, words) in cases.items():
        with pytest.raises(kind, match=words) as caught:
            nonfinite.check_file(models / name)
        error = caught.value
        path = error.path if isinstance(error, nonfinite.CheckError) else error.filename
        assert path == str(models / name)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    # In a report they have errors too, also what a folder holds beside others.
    url = "s3://bucket/x.npy"
    with pytest.raises(nonfinite.NotBuiltError, match="add --features remote to the build"):
        nonfinite.check_file(url)
    [file] = nonfinite.check(url).files
    assert (file.path, file.complete) == (url, False) and "--features remote" in file.error
    errors = {Path(file.path).name: file.error for file in nonfinite.check(models).files}
    advice = "read it with pyarrow and pass each chunk of a column to nonfinite.all_finite"
    assert all(advice in errors[f"table.{name}"] for name in ("arrow", "parquet"))
    # What the caller names has to be there. What a search finds may be damaged.
    for missing in ["missing.npy", "*.missing", "empty", "missing/"]:
        with pytest.raises(FileNotFoundError):
            nonfinite.check([models / "clean.npy", f"{models}/{missing}"])
    table = models / "t.npz"
    np.savez_compressed(table, np.zeros(1 << 20))
    with pytest.raises(nonfinite.LimitError, match=r"\(max_bytes\)"):
        nonfinite.check_file(table, max_bytes=1)
    [(_, part)] = nonfinite.check(table, max_bytes=1).not_looked_at
    assert part.asks == "max_bytes"


@pytest.mark.parametrize(
    "options, kind, words",
    [
        ({"max_abs": -1}, ValueError, "max_abs"),
        ({"max_abs": float("nan")}, ValueError, "max_abs"),
        ({"fail_on": "zero"}, ValueError, "none of nan, inf"),
        ({"allow": "no colon"}, ValueError, "allow='no colon'|allow=\"no colon\""),
        ({"allow": 3}, TypeError, "allow"),
        ({"threads": 0}, ValueError, "threads=0, and the least is 1"),
        ({"threads": -1}, ValueError, "threads=-1, and the least is 1"),
        ({"threads": "two"}, TypeError, "threads"),
        ({"stats": "yes"}, TypeError, "stats"),
        ({"mapp": True}, TypeError, "unexpected keyword argument 'mapp'"),
    ],
)
def test_wrong_options_are_refused_first(options, kind, words):
    for function in [nonfinite.check, nonfinite.check_file, distributed.check]:
        with pytest.raises(kind, match=words):
            function("missing.npy", **options)


def test_wrong_paths_are_refused():
    for function in [nonfinite.check, distributed.check]:
        for wrong in (None, 5, b"x.npy", {"layer.weight": np.ones(2)}, np.ones(2), [np.ones(2)]):
            with pytest.raises(TypeError, match=f"paths is a {type(wrong).__name__}, and must be"):
                function(wrong)
        with pytest.raises(TypeError, match=r"For .* a state_dict .* nonfinite.assert_finite"):
            function({"layer.weight": np.ones(2)})
        with pytest.raises(ValueError, match="paths is empty"):
            function([])
    for function in [nonfinite.check, nonfinite.check_file]:
        with pytest.raises(TypeError, match="progress is a int"):
            function("missing.npy", progress=5)


def test_results_are_frozen_and_can_be_pickled(models):
    report = nonfinite.check(models)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.is_bad = False
    again = pickle.loads(pickle.dumps(report))
    assert again == report
    assert again.to_json() == report.to_json() and again.to_html() == report.to_html()
    file = pickle.loads(pickle.dumps(report.files[0]))
    assert file == report.files[0] and file._repr_html_() == report.files[0]._repr_html_()
    assert "layers.1.weight" not in repr(report)


def test_a_notebook_shows_the_page_of_the_command(models):
    status, _ = command("check", "--quiet", "--html", models / "page", models)
    assert status == 1
    page = (models / "page").read_text()
    (models / "page").unlink()
    report = nonfinite.check(models)
    assert report.to_html() == page
    for shown in [report, report.files[0]]:
        frame = shown._repr_html_()
        assert frame.startswith('<iframe sandbox="allow-scripts"')
        [source] = re.findall('srcdoc="([^"]*)"', frame)
        assert "data-map=" in html.unescape(source)
    assert html.unescape(re.findall('srcdoc="([^"]*)"', report._repr_html_())[0]) == page


def test_many_tensors(tmp_path):
    ones = np.ones(3, np.float32)
    safetensors(tmp_path / "many.safetensors", {f"{i}": ones for i in range(10_000)})
    report = nonfinite.check(tmp_path / "many.safetensors")
    assert report.totals.tensors == len(report.files[0].tensors) == 10_000 and report.ok


def test_progress_is_reported_to_the_caller(models):
    calls = []
    here = threading.get_ident()
    nonfinite.check(models, progress=lambda *bytes: calls.append((threading.get_ident(), bytes)))
    assert {thread for thread, _ in calls} == {here}
    done, total = calls[-1][1]
    assert done == total > 300 * 200 * 4


def test_an_exception_of_progress_stops_the_check(tmp_path):
    huge(tmp_path / "huge.npy")

    def refuse(done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        nonfinite.check(tmp_path / "huge.npy", progress=refuse)


def test_other_threads_run_during_a_check(tmp_path):
    huge(tmp_path / "huge.npy")
    begun, stop = threading.Event(), threading.Event()
    ended = []

    def progress(done, total):
        begun.set()
        if stop.is_set():
            raise StopIteration

    def check():
        try:
            nonfinite.check(tmp_path / "huge.npy", progress=progress)
        except StopIteration:
            ended.append(True)

    thread = threading.Thread(target=check)
    thread.start()
    assert begun.wait(PATIENCE)
    assert sum(range(1000)) == 499500
    stop.set()
    thread.join(PATIENCE)
    assert ended == [True]


@pytest.mark.parametrize("call", ["check('huge.npy'", "check('-'"])
def test_ctrl_c_raises_keyboard_interrupt(tmp_path, call):
    """Also while the check waits for input that never comes."""
    huge(tmp_path / "huge.npy")
    program = f"""
import nonfinite
try:
    nonfinite.{call}, progress=lambda done, total: print("begun", flush=True))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise SystemExit(7)
"""
    words = ["env", "--default-signal=INT", sys.executable, "-c", program]
    pipe = subprocess.PIPE
    child = subprocess.Popen(words, cwd=tmp_path, stdin=pipe, stdout=pipe, text=True)
    try:
        assert child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGINT)
        # The input stays open.
        assert child.wait(timeout=PATIENCE) == 7
    finally:
        child.kill()
    assert child.stdout.read().endswith("interrupted\n")
    assert os.listdir(tmp_path) == ["huge.npy"]


def test_a_notebook_shows_progress_and_the_page(tmp_path):
    """In a kernel of Jupyter, as a notebook runs it."""
    from jupyter_client.manager import start_new_kernel

    model(tmp_path / "m.safetensors")
    # The kernel of this Python, whatever kernels are installed.
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=PATIENCE)
    try:
        shown = []
        client.execute_interactive(
            f"import nonfinite; nonfinite.check({str(tmp_path)!r}, progress=True)",
            timeout=PATIENCE,
            output_hook=lambda message: shown.append(message),
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    of = lambda kind: [m["content"]["data"] for m in shown if m["msg_type"] == kind]
    assert "<progress" in of("display_data")[0]["text/html"]
    [result] = of("execute_result")
    assert result["text/html"].startswith("<iframe")
    assert result["text/plain"].startswith("Report(")


@pytest.fixture
def quantised(tmp_path):
    """A model of two layers, with a scale of zero and the state of a quantiser."""
    tensors = {}
    for layer, scale in ((2, 0.5), (10, 0)):
        tensors[f"layers.{layer}.weight_packed"] = np.full((4, 16), 0x21, np.uint8)
        tensors[f"layers.{layer}.weight_scale"] = np.full((4, 1), 120, np.uint8)
        tensors[f"layers.{layer}.input_scale"] = np.full(1, scale, np.float32)
    tensors["layers.2.weight_quantizer._amax"] = np.ones(1, np.float32)
    safetensors(tmp_path / "model.safetensors", tensors)
    (tmp_path / "config.json").write_text('{"quantization_config": {"quant_method": "modelopt"}}')
    return tmp_path


@pytest.mark.parametrize(
    "words, options, rules",
    [
        ([], {}, ["scale-zero", "orphan-scale"]),
        (["--warnings", "off"], {"warnings": "off"}, ["scale-zero"]),
        (["--allow", "scale-zero:*.10.*"], {"allow": "scale-zero:*.10.*"}, ["orphan-scale"]),
        (
            ["--allow", "scale-zero", "--allow", "orphan-scale", "--warnings", "notes"],
            {"allow": ["scale-zero", "orphan-scale"], "warnings": "notes"},
            [],
        ),
        (["--strict"], {"strict": True}, ["scale-zero", "orphan-scale"]),
        (["--threads", "1"], {"threads": 1}, ["scale-zero", "orphan-scale"]),
    ],
)
def test_lint_is_that_of_the_command(quantised, words, options, rules):
    (quantised / "unknown.bin").write_bytes(bytes(range(256)) * 10)
    page = quantised / "page.html"
    status, text = command("lint", "--json", "--html", page, *words, quantised)
    page = page.rename(quantised.parent / "page.html").read_text()
    report = nonfinite.lint(quantised, **options)
    assert report.to_json() + "\n" == text and report.to_html() == page
    assert report.exit_status == status and report.ok == (status == 0)
    assert [found.rule for found in report.findings] == rules
    assert len(report.errors) + len(report.warnings) == len(rules)
    assert report.complete and report.no_format == (str(quantised / "unknown.bin"),)
    document = json.loads(text)
    for name in ("findings", "files"):
        for read, entry in zip(getattr(report, name), document[name], strict=True):
            assert holds(json.loads(json.dumps(dataclasses.asdict(read))), entry)
    status, lines = command("lint", *words, quantised)
    assert lines.splitlines()[:-1] == [str(found) for found in report.findings]
    assert pickle.loads(pickle.dumps(report)) == report


def test_lint_of_files_that_cannot_be_checked(quantised):
    (quantised / "broken.npy").write_bytes(b"\x93NUMPY\x09\0")
    report = nonfinite.lint(quantised)
    assert not report.complete and not report.ok and report.exit_status == 2
    assert ["version 9.0" in (file.error or "") for file in report.files] == [True, False]
    for paths, error in [
        (quantised / "nowhere", FileNotFoundError),
        ([], ValueError),
        (b"x", TypeError),
    ]:
        with pytest.raises(error):
            nonfinite.lint(paths)
    for options, message in [
        ({"allow": "zero"}, 'allow="zero": there is no rule "zero"'),
        ({"warnings": "some"}, 'warnings="some": is none of off, on and notes'),
        ({"threads": 0}, "threads=0"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            nonfinite.lint(quantised, **options)


def test_a_terminal_shows_a_bar(tmp_path):
    huge(tmp_path / "huge.npy")
    program = f"import nonfinite; nonfinite.check({str(tmp_path / 'huge.npy')!r}, progress=True)"
    line = f"stty rows 50 cols 100; exec env --default-signal=INT {sys.executable} -c {program!r}"
    pipe = subprocess.PIPE
    words = ["script", "-qfc", line, "/dev/null"]
    child = subprocess.Popen(words, stdin=pipe, stdout=pipe)
    try:
        shown = b""
        while b"1.10 TB" not in shown:
            more = os.read(child.stdout.fileno(), 4096)
            assert more, shown
            shown += more
        rest, _ = child.communicate(b"\x03", timeout=PATIENCE)
    finally:
        child.kill()
    assert b"KeyboardInterrupt" in rest


def test_types():
    uses = Path(__file__).parent / "typed_files.py"
    for words in [["-p", "nonfinite"], ["--warn-unused-ignores", str(uses)]]:
        line = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", *words]
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout


def test_an_import_loads_the_names_at_their_first_use():
    program = """
import array, sys, nonfinite
assert nonfinite.all_finite(array.array("f", [1, 2]))
assert {"nonfinite.report", "numpy", "torch"}.isdisjoint(sys.modules)
assert callable(nonfinite.check) and {"Report", "torch", "trace_onnx"} < set(dir(nonfinite))
from nonfinite import Report, _checks, distributed
assert all(hasattr(nonfinite, name) for name in _checks.__all__)
assert not hasattr(nonfinite, "nothing")
assert "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE)


def test_each_module_can_be_the_first():
    """As in a process that unpickles a report."""
    modules = (Path(nonfinite.__file__).parent).glob("*.py")
    for module in {path.stem for path in modules} - {"__init__", "__main__"}:
        more = f"from nonfinite import {module}; import nonfinite as nf; nf.check, nf.Report"
        for program in (f"import nonfinite.{module}", more):
            subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE)
