"""Pieces of files, and checks on several processes."""

import os
import pickle
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from sample_files import model, safetensors

import nonfinite
from nonfinite import distributed

PIECE = 10_000
"""Bytes of a piece: some dozens of pieces for the files of the tests."""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder of models, a damaged archive, a damaged file and text."""
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
    return folder


def same(report, paths, **options):
    """Compare a report with that of a check in this process."""
    local = nonfinite.check(paths, places=False, **options)
    assert report.to_json() == local.to_json()
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
        return distributed.look(task)

    return look


def processes(folder):
    """The processes that have looked at pieces. One of them died."""
    names = os.listdir(folder)
    assert "died" in names
    return {name.partition("-")[0] for name in names} - {"died"}


def test_pieces_can_be_pickled_and_added_in_any_order(models):
    for path in models.glob("[a-e].*"):
        plan = pickle.loads(pickle.dumps(nonfinite.plan(path, piece=PIECE, stats=True)))
        pieces = list(plan.pieces)
        random.Random(1).shuffle(pieces)
        found = [nonfinite.check_piece(pickle.loads(pickle.dumps(piece))) for piece in pieces]
        found = pickle.loads(pickle.dumps(found))
        assert nonfinite.merge(plan, found).tensors
        total = sum(found[1:], start=found[0])
        local = nonfinite.check_file(path, stats=True, places=False)
        assert nonfinite.merge(plan, found) == nonfinite.merge(plan, [total]) == local
        if len(found) > 1:
            with pytest.raises(nonfinite.ClusterError, match="no tally"):
                nonfinite.merge(plan, found[1:])
        with pytest.raises(nonfinite.ClusterError, match="two tallies"):
            nonfinite.merge(plan, [*found, found[0]])
        with pytest.raises(nonfinite.ClusterError, match="two tallies"):
            found[0] + found[0]


def test_tasks_hold_all_pieces_in_order(tmp_path):
    ones = np.ones(100, np.float32)
    safetensors(tmp_path / "m.safetensors", {f"{i}": ones for i in range(100)})
    plan = nonfinite.plan(tmp_path / "m.safetensors")
    assert len(plan.pieces) == 100
    tasks = plan.tasks(4000)
    assert [len(task) for task in tasks] == [10] * 10
    assert sum(tasks, ()) == plan.pieces
    found = [nonfinite.check_pieces(task) for task in tasks]
    path = tmp_path / "m.safetensors"
    assert nonfinite.merge(plan, found) == nonfinite.check_file(path, places=False)


def test_parts_that_do_not_fit_are_refused(models):
    plan = nonfinite.plan(models / "a.safetensors", allow="mask:-inf")
    others = nonfinite.plan(models / "b.safetensors")
    found = [nonfinite.check_piece(piece) for piece in others.pieces]
    with pytest.raises(nonfinite.ClusterError, match="another plan"):
        nonfinite.merge(plan, found)
    with pytest.raises(nonfinite.ClusterError, match="not a part of a plan"):
        nonfinite.check_piece(nonfinite.Piece(1, "{}"))
    with pytest.raises(nonfinite.InvalidFileError):
        nonfinite.plan(models / "damaged.npy")
    with pytest.raises(FileNotFoundError):
        nonfinite.plan(models / "missing.npy")


def test_a_file_that_changes_is_refused(tmp_path):
    model(tmp_path / "m.safetensors")
    plan = nonfinite.plan(tmp_path / "m.safetensors")
    model(tmp_path / "m.safetensors", seed=5)
    os.utime(tmp_path / "m.safetensors", (1, 1))
    with pytest.raises(nonfinite.ChangedError):
        nonfinite.check_piece(plan.pieces[0])
    os.remove(tmp_path / "m.safetensors")
    with pytest.raises(FileNotFoundError):
        nonfinite.check_piece(plan.pieces[0])


def test_threads(models, monkeypatch):
    same(distributed.check(models, piece=PIECE), models)
    paths = [models / "a.safetensors", f"{models}/*.npz"]
    options = {"allow": "mask:-inf", "stats": True, "max_abs": 3.0, "fail_on": "nan"}
    same(distributed.check(paths, piece=PIECE, **options), paths, **options)
    monkeypatch.chdir(models)
    looked_at = set()

    def run(function, tasks):
        for result in map(function, tasks):
            looked_at.add(result[0])
            yield result

    same(distributed.check(["./a.safetensors", "./d.npz"], run), ["./a.safetensors", "./d.npz"])
    assert looked_at == {0, 1}
    with pytest.raises(FileNotFoundError):
        distributed.check(models / "missing")
    with pytest.raises(TypeError, match="mapp"):
        distributed.check(models, mapp=True)


def test_processes(models):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        report = distributed.check(models, distributed.executor(pool), piece=PIECE, stats=True)
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
        report = distributed.check(models, run, piece=PIECE)
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
        report = distributed.check(models, run, piece=PIECE)
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
        report = distributed.check(models, lambda _, tasks: engine(function, tasks), piece=50_000)
        assert len(processes(tmp_path / "calls")) >= 2
        same(report, models)
    finally:
        session.stop()
