"""Write numbers and lists in sentences, on axes and in TeX."""

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sampledash import checks

_NOISE = 1e-12  # a value that differs from 1 by at most this rounding error is written as 1
SAME = 1e-9  # two values of a metric that differ by less than this are written as equal
MOST_NAMED = 3  # largest number of systems that a sentence names one by one


def count(value: float) -> str:
    """Write a whole number with commas between thousands.

    Examples
    --------
    >>> count(10000)
    '10,000'
    """
    return f"{int(value):,}"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Join parts as in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def first_named(names: Sequence[str]) -> str:
    """Join the first three names as in a sentence; an ellipsis stands for further names."""
    return listed([*names[:MOST_NAMED], *(["…"] if len(names) > MOST_NAMED else [])])


def span(low: float, high: float) -> str:
    """Write a range of whole numbers.

    Examples
    --------
    >>> span(800, 1000), span(800, 800)
    ('800 to 1,000', '800')
    """
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def short_count(value: float) -> str:
    """Write a whole number for an axis, in M (millions) or B (billions) if two decimals suffice.

    Examples
    --------
    >>> [short_count(10**e) for e in (3, 6, 9)]
    ['1,000', '1M', '1B']
    """
    for size, unit in ((10**9, "B"), (10**6, "M")):
        if value >= size and value % (size // 100) == 0:
            return f"{value / size:g}{unit}"
    return count(value)


def unbroken(text: str) -> str:
    """Return the text with non-breaking spaces before percent signs and around equals signs."""
    return text.replace(" %", "\u00a0%").replace(" = ", "\u00a0=\u00a0")


def rounded(value: float, *, chance: bool = False) -> tuple[str, str]:
    """Return a sign (``<``, ``>`` or none) and a value, written in percent with two decimals.

    A value that would be rounded to 0 or 1, although it is not equal to 0 or 1, gets a sign. If
    ``chance``, the value is a probability, and even exact values 0 and 1 get a sign.

    Examples
    --------
    >>> rounded(0.63659), rounded(0.00001), rounded(-0.00001), rounded(0.999999)
    (('', '63.66'), ('<', '0.01'), ('>', '-0.01'), ('>', '99.99'))
    >>> rounded(1.0), rounded(1.00001), rounded(1.0, chance=True)
    (('', '100.00'), ('>', '100.00'), ('>', '99.99'))
    """
    if value < 5e-5 if chance else 0 < value < 5e-5:
        return "<", "0.01"
    if -5e-5 <= value - 1 < 5e-5 and (chance or abs(value - 1) > _NOISE):
        return ">", "99.99" if chance or value < 1 else "100.00"
    return (">", "-0.01") if -5e-5 < value < 0 else ("", f"{100 * value:z.2f}")


def percent(value: float, *, chance: bool = False, unit: str = "%") -> str:
    """Write a value such as 0.66 in percent with two decimals, as papers print metrics.

    Examples
    --------
    >>> percent(0.63659), percent(0.00001), percent(-0.00001), percent(float("nan"))
    ('63.66 %', '< 0.01 %', '0.00 %', '–')
    """
    value = 0.0 if -5e-5 < value < 0 and not chance else value
    sign, number = rounded(value, chance=chance)
    if not sign and not np.isfinite(value):
        return "–"
    return f"{sign} {number} {unit}".lstrip().replace("-", "\u2212")


def in_runs(value: float) -> str:
    """Write a probability in percent, but never as 0 % or 100 %, which would claim certainty.

    Examples
    --------
    >>> in_runs(0.98765), in_runs(0.0), in_runs(0.999999), in_runs(float("nan"))
    ('98.77 %', '< 0.01 %', '> 99.99 %', '–')
    """
    return percent(value, chance=True)


def points(value: float) -> str:
    """Write a difference of two metrics, in percentage points.

    Examples
    --------
    >>> points(0.5), points(-0.5864), points(1e-6)
    ('50.00 points', '−58.64 points', '< 0.01 points')
    """
    return percent(value, unit="points")


def bare_points(value: float) -> str:
    """Write a difference of two metrics in percentage points, without the unit."""
    return points(value).removesuffix(" points")


def plus_minus(means: Iterable[float], deviations: Iterable[float]) -> list[str]:
    """Write means ± standard deviations, in percent."""
    return [f"{percent(a)[:-2]} ± {percent(b)}" for a, b in zip(means, deviations, strict=True)]


def p_value(value: float) -> str:
    """Write a p-value; a small p-value is never written as 0."""
    return "–" if not np.isfinite(value) else "< 0.0001" if value < 5e-5 else f"{value:.4f}"


def decimal(value: float) -> str:
    """Write a number with two decimals, not in percent, and commas between thousands."""
    return f"{value:,.2f}"


def gamma(value: float) -> str:
    """Write a regularisation weight in few characters.

    Examples
    --------
    >>> gamma(0.1), gamma(1e-06), gamma(0.0)
    ('0.1', '1e-6', '0')
    """
    return re.sub(r"e-0", "e-", f"{value:g}")


def spell(error: ValueError | str, remedy: Callable[[checks.Remedy], str] = lambda _: "") -> str:
    """Turn an error into a sentence with a capital letter, a full stop and commas in large numbers.

    Quotations and dates in the error do not change. An error may contain remedies: options that
    avoid the error. ``remedy`` returns the text for a remedy; by default, remedies are left out,
    because a page has buttons for them.
    """
    message = error.worded(remedy) if isinstance(error, checks.Refusal) else str(error)
    parts = re.split(r"((?<!\w)'[^']*')", message.strip())
    for place in range(0, len(parts), 2):
        number = r"(?<![\w.,=/])\d{4,}(?![\w.]*\d|-\w|\.?[^\W\d])"
        part = re.sub(number, lambda d: f"{int(d[0]):,}", parts[place])
        parts[place] = re.sub(r"\bgamma\b", "γ", part)
    text = "".join(parts)
    text = text if text.endswith((".", "!", "?")) else text + "."
    # A symbol (n, m, k) or a file name at the beginning gets no capital letter.
    return text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}\s", text) else text


def tex_count(value: float) -> str:
    """Write a whole number in TeX, with commas in braces, so that TeX adds no space after them."""
    return count(value).replace(",", "{,}")


def tex_number(value: float, digits: int = 4) -> str:
    r"""Write a number in TeX with ``digits`` significant digits.

    Examples
    --------
    >>> tex_number(0.00990099), tex_number(1.2e-7)
    ('0.009901', '1.2 \\times 10^{-7}')
    """
    plain = f"{value:.{digits}g}"
    if "e" not in plain:
        return plain
    mantissa, exponent = plain.split("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}"


def equals(value: float) -> str:
    """Write the right side of an equation: ``= 63.66 %``, ``< 0.01 %`` or ``> 99.99 %``."""
    shown = percent(value)
    return shown if shown[0] in "<>" else f"= {shown}"


def tex_equals(value: float) -> str:
    """Write the text of :func:`equals` in TeX."""
    return equals(value).replace(" %", r"\,\%")
