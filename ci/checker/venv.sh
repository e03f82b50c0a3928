# Makes the Python environment of the checker's scripts, once, and sets `python`. Sourced.
venv=${EMU:-$PWD/.emu}/checker-venv
python=$venv/bin/python
if ! "$python" -c 'import gguf, ml_dtypes, numpy, onnx, pyarrow, safetensors' 2>/dev/null; then
  python3 -m venv "$venv"
  "$python" -m pip -q install -r ci/checker/requirements.txt
fi
