"""Checks of input values. An error message names the parameter, the value and the remedy."""

import re
from collections.abc import Callable, Collection
from decimal import Decimal
from numbers import Number, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash.types import Flags, Ints

#: Largest number of candidates n. Beyond it, sums over candidates and ranks would not be exact.
LARGEST_N = 10**12
#: Largest total number of instances. Floats represent all whole numbers up to it exactly.
MOST_INSTANCES = 10**15
#: Whole numbers must be below this limit, so that the sum of two of them fits into 64 bits.
TOO_LARGE = 2**62

_MOST = float(np.finfo(float).max)

#: Pattern of a number in the digits 0 to 9. Python's ``float`` accepts other Unicode digits too.
NUMERAL = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


class Remedy(NamedTuple):
    """An argument that avoids an error: its name and value.

    If ``value`` is ``...``, the user has to choose the value. If ``value`` is None, ``name`` is not
    an argument, but a function that avoids the error.
    """

    name: str
    value: Any = None

    def in_python(self) -> str:
        """Return the remedy as text to append to a message, such as " (in Python: odds=2)"."""
        if self.value is None:
            return f" (in Python: {self.name})"
        value = f'"{self.value}"' if isinstance(self.value, str) else self.value
        return f" (in Python: {self.name}={'...' if value is ... else value})"


class Refusal(ValueError):
    """An error whose message contains remedies.

    ``str(error)`` gives the remedies as Python code; the command line and pages use other words.
    ``facts`` become attributes of the error.
    """

    def __init__(self, *parts: str | Remedy, **facts: Any) -> None:
        self.parts = parts
        super().__init__(self.worded(Remedy.in_python))
        vars(self).update(facts)

    def worded(self, remedy: Callable[[Remedy], str]) -> str:
        """Return the text, with each remedy worded by the function ``remedy``."""
        return "".join(x if isinstance(x, str) else remedy(x) for x in self.parts)


def shown(value: Any) -> str:
    """Return a value as it appears in an error message: shortened, and quoted if it is text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # value is nested too deeply, or has too many digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def counted(number: float, noun: str, plural: str = "") -> str:
    """Return a number with its noun in the singular or plural: "1 query", "3,000 queries"."""
    return f"{int(number):,} {noun if number == 1 else plural or noun + 's'}"


def exact(value: float) -> str:
    """Return a short text of a number that ``float`` reads back as exactly the same number."""
    text = f"{value:.15g}"
    return text if float(text) == value else repr(value)


def is_numeral(text: str) -> bool:
    """Return whether a text is a number in the digits 0 to 9; spaces around it are ignored."""
    return re.fullmatch(NUMERAL, text.strip()) is not None


def not_a_number(value: Any) -> str:
    """Return the error message for a value that is not a number."""
    other = isinstance(value, str) and any(x.isnumeric() and not x.isascii() for x in value)
    rule = ": numbers are written with the digits 0 to 9" if other else ""
    return f"{shown(value)} is not a number{rule}"


def array_of(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return ``values`` as an array; raise ValueError if they are lists of different lengths."""
    try:
        return np.asarray(values)
    except ValueError:
        needed = "one value or rows of one length"
        raise ValueError(f"{name} must be {needed}, got {shown(values)}") from None


def several(name: str, values: Any, what: str) -> list[Any]:
    """Return ``values`` as a list; raise ValueError if they are empty, text, or not iterable."""
    try:
        if isinstance(values, str):
            raise TypeError
        listed = list(values)
    except TypeError:
        text = shown(values if isinstance(values, int | float | str | None) else str(values))
        raise ValueError(f"{name} must be a list, got {text}: write [{text}]") from None
    if not listed:
        raise ValueError(f"{name} is empty: give at least one {what}")
    return listed


def of_kind(name: str, value: object, kind: Any, what: str, remedy: str) -> None:
    """Raise ValueError if a value is not of type ``kind``."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {what}, got {shown(value)}: {remedy}")


def text(name: str, value: object) -> str:
    """Return text unchanged, and a number as text; raise ValueError for any other value."""
    if not isinstance(value, str | Number | np.generic):
        raise ValueError(f"{name} must be text, got {shown(value)}: write it between quotes")
    return str(value)


def flag(name: str, value: object) -> bool:
    """Return ``value`` as True or False; raise ValueError if it is not a boolean."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def function(name: str, value: object) -> None:
    """Raise ValueError if a value is neither a function nor None."""
    if value is not None and not callable(value):
        raise ValueError(f"{name} must be a function, got {shown(value)}")


