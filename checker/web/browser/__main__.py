"""Checks pages in a browser: python3 checker/web/browser BROWSER PAGE PROGRAM [FOLDER].

First the reports that the command PROGRAM writes, then the page of dropped files, which lies in the
folder PAGE. `FOLDER` gets pictures, which takes minutes. `checker/web/test` calls this.
"""

import pathlib
import sys
import tempfile
import time

import dropped
import reports


def main():
    browser, folder_of_page, program = sys.argv[1:4]
    shots = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        page = dropped.Page(browser, folder / "profile")
        try:
            reports.check(page, program, folder, shots)
            dropped.check(page, folder_of_page, program, folder, shots)
        finally:
            page.process.kill()
            page.process.wait()
            time.sleep(0.2)


main()
