"""Opens bundles of the package in a browser: bundles.py BROWSER FOLDER."""

import functools
import http.server
import pathlib
import sys
import tempfile
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "browser"))
from chromium import Browser, expect  # noqa: E402

http.server.SimpleHTTPRequestHandler.log_message = lambda *_: None
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[2])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    page = Browser(sys.argv[1], profile)
    for tool in ("esbuild", "vite", "webpack"):
        page.open(f"http://127.0.0.1:{server.server_port}/{tool}/")
        *found, error = page.evaluate("answers")
        expect(found == [999_999] * 2 and "not a file" in error, f"{tool}: {found} {error}")
    print("npm: bundles answer in a page and in a module worker")
    page.process.kill()
