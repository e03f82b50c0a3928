"""The command of the wheel: signals, pipes, colours and exit statuses as in the native binary."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sample_files import PATIENCE, huge, model

PROGRAM = str(Path(sys.executable).parent / "nonfinite")


def run(*words, **more):
    """Run the command, with the signals that a shell gives it."""
    line = ["env", "--default-signal=INT,TERM,PIPE", PROGRAM, *map(str, words)]
    return subprocess.run(line, capture_output=True, timeout=PATIENCE, **more)


def interrupt(number, *words):
    """Run the command, and send this signal when the work has begun."""
    pipe = subprocess.PIPE
    line = ["env", "--default-signal=INT,TERM,HUP", PROGRAM, *map(str, words)]
    child = subprocess.Popen(line, stdout=pipe, stderr=pipe)
    try:
        while not has_begun(child):
            assert child.poll() is None, "it ended before"
            os.sched_yield()
        child.send_signal(number)
        out, errors = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    return child.returncode, out, errors


def has_begun(child):
    """Whether the command handles signals: of SIGTERM, as Python itself handles SIGINT."""
    status = Path(f"/proc/{child.pid}/status").read_text()
    [mask] = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")]
    return int(mask, 16) >> (signal.SIGTERM - 1) & 1 == 1


def test_exit_statuses(tmp_path):
    model(tmp_path / "bad.safetensors")
    np.save(tmp_path / "clean.npy", np.ones(3))
    assert run("check", tmp_path / "clean.npy").returncode == 0
    assert run("check", tmp_path / "bad.safetensors").returncode == 1
    assert run("check", tmp_path / "missing").returncode == 2
    assert run("chekc", "x").returncode == 2
    assert run("--version").stdout.startswith(b"nonfinite 0.")
    assert b" active\n" in run("backends").stdout


def test_the_help_has_the_command_of_python_too():
    for word in ("--help", "-h", "help"):
        text = run(word).stdout
        assert text.index(b"Usage: nonfinite") < text.index(b"  trace        Run an ONNX model")
    assert b"trace" not in run("check", "--help").stdout
    # A pager that has ended: the pipe has no reader.
    reader, writer = os.pipe()
    os.close(reader)
    words = [PROGRAM, "--help"]
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, timeout=PATIENCE)
    os.close(writer)
    assert b"Traceback" not in done.stderr


def test_the_module_is_the_command(tmp_path):
    model(tmp_path / "bad.safetensors")
    words = ["check", "--format=jsonl", str(tmp_path / "bad.safetensors")]
    module = [sys.executable, "-m", "nonfinite", *words]
    done = subprocess.run(module, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (1, run(*words).stdout)
    assert done.stderr == b""


def test_standard_input(tmp_path):
    np.save(tmp_path / "x.npy", np.array([np.nan]))
    with open(tmp_path / "x.npy", "rb") as file:
        done = run("check", "-", stdin=file)
    assert done.returncode == 1 and b"1 NaN" in done.stdout


def test_a_path_of_any_bytes(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe.npy"
    np.save(tmp_path / "x.npy", np.ones(3))
    os.rename(tmp_path / "x.npy", path)
    line = [PROGRAM, b"check", path]
    assert subprocess.run(line, capture_output=True, timeout=PATIENCE).returncode == 0


def test_a_reader_that_stops_early_is_no_error(tmp_path):
    model(tmp_path / "bad.safetensors")
    files = "bad.safetensors " * 3000
    line = f"{PROGRAM} check --format lines {files} | head -n 1; echo ${{PIPESTATUS[0]}}"
    line = ["bash", "-c", line]
    done = subprocess.run(line, capture_output=True, timeout=PATIENCE, cwd=tmp_path)
    assert done.stdout.decode().splitlines()[1] == "1"
    assert done.stderr == b""


def test_colours_in_a_terminal_only(tmp_path):
    model(tmp_path / "bad.safetensors")
    words = ["check", str(tmp_path / "bad.safetensors")]
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)

    def in_terminal(more):
        line = ["script", "-qec", " ".join([PROGRAM, *words]), "/dev/null"]
        return subprocess.run(
            line, capture_output=True, timeout=PATIENCE, env={**environment, **more}
        )

    assert b"\x1b[31m" in in_terminal({}).stdout
    assert in_terminal({}).returncode == 1
    assert b"\x1b[31m" not in in_terminal({"NO_COLOR": "1"}).stdout
    assert b"\x1b" not in run(*words).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_check(tmp_path, number):
    huge(tmp_path / "huge.npy")
    done = interrupt(number, "check", tmp_path / "huge.npy")
    assert done == (130, b"", b"nonfinite: interrupted\n")


def test_ctrl_c_is_ignored_if_the_parent_ignores_it(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(3))
    line = f"trap '' INT; {PROGRAM} check - < {tmp_path}/pipe & echo $!; wait $!; echo $?"
    os.mkfifo(tmp_path / "pipe")
    child = subprocess.Popen(["bash", "-c", line], stdout=subprocess.PIPE, text=True)
    number = int(child.stdout.readline())
    with open(tmp_path / "pipe", "wb") as pipe:
        os.kill(number, signal.SIGINT)
        pipe.write((tmp_path / "x.npy").read_bytes())
    out, _ = child.communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "0"


def test_messages_go_into_no_file_if_standard_error_is_closed(tmp_path):
    np.save(tmp_path / "in.npy", np.array([np.nan]))
    # The line about `in.npy` and the complaint about `no.npy` would go into the page.
    line = f"{PROGRAM} check in.npy no.npy --html page.html"
    pages = []
    for closed in ["", " >&- 2>&-"]:
        subprocess.run(["bash", "-c", line + closed], timeout=PATIENCE, cwd=tmp_path)
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1]
