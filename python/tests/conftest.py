"""Formats, layouts and the oracle of the tests.

The oracle asks numpy and ml_dtypes after a conversion to float64, which shares nothing with the
package.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

#: Every dtype that the package reads as floating-point numbers.
DTYPES = [
    np.dtype(np.float16),
    np.dtype(np.float32),
    np.dtype(np.float64),
    *(
        np.dtype(getattr(ml_dtypes, name))
        for name in (
            "bfloat16 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz "
            "float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn"
        ).split()
    ),
]


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors on the CPU stand for tensors on a GPU, for `nonfinite.torch`."""
    from nonfinite.torch import look

    monkeypatch.setattr(look, "_HERE", "nowhere")


if os.environ.get("NONFINITE_AWAY"):

    @pytest.fixture(autouse=True)
    def all_away(away):
        pass
