# Makes the Python environment of the checker's scripts, once, and sets `python`. Sourced.
python=$(ci/venv checker-venv -r ci/checker/requirements.txt)
