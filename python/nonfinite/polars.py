"""`import nonfinite.polars` adds the namespace `nonfinite` to the expressions of Polars.

>>> import polars as pl
>>> import nonfinite.polars
>>> frame = pl.DataFrame({"x": [1.0, None, float("nan")]})
>>> frame.select(pl.col("x").nonfinite.is_finite())["x"].to_list()
[True, None, False]
>>> frame.select(pl.col("x").nonfinite.count("finite")).item()
1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import nonfinite as nf

if TYPE_CHECKING:
    from nonfinite._native import _Predicate


@pl.api.register_expr_namespace("nonfinite")
class Expression:
    """Questions about a column of numbers. They also work in groups, lazily and in streams."""

    def __init__(self, column: pl.Expr) -> None:
        self._column = column

    def mask(self, predicate: _Predicate) -> pl.Expr:
        """Whether the predicate holds for each element. A null stays null."""
        nf.mask(0.0, predicate)  # A wrong one is an error here, not when Polars collects.

        def ask(column: pl.Series) -> pl.Series:
            mask = pl.Series(column.name, nf.mask(column, predicate), pl.Boolean)
            return mask.set(column.is_null(), None) if column.has_nulls() else mask

        return self._column.map_batches(ask, pl.Boolean, is_elementwise=True)

    def is_nan(self) -> pl.Expr:
        """Whether each element is NaN. A null stays null."""
        return self.mask("nan")

    def is_inf(self) -> pl.Expr:
        """Whether each element is infinite. A null stays null."""
        return self.mask("inf")

    def is_finite(self) -> pl.Expr:
        """Whether each element is neither NaN nor infinite. A null stays null."""
        return self.mask("finite")

    def any(self, predicate: _Predicate) -> pl.Expr:
        """Whether the predicate holds for any element that is not null."""
        return self.mask(predicate).any()

    def all(self, predicate: _Predicate) -> pl.Expr:
        """Whether the predicate holds for all elements that are not null."""
        return self.mask(predicate).all()

    def count(self, predicate: _Predicate) -> pl.Expr:
        """The number of elements for which the predicate holds. It holds for no null."""
        return self.mask(predicate).sum()
