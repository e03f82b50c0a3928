"""Checks files of an S3 server by their URL, and compares with the same files on disk."""

import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import boto3
import numpy as np
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from safetensors.numpy import save_file
from werkzeug.serving import make_server

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
SLACK = 192 << 10  # bytes for headers and gaps
RUNS = 9


class Counted:
    """moto's S3, and the bytes of ranges that it sent."""

    def __init__(self):
        self.app = DomainDispatcherApplication(create_backend_app)
        self.sent = 0
        self.lock = threading.Lock()

    def __call__(self, environ, start_response):
        is_range = "HTTP_RANGE" in environ
        for chunk in self.app(environ, start_response):
            if is_range:
                with self.lock:
                    self.sent += len(chunk)
            yield chunk


def files(folder):
    """Files of several formats, and how many of their bytes are floats."""
    random = np.random.default_rng(1)
    floats = random.standard_normal((2000, 1000), dtype=np.float32)
    floats[7, 5] = np.nan
    floats[1999, 999] = np.inf
    integers = random.integers(0, 255, 20_000_000, dtype=np.uint8)
    np.save(folder / "x.npy", floats)
    save_file({"a": floats, "b": integers, "c": floats[::-1].copy()}, folder / "x.safetensors")
    np.savez(folder / "x.npz", a=floats, b=integers)
    np.savez_compressed(folder / "y.npz", a=floats[:100])
    for name in ["p", "q"]:
        save_file({name: floats[:100]}, folder / f"{name} 1+.safetensors")
    index = {"weight_map": {name: f"{name} 1+.safetensors" for name in ["p", "q"]}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    size = floats.nbytes
    return {
        "x.npy": size,
        "x.safetensors": 2 * size,
        "x.npz": None,
        "y.npz": None,
        "model.safetensors.index.json": None,
    }


def check(program, target, env):
    done = subprocess.run(
        [program, "check", "--json", "--stats", target],
        env=env,
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    document = json.loads(done.stdout)
    for file in document["files"]:
        file["path"] = Path(file["path"]).name
        for tensor in file["tensors"]:
            # A tensor of a server is not read a second time for the places of its bad numbers.
            tensor.pop("where", None)
            if "shard" in tensor:
                tensor["shard"] = Path(tensor["shard"]).name
    return done.returncode, document


def speed(command, env):
    start = time.perf_counter()
    done = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=False)
    if done.returncode > 1:
        sys.exit(f"{command} ended with {done.returncode}")
    return time.perf_counter() - start


def compare_speed(program, fetch, url, length, env):
    """Interleaved medians: the check, and a plain download of the same ranges that drops them."""
    times = {"check": [], "fetch": []}
    for _ in range(RUNS):
        times["check"].append(speed([program, "check", "--quiet", url], env))
        times["fetch"].append(speed([fetch, url], env))
    median = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in median.items():
        print(f"{name}: {seconds:.3f} s, {length / seconds / 1e6:.0f} MB/s")
    share = median["fetch"] / median["check"]
    print(f"the check has {share:.2f} of the throughput of the download")
    if share < 0.9:
        sys.exit("the check is slower than 0.9 of the link")


def main():
    program = str(Path(sys.argv[1]).resolve())
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = Counted()
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    env = os.environ | KEYS | {"AWS_ENDPOINT": endpoint, "AWS_ALLOW_HTTP": "true"}
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="models")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        floats = files(folder)
        for path in folder.iterdir():
            client.upload_file(str(path), "models", f"a b/{path.name}")
        for name, size in floats.items():
            local = check(program, str(folder / name), env)
            app.sent = 0
            remote = check(program, f"s3://models/a b/{name}", env)
            assert local == remote, f"{name}:\n{local}\n{remote}"
            assert remote[0] == 1, remote
            print(f"{name}: the same report, {app.sent} bytes of {(folder / name).stat().st_size}")
            if size is not None:
                assert size <= app.sent <= size + SLACK, f"{app.sent} bytes for {size} of floats"
            # The same with a presigned URL, which needs no credentials.
            url = client.generate_presigned_url(
                "get_object", Params={"Bucket": "models", "Key": f"a b/{name}"}
            )
            if not name.endswith(".json"):
                presigned = check(program, url, {**os.environ})
                presigned[1]["files"][0]["path"] = name
                assert presigned == local, f"{url}:\n{presigned}"
        if len(sys.argv) > 2:
            big = folder / "big.npy"
            np.save(big, np.zeros(200_000_000, dtype=np.float16))
            client.upload_file(str(big), "models", "big.npy")
            compare_speed(
                program,
                str(Path(sys.argv[2]).resolve()),
                "s3://models/big.npy",
                big.stat().st_size,
                env,
            )
    server.shutdown()


main()
