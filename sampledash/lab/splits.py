"""Which interactions are learned from, which tune, and which test: rules as text that parses."""

from __future__ import annotations

from dataclasses import dataclass

from sampledash.lab.interactions import Interactions


@dataclass(frozen=True, eq=False)
class Split:
    """Interactions in two or three parts with one table of labels.

    Attributes
    ----------
    training, validation, test
        Interactions to learn from, to choose parameters by (``None``: none were set aside), and
        to test on.
    text
        The rule and its seed, which parses back: ``"last 1"``.
    exclude_seen
        Whether a user's training items are left out of his candidates (Krichene & Rendle,
        section 9) or stay among them (Steck, section 5).
    """

    training: Interactions
    validation: Interactions | None
    test: Interactions
    text: str
    exclude_seen: bool
