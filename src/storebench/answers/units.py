"""Write figures for people: three significant digits in a suitable unit.

Seconds are written in ns, µs, ms or s; bytes and bytes per second with decimal prefixes (1 kB is 1,000 B). Every other unit keeps its name.
A whole number without a unit, or of bytes below 1 kB, is exact. Figures have no exponents.

Compared figures, such as a column of a table, the two sides of a verdict, or the labels of a chart, share the unit of the largest figure if
no figure except 0 is less than a thousandth of the largest. Otherwise each figure has its own unit. An interval has the unit of its median.

`src/storebench/web/page/src/model/units.ts` does the same for the page. CSV, JSON and the API have the measured numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

NOTHING = "-"  # the text of a missing value
DIGITS = 3
RANGE = 1000  # the largest ratio of compared figures that share a unit
WHOLE = {"", "B"}  # whole numbers in these units are exact
LEAST_RATIO = 0.1  # from this ratio on, three decimals are at least three significant digits


@dataclass(frozen=True)
class Scale:
    """A unit for people: a number in this unit is the figure times `times`, divided by `by`."""

    unit: str
    times: float = 1
    by: float = 1


# The scales of each metric's unit, from the smallest to the largest, and the scale of 0.
SCALES = {
    "s": (Scale("ns", times=1e9), Scale("µs", times=1e6), Scale("ms", times=1e3), Scale("s")),
    "bytes": (
        Scale("B"),
        Scale("kB", by=1e3),
        Scale("MB", by=1e6),
        Scale("GB", by=1e9),
        Scale("TB", by=1e12),
    ),
    "bytes/s": (Scale("B/s"), Scale("kB/s", by=1e3), Scale("MB/s", by=1e6), Scale("GB/s", by=1e9)),
}
OF_ZERO = {"s": "s", "bytes": "B", "bytes/s": "B/s"}


@dataclass(frozen=True)
class Figures:
    """The writer of figures of one unit. `shared`: the scale of all figures; None if each figure has its own scale."""

    unit: str
    shared: Scale | None

    def text(self, value: float | None) -> str:
        """Return a figure with its unit, or a dash if the figure was not measured."""
        return NOTHING if value is None else self._written(value, self._scale(value))

    def interval(self, low: float, high: float, median: float) -> str:
        """Return both ends of an interval in the unit of its median."""
        scale = self._scale(median)
        return f"{_number(low, scale)} to {self._written(high, scale)}"

    def _scale(self, value: float) -> Scale:
        return self.shared or _scale_of(value, self.unit)

    @staticmethod
    def _written(value: float, scale: Scale) -> str:
        return f"{_number(value, scale)} {scale.unit}".rstrip()


def compared(unit: str | None, values: Iterable[float | None]) -> Figures:
    """Return the writer of figures of a unit that are compared with these values."""
    unit = unit or ""
    sizes = [abs(float(value)) for value in values if value]
    if sizes and max(sizes) > RANGE * min(sizes):
        return Figures(unit, None)
    return Figures(unit, _scale_of(max(sizes, default=0.0), unit))


def column(values: Sequence[float | None], units: Sequence[str | None]) -> list[str]:
    """Return the texts of a table's column: figures of the same unit are compared."""
    alike = {
        unit: compared(
            unit, (value for value, own_unit in zip(values, units, strict=True) if own_unit == unit)
        )
        for unit in set(units)
    }
    return [alike[unit].text(value) for value, unit in zip(values, units, strict=True)]


def figure_text(value: float | None, unit: str | None) -> str:
    """Return a single figure with its unit; a dash if the figure was not measured."""
    return compared(unit, [value]).text(value)


def ratio_text(value: float) -> str:
    """Format a ratio with three decimals, or a small ratio with three significant digits."""
    return f"{value:.3f}" if abs(value) >= LEAST_RATIO else _number(value, Scale("ratio"))


def _scale_of(value: float, unit: str) -> Scale:
    """Return the smallest scale in which the value has at most three digits before the point."""
    scales = SCALES.get(unit)
    if scales is None:
        return Scale(unit)
    if not value:
        return next(scale for scale in scales if scale.unit == OF_ZERO[unit])
    # 999.5 is rounded to 1,000
    return next((scale for scale in scales if _in(value, scale) < RANGE - 0.5), scales[-1])


def _in(value: float, scale: Scale) -> float:
    return abs(float(value)) * scale.times / scale.by


def _number(value: float, scale: Scale) -> str:
    number = float(value) * scale.times / scale.by
    if not number:
        return "0"
    if scale.unit in WHOLE and number.is_integer():
        return f"{int(number):,}"
    # The page's formatter also rounds the shortest decimal text of a number
    exact = Decimal(repr(number))
    rounded = _rounded(exact, exact.adjusted())
    return f"{_rounded(rounded, rounded.adjusted()):,f}"  # 9.996 becomes 10.00, and then 10.0


def _rounded(number: Decimal, exponent: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(exponent - DIGITS + 1), ROUND_HALF_UP)
