"""Checks on several processes."""

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from sample_files import model, safetensors

import nonfinite
from nonfinite import distributed

@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder of models, a set of shards, a damaged archive, a damaged file and text."""
    folder = tmp_path_factory.mktemp("models")
    model(folder / "a.safetensors", seed=1)
    model(folder / "b.safetensors", seed=2)
    np.save(folder / "c.npy", np.asfortranarray(np.full((30, 20), np.inf)))
    np.savez(folder / "d.npz", x=np.array([1, np.nan] * 5000), y=np.ones(7000))
    np.savez_compressed(folder / "e.npz", x=np.array([1, np.nan] * 5000))
    archive = bytearray((folder / "d.npz").read_bytes())
    archive[5000] ^= 1
    (folder / "damaged.npz").write_bytes(archive)
    stream = bytearray((folder / "e.npz").read_bytes())
    stream[70:80] = bytes(10)
    (folder / "damaged-stream.npz").write_bytes(stream)
    (folder / "damaged.npy").write_bytes(b"\x93NUMPY\x09\0")
    (folder / "README").write_text("text")
    write_set(folder / "set")
    return folder


def write_set(folder):
    """Write a set of four shards. One is missing, one is cut off, and one lacks a tensor."""
    folder.mkdir()
    names = {}
    for number in range(4):
        shard = f"model-{number}.safetensors"
        numbers = np.full((30, 20), np.nan if number == 1 else 1, np.float32)
        safetensors(folder / shard, {f"layer.{number}": numbers})
        names[f"layer.{number}"] = shard
    names |= {"more": "model-0.safetensors", "absent": "model-4.safetensors"}
    os.truncate(folder / "model-2.safetensors", 999)
    index = {"metadata": {}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def same(report, paths, **options):
    """Compare a report with that of a check in this process."""
    local = nonfinite.check(paths, **options)
    assert report.to_json() == local.to_json()
    assert report.to_html() == local.to_html()
    assert report == local


def dies_once(folder, parents=0):
    """The function of a task, except that the third call kills its process.

    The call kills so many parents of the process, too.
    """
    folder.mkdir()
    folder = str(folder)

    def look(task):
        import os
        import signal
        import uuid

        from nonfinite import distributed

        open(f"{folder}/{os.getpid()}-{uuid.uuid4()}", "x").close()
        if len(os.listdir(folder)) >= 3:
            try:
                open(f"{folder}/died", "x").close()
            except FileExistsError:
                pass
            else:
                family = [os.getpid()]
                for _ in range(parents):
                    status = open(f"/proc/{family[0]}/status").read()
                    family.insert(0, int(status.split("PPid:")[1].split()[0]))
                for process in family:
                    os.kill(process, signal.SIGKILL)
        return distributed.tally(task)

    return look


def processes(folder):
    """The processes that have looked at files. One of them died."""
    names = os.listdir(folder)
    assert "died" in names
    return {name.partition("-")[0] for name in names} - {"died"}


def test_threads(models, monkeypatch):
    same(distributed.check(models), models)
    paths = [models / "a.safetensors", f"{models}/*.npz", models / "a.safetensors"]
    options = {"allow": "mask:-inf", "stats": True, "max_abs": 3.0, "fail_on": "nan", "map": False}
    same(distributed.check(paths, **options), paths, **options)
    same(distributed.check(paths, places=False), paths, places=False)
    monkeypatch.chdir(models)
    looked_at = []

    def run(function, tasks):
        for result in map(function, tasks):
            looked_at.append(result[0])
            yield result

    paths = ["./a.safetensors", "./d.npz", "./a.safetensors"]
    same(distributed.check(paths, run), paths)
    assert looked_at == ["./a.safetensors", "./d.npz"]
    with pytest.raises(FileNotFoundError):
        distributed.check(models / "missing")
    with pytest.raises(TypeError, match="mapp"):
        distributed.check(models, mapp=True)


def test_a_set_has_a_task_for_each_shard(models):
    """The driver reads the index and the headers, and says what is missing."""
    index = models / "set" / "model.safetensors.index.json"
    looked_at = {}

    def run(function, tasks):
        results = [function(task) for task in tasks]
        looked_at.update((os.path.basename(path), type(found)) for path, found in results)
        return results

    report = distributed.check(models / "set", run)
    same(report, models / "set")
    assert [file.path for file in report.files] == [str(index)] and report.files[0].damaged
    assert [part.name for part in report.files[0].not_looked_at] == [
        "more",
        "model-2.safetensors",
        "model-4.safetensors",
    ]
    shards = {f"model-{number}.safetensors" for number in range(5)}
    assert set(looked_at) == shards
    assert {name for name in shards if looked_at[name] is str} == {
        f"model-{number}.safetensors" for number in (0, 1, 3)
    }
    same(distributed.check(index, run), index)


def test_the_driver_does_not_look_at_the_data_again(tmp_path):
    """What a worker has found is in the report, whatever is in the file now."""
    model(tmp_path / "m.safetensors")
    local = nonfinite.check(tmp_path)

    def run(function, tasks):
        results = [function(task) for task in tasks]
        (tmp_path / "m.safetensors").write_bytes(b"something else")
        return results

    assert distributed.check(tmp_path, run).to_json() == local.to_json()


def test_a_worker_without_the_files_is_no_success(models):
    """The driver would look at all files by itself."""
    error = FileNotFoundError(2, "No such file or directory", "x")
    with pytest.raises(FileNotFoundError):
        distributed.check(models, lambda _, tasks: [(path, error) for path, _ in tasks])
    same(distributed.check(models, lambda _, tasks: []), models)


def test_standard_input_is_that_of_the_driver(models):
    program = "import sys; from nonfinite import distributed as d; print(d.check('-').to_json())"
    with open(models / "c.npy", "rb") as stream:
        line = [sys.executable, "-c", program]
        done = subprocess.run(line, stdin=stream, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["totals"]["pos_inf"] == 600


def test_processes(models):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        report = distributed.check(models, distributed.executor(pool), stats=True)
    same(report, models, stats=True)


def test_ray(models, tmp_path):
    import ray

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100 << 20,
        log_to_driver=False,
        configure_logging=False,
    )
    try:
        engine = distributed.ray(max_retries=3)
        run = lambda _, tasks: engine(dies_once(tmp_path / "calls"), tasks)
        report = distributed.check(models, run)
        assert len(processes(tmp_path / "calls")) >= 2
        same(report, models)
    finally:
        ray.shutdown()


def test_dask(models, tmp_path):
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with LocalCluster(**options, dashboard_address=None) as cluster, Client(cluster) as client:
        engine = distributed.dask(client)
        run = lambda _, tasks: engine(dies_once(tmp_path / "calls"), tasks)
        report = distributed.check(models, run)
        assert len(processes(tmp_path / "calls")) >= 2
        same(report, models)


def test_spark(models, tmp_path, monkeypatch):
    """Two executors, each a JVM of its own with its own Python processes."""
    import pyspark
    from pyspark.sql import SparkSession

    # The executors of `local-cluster` need the home of Spark, and find Python by these variables.
    monkeypatch.setenv("SPARK_HOME", os.path.dirname(pyspark.__file__))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local-cluster[2,1,512]")
    settings = {
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(tmp_path / "spark"),
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        engine = distributed.spark(session)
        # A Python worker, the process that starts such workers, and the executor.
        function = dies_once(tmp_path / "calls", parents=2)
        report = distributed.check(models, lambda _, tasks: engine(function, tasks))
        assert len(processes(tmp_path / "calls")) >= 2
        same(report, models)
    finally:
        session.stop()