def generator(rng: object) -> None:
    """Raise ValueError if ``rng`` is not a random number generator of numpy."""
    of_kind("rng", rng, np.random.Generator, "numpy generator", "numpy.random.default_rng(1)")


def integer(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int; raise ValueError if it is not a whole number in low..high."""
    return int(integers(name, value, low=low, high=high, scalar=True))


def _odd(values: ArrayLike, kind: type | tuple[type, ...]) -> list[Any]:
    """Return the ``values`` that are booleans or not of type ``kind``, in their original form.

    They are handled as Python objects, because numpy would turn [1, "three"] into text.
    """
    given = np.asarray(values, dtype=object).ravel().tolist()
    return [v for v in given if isinstance(v, bool) or not isinstance(v, kind)]


def integers(
    name: str, values: ArrayLike, *, low: int, high: int | None = None, scalar: bool = False
) -> Ints:
    """Return ``values`` as int64; raise ValueError unless all are whole numbers in low..high."""
    array = array_of(name, values)
    if scalar and array.ndim:
        raise ValueError(f"{name} must be one whole number, got {shown(values)}")
    if array.dtype.kind not in "iuf" and array.size:
        if odd := _odd(values, int):
            raise ValueError(f"{name} must be a whole number, got {shown(odd[0])}")
        largest = shown(max(array.ravel().tolist(), key=abs))
        raise ValueError(f"{name} is too large: {largest}; at most {TOO_LARGE - 1:,}")
    if array.dtype.kind == "f":
        if array.itemsize < 4:
            # float16 cannot be compared with TOO_LARGE: the largest float16 is 65,504.
            array = array.astype(np.float64)
        bad = ~(np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < TOO_LARGE))
        if np.any(bad):
            raise ValueError(f"{name} must be a whole number, got {shown(array[bad].ravel()[0])}")
    elif array.size:
        for end in (array.max(), array.min()):
            if not -TOO_LARGE <= end < TOO_LARGE:
                raise ValueError(f"{name} is too large: {end}; at most {TOO_LARGE - 1:,}")
    result: Ints = array.astype(np.int64)
    if result.size and result.min() < low:
        raise ValueError(f"{name} must be at least {low}, got {result.min()}")
    if high is not None and result.size and result.max() > high:
        raise ValueError(f"{name} must be at most {high}, got {result.max()}")
    return result


def numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a copy of ``values`` as floats; raise ValueError if one is not a finite number."""
    array = array_of(name, values)
    if array.dtype.kind in "iuf":
        # A float of more than 64 bits may become infinite here; an error is then raised below.
        with np.errstate(over="ignore"):
            result: NDArray[np.float64] = array.astype(np.float64)
    else:
        if odd := _odd(values, (Real, Decimal)):
            raise ValueError(f"{name} must hold numbers, got {shown(odd[0])}")
        try:
            result = array.astype(np.float64)
        except OverflowError:
            raise ValueError(f"{name} must hold numbers of usual size") from None
    if not np.all(np.isfinite(result)):
        bad = result[~np.isfinite(result)].ravel()[0]
        raise ValueError(f"{name} must hold finite numbers, got {bad}")
    return result


def flags(name: str, values: ArrayLike) -> Flags:
    """Return a copy of ``values`` as booleans; raise ValueError if one is not a boolean."""
    array = np.array(array_of(name, values))
    if array.dtype != bool:
        odd = [x for x in array.ravel().tolist() if not isinstance(x, bool)]
        raise ValueError(f"{name} must hold true or false, got {shown(odd[0])}")
    return array


def length(name: str, array: NDArray[Any], rows: int, needed: str) -> None:
    """Raise ValueError if the array's shape is not (rows,); the message asks for ``needed``."""
    if array.shape != (rows,):
        raise ValueError(f"{name} has shape {array.shape}: give {needed}")


def first(bad: ArrayLike) -> int | None:
    """Return the index of the first true element, or None if no element is true."""
    flags = np.asarray(bad)
    return int(np.argmax(flags)) if flags.any() else None


def rows(name: str, values: ArrayLike, what: str) -> int:
    """Return the number of ``values``; raise ValueError if it is 0."""
    size = array_of(name, values).size
    if size == 0:
        raise ValueError(f"{name} is empty: give at least one {what}")
    return size


def column(
    name: str, values: ArrayLike, check: Callable[..., NDArray[Any]], rows: int, needed: str
) -> NDArray[Any]:
    """Return ``values`` checked by ``check``: shape (rows,); a single value is repeated."""
    array = array_of(name, values)
    if array.ndim:
        length(name, array, rows, needed)
    return np.broadcast_to(check(name, values), rows)


def labels(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return a copy of ``values`` as labels; raise ValueError if a label is not hashable."""
    array = np.array(array_of(name, values))
    for label in array.flat if array.dtype == object and not _hashable((*array.flat,)) else ():
        if not _hashable(label):
            raise ValueError(f"{name} must hold text or numbers, got {shown(label)}")
    return array


def _hashable(value: object) -> bool:
    try:
        hash(value)  # for a tuple, this fails if an element is not hashable
    except TypeError:
        return False
    return True


def candidates(name: str, values: ArrayLike, *, scalar: bool = False) -> Ints:
    """Return numbers of candidates as int64; raise ValueError unless each is in 2..10^12."""
    array = integers(name, values, low=2, scalar=scalar)
    if np.any(array > LARGEST_N):
        raise ValueError(f"{name} must be at most 10^12, got {array.max()}: give fewer candidates")
    return array


def ranks(name: str, values: ArrayLike, n: NDArray[Any]) -> Ints:
    """Return true ranks as int64; raise ValueError unless each is in 1..n."""
    array = integers(name, values, low=-TOO_LARGE)
    if array.size and array.min() < 1:
        hint = "" if array.min() else ": ranks count from 1, add 1 to each"
        raise ValueError(f"{name} must be at least 1, got {array.min()}{hint}")
    if n.ndim and array.ndim and n.shape != array.shape:
        try:
            np.broadcast_shapes(n.shape, array.shape)
        except ValueError:
            shapes = f"n has shape {n.shape}, but {name} has shape {array.shape}"
            raise ValueError(f"{shapes}: give one n, or one for each rank") from None
    over = array > n
    if np.any(over):
        r, size = (x[over].ravel()[0] for x in np.broadcast_arrays(array, n))
        raise ValueError(f"{name} {r} is larger than n = {size}: a rank is at most n")
    return array


def real(name: str, value: Any, *, low: float, high: float = _MOST, above: bool = False) -> float:
    """Return ``value`` as a float; raise ValueError if it is not a number in ``low``..``high``.

    With ``above``, the number must be larger than ``low``.
    """
    try:
        given = np.asarray(value)
        if given.ndim or given.dtype.kind not in "iufO":
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, got {shown(value)}") from None
    bound = f"above {low:g}" if above else f"at least {low:g}"
    limit = "" if high >= _MOST else f" and at most {high:g}"
    if not (low < number if above else low <= number) or not number <= high:
        raise ValueError(f"{name} must be {bound}{limit}, got {shown(value)}")
    return number


def confidence(value: Any) -> float:
    """Return ``value`` as a confidence level; raise ValueError unless it is above 0 and below 1."""
    number = real("confidence", value, low=0, high=1, above=True)
    if number == 1:
        raise ValueError("confidence must be below 1, got 1: take a lower level, such as 0.99")
    return number


def written(name: str, text: str, *, low: float, high: float = _MOST, above: bool = False) -> float:
    """Parse a number from its text and check it as :func:`real` does."""
    number: float | str = float(text) if is_numeral(text) else text
    return real(name, number, low=low, high=high, above=above)


def total(name: str, counts: NDArray[np.float64]) -> None:
    """Raise ValueError if the sum of the counts is too small or too large to divide by."""
    with np.errstate(over="ignore"):
        whole = float(counts.sum())
    if not 1 / MOST_INSTANCES <= whole <= MOST_INSTANCES:
        raise ValueError(f"{name} sum to {whole:g}: scale them to a sum from 10^-15 to 10^15")


def choice(name: str, value: Any, options: Collection[str]) -> None:
    """Raise ValueError if a value is not among ``options``."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {', '.join(options)}; got {shown(value)}")
