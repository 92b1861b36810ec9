"""A paragraph for the evaluation section of a paper, from what was computed, and what it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import Template
from typing import Any

import numpy as np
import pandas as pd

import sampledash
from sampledash.comparison.order import TIED
from sampledash.comparison.verdict import CONFIDENT, Pairs
from sampledash.report.escape import one_line, tex
from sampledash.report.numbers import count, gamma, listed, rounded, span, tex_count, tex_number
from sampledash.types import Floats

PAPER, MOVIELENS, SOFTWARE = "krichene2020sampled", "harper2015movielens", "sampledash"
CITED = {PAPER: "(Krichene & Rendle, 2020)", MOVIELENS: "(Harper & Konstan, 2015)"}
BIBTEX = {
    PAPER: r"""@inproceedings{krichene2020sampled,
  author    = {Krichene, Walid and Rendle, Steffen},
  title     = {On Sampled Metrics for Item Recommendation},
  booktitle = {Proceedings of the 26th {ACM} {SIGKDD} Conference on
               Knowledge Discovery and Data Mining},
  series    = {{KDD} '20},
  year      = {2020},
  numpages  = {10},
  publisher = {ACM},
  address   = {New York, NY, USA},
  doi       = {10.1145/3394486.3403226},
}
""",
    MOVIELENS: r"""@article{harper2015movielens,
  author    = {Harper, F. Maxwell and Konstan, Joseph A.},
  title     = {The {MovieLens} Datasets: History and Context},
  journal   = {ACM Transactions on Interactive Intelligent Systems},
  volume    = {5},
  number    = {4},
  articleno = {19},
  year      = {2015},
  doi       = {10.1145/2827872},
}
""",
    SOFTWARE: r"""@software{sampledash,
  key     = {sampledash},
  title   = {{sampledash}: Explore, Check and Correct Ranking Metrics
             Computed on Sampled Negatives},
  version = {%s},
}
""",
}
FRAME = Template(
    "We rank the relevant $items of $instances among all its $n candidates$ties; on this full "
    "ranking$weighted $exact. With $m per instance instead$fewer, $drawn$corrected$cite, "
    "$expected. $order These numbers, computed by sampledash $version$prior, take the instances as "
    "given and the negatives of each system as drawn independently; they do not say whether the "
    "differences would hold on other instances."
)
_TIES = {
    "expected": ", ties in random order",
    "optimistic": ", relevant items first among ties",
    "pessimistic": ", relevant items last among ties",
}
_CORRECTIONS = {
    "rank-estimate": "the rank estimate",
    "least-squares": "the least-squares correction",
    "monotone": "the constrained least-squares correction",
    "bias-variance": "the bias-variance correction",
}
_WEIGHTED = {
    "relevant-items": ", weighted by relevant items,",
    "instances": ", averaged over instances,",
}
# Up to so many are named one by one: systems with their values, values in all, systems that are
# best together, pairs, metrics; and characters of a name.
_NAMED, _VALUES, _TIED, _PAIRS, _METRICS, _LONGEST = 4, 6, 3, 3, 5, 60


def paragraph(findings: Pairs, *, latex: bool = False) -> str:
    r"""Write four or five sentences for a paper's evaluation section.

    They give the setting with the values of the full ranking, what the sampled metric would be in
    expectation, from which m the order is right, the chance that one run shows it, and what these
    numbers do not say. Every number is one of the findings. In LaTeX names are escaped and cited by
    the keys of :func:`bibtex`.
    """
    told, protocol = _Writer(findings, latex), findings.protocol
    relevant = max(ranks.max_relevant for ranks in findings.sets)
    short = protocol.without and any(
        np.any(x.counted().negatives < findings.m) for x in findings.sets
    )
    recipe, low = protocol.correction, min(int(ranks.n.min()) for ranks in findings.sets)
    prior = f" with {'a uniform' if recipe.prior is None else 'our own'} prior over the ranks"
    return FRAME.substitute(
        items="item" if relevant == 1 else f"items (up to {count(relevant)})",
        instances=told.instances(),
        n=span(low, max(int(ranks.n.max()) for ranks in findings.sets)),
        ties=_TIES[protocol.ties] if any(ranks.has_ties for ranks in findings.sets) else "",
        weighted=_WEIGHTED[protocol.weighting] if relevant > 1 else "",
        exact=told.values(findings.exact, "is", "is"),
        m=f"{count(findings.m)} {'negative' if findings.m == 1 else 'negatives'}",
        fewer=" (all of them where there are fewer)" if short else "",
        drawn=told.drawn(),
        corrected=told.corrected(),
        cite=told.cite(PAPER),
        expected=told.expected(),
        order=told.order(),
        version=f"{sampledash.__version__}{told.cite(SOFTWARE) if latex else ''}",
        prior=prior if recipe.by_rank and recipe.name != "rank-estimate" else "",
    )


@dataclass(frozen=True)
class _Writer:
    """The parts of the frame, as plain text or in LaTeX."""

    f: Pairs
    latex: bool

    def name(self, text: str) -> str:
        """What a user wrote, on one line and not too long."""
        line = one_line(text) or "(no name)"
        line = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
        return tex(line).replace("…", r"\dots{}") if self.latex else line

    def share(self, value: float, *, chance: bool = False) -> str:
        """A share in percent; something small never reads as zero, a chance as no certainty."""
        sign, number = rounded(value, chance=chance)
        if sign == ">" and value < 0:
            sign, number = "just below ", "0.00"
        said = {"<": "less than ", ">": "more than "}.get(sign, sign)
        negative = self.latex and number.startswith("-")
        return f"{said}{self.percent(f'${number}$' if negative else number)}"

    def percent(self, number: str) -> str:
        """A number in percent, such as 95 %."""
        return rf"{number}\,\%" if self.latex else f"{number} %"

    def m(self, value: float) -> str:
        """What m is."""
        return rf"$m = {tex_count(value)}$" if self.latex else f"m = {count(value)}"

    def cite(self, key: str) -> str:
        """A citation, with the space before it."""
        return rf"~\cite{{{key}}}" if self.latex else f" {CITED[key]}"

    def metrics(self, places: Sequence[int]) -> str:
        """Metrics by their places, or how many."""
        names = [str(self.f.metrics[x]) for x in places]
        return listed(names) if len(names) <= _METRICS else f"{len(names)} metrics"

    def by(
        self, places: Sequence[int], every: Sequence[str] = ("both metrics", "all {} metrics")
    ) -> str:
        """`` by AP and AUC``, or by both or all metrics; "" where there is only one."""
        if len(self.f.metrics) == 1:
            return ""
        if len(places) < len(self.f.metrics):
            return f" by {self.metrics(places)}"
        return f" by {every[len(places) > 2].format(len(places))}"

    def instances(self) -> str:
        """How many there are, and whose."""
        sizes = [ranks.n_instances for ranks in self.f.sets]
        low, high = min(sizes), max(sizes)
        said = f"each of {span(low, high)} test instances{' per system' * (low != high)}"
        said = "one instance" if high == 1 else said
        return f"{said} of MovieLens 1M{self.cite(MOVIELENS)}" if uses_movielens(self.f) else said

    @property
    def listing(self) -> bool:
        """Whether every value is written out."""
        return len(self.f.sets) <= _NAMED and self.f.exact.size <= _VALUES

    def values(self, means: Floats, first: str, then: str) -> str:
        """Every value from the best to the worst, or only the best; two verbs for the metrics."""
        if not self.listing:
            return self.best(means)
        f, parts = self.f, list[str]()
        for metric, column in zip(f.metrics, means.T, strict=True):
            order = np.argsort(-column, kind="stable")
            each = [f"{self.share(column[i])} for {self.name(f.systems[i])}" for i in order]
            if np.ptp(column) <= TIED:
                each = [f"{self.share(column[0])} for {all_of(len(f.sets), 'systems')}"]
            parts.append(f"{metric} {then if parts else first} {listed(each)}")
        return phrases(parts)

    def best(self, means: Floats) -> str:
        """The best system of each metric, metrics with the same best together."""
        f, size = self.f, len(self.f.sets)
        tops = means.max(axis=0)
        groups = _grouped(
            (tuple(np.flatnonzero(top - column <= TIED).tolist()), f"{metric} ({self.share(top)})")
            for metric, column, top in zip(f.metrics, means.T, tops, strict=True)
        )
        equal = groups.pop(tuple(range(size)), None)
        if not groups and equal:
            return f"the {count(size)} systems are equal by {listed(equal)}"
        parts: list[str] = []
        for top, metrics in groups.items():
            names = [self.name(f.systems[i]) for i in top]
            who = names[0] if len(top) == 1 else f"{count(len(top))} tied systems"
            who = f"{listed(names)} (tied)" if 1 < len(top) <= _TIED else who
            verb = f" {'is' if len(top) == 1 else 'are'} the best of {count(size)} systems"
            parts.append(f"{who}{'' if parts else verb} by {listed(metrics)}")
        best = phrases(parts)
        return f"{best}; by {listed(equal)} the systems are equal" if equal else best

    def drawn(self) -> str:
        protocol = self.f.protocol
        if protocol.scheme != "popularity":
            return f"sampled uniformly {protocol.scheme.replace('-', ' ')}"
        odds = (
            f" (items ranked above the relevant one drawn {protocol.odds:g} times as often as "
            "those below it)"
        )
        by_odds = all(ranks.mass_above is None for ranks in self.f.sets)
        return f"sampled with replacement by popularity{odds * by_odds}"

    def corrected(self) -> str:
        protocol, recipe = self.f.protocol, self.f.protocol.correction
        if recipe.name == "uncorrected":
            return ""
        said = f", and {_CORRECTIONS[recipe.name]}"
        if (weight := recipe.gamma) is not None:
            tex_weight = rf"$\gamma = {tex_number(weight)}$"
            said += f" with {tex_weight if self.latex else f'γ = {gamma(weight)}'}"
        if protocol.fit_scheme != protocol.scheme:
            fitted = protocol.fit_scheme.replace("-", " ")
            said += f" fitted to sampling {'by ' if fitted == 'popularity' else ''}{fitted}"
        return said

    def expected(self) -> str:
        f, kept = self.f, self.kept()
        if self.listing:
            said = self.values(f.sampled, "would in expectation be", "would be")
            return f"{said}; this would {kept}" if kept else said
        if not kept:
            differ = bool((f.verdict["sampled"].abs() > TIED).any())
            kept = "differ although the systems do not" if differ else "be equal too"
        return f"the expected values would {kept}"

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The verdict on the pairs whose exact values differ, with the place of their metric."""
        f = self.f
        places = np.repeat(np.arange(len(f.metrics)), len(f.verdict) // len(f.metrics))
        return f.verdict.assign(place=places).query("state != 'tied'")

    @property
    def compared(self) -> list[int]:
        """Places of the metrics by which some pair differs."""
        return self.rows["place"].unique().tolist()

    def kept(self) -> str:
        """What becomes of the order in expectation, as an infinitive; "" where there is none."""
        f, rows = self.f, self.rows
        turned, level = rows["sampled"] < -TIED, rows["sampled"].abs() <= TIED
        if rows.empty:
            return ""
        if not (turned | level).any():
            said = f"keep the order of the full ranking{self.by(self.compared)}"
        elif len(f.metrics) == 1:
            said = self.turned_by_one_metric(rows[turned], int(level.sum()))
        elif len(f.sets) == 2:
            states = np.select([turned, level], ["reverse", "tie"], "keep").tolist()
            groups = _grouped(zip(states, rows["place"], strict=True))
            their = "it" if "reverse" in groups else "their order"
            verbs = {"reverse": "reverse their order", "keep": f"keep {their}", "tie": "tie them"}
            said = phrases(
                [f"{verbs[x]} by {self.metrics(groups[x])}" for x in verbs if x in groups]
            )
        else:
            said = self.turned_by_metrics(turned, int(level.sum()))
        if len(f.sets) > 2 and len(rows) < len(f.verdict):
            said += ", pairs that are equal on the full ranking left out"
        return said

    def turned_by_one_metric(self, turned: pd.DataFrame, level: int) -> str:
        pairs, back = len(self.rows), len(turned)
        if pairs == 1:
            return "reverse their order" if back else "tie them"
        if pairs in (back, level):
            return f"{'reverse' if back else 'tie'} {all_of(pairs, 'pairs')}"
        said = []
        if back:
            ahead = [f"{w} ahead of {b}" for b, w in self.named(turned)]
            names = f" ({', '.join(ahead)})" if back <= _PAIRS else ""
            said.append(f"reverse {count(back)} of {count(pairs)} pairs{names}")
        if level:
            said.append(f"tie {count(level)}{'' if said else f' of {count(pairs)} pairs'}")
        return " and ".join(said)

    def turned_by_metrics(self, turned: pd.Series, level: int) -> str:
        parts = []
        for place, back in turned.groupby(self.rows["place"]):
            number, pairs = int(back.sum()), len(back)
            some = f"{count(number)} of {count(pairs)} pairs" if number else "none"
            parts.append((all_of(pairs, "pairs") if number == pairs else some, place))
        groups = _grouped(sorted(parts, key=lambda part: part[0] == "none"))
        tie = f"tie {count(level)} {'pair' if level == 1 else 'pairs'}"
        if set(groups) == {"none"}:
            return f"reverse no pair but {tie}"
        said = phrases([f"{key} by {self.metrics(places)}" for key, places in groups.items()])
        return f"reverse {said}, and {tie}" if level else f"reverse {said}"

    def named(self, rows: pd.DataFrame) -> list[tuple[str, str]]:
        """The better and the worse system of pairs."""
        ends = zip(rows["better"], rows["worse"], strict=True)
        return [(self.name(better), self.name(worse)) for better, worse in ends]

    def order(self) -> str:
        if self.rows.empty:
            return "As the systems are equal on the full ranking, there is no order to compare."
        return f"{self.right_from()} {self.one_run()}"

    def right_from(self) -> str:
        """From which m on the expected order is that of the full ranking."""
        f, parts = self.f, self.rows.groupby("place")["right_from"]
        ends = {place: parts.get_group(place).max(skipna=False) for place in self.compared}
        late = [place for place, m in ends.items() if pd.isna(m)]
        last = {place: int(m) for place, m in ends.items() if place not in late}
        end, selected = self.m(f.m_max), not f.every_m
        largest = f"the largest {'of the values ' if selected else ''}evaluated"
        one_pair = len(f.sets) == 2 or int(parts.size().max()) == 1
        if not last:
            return f"Even at {end}, {largest}, {self.never(late)}."
        start = "Their order is that" if one_pair else "All pairs are in the order"
        said = f"{start} of the full ranking {self.since(last)}"
        if not late:
            return f"{said} (evaluated at {'selected' if selected else 'all'} values up to {end})."
        names = self.metrics(late) if len(late) <= _METRICS else "the others"
        still = "it is" if one_pair else "some pairs are"
        return f"{said}; by {names} {still} not even at {end}, {largest}."

    def since(self, last: dict[int, int]) -> str:
        """``from m = 12 on by AP and from m = 7 on by AUC``; the values of m differ or are one."""
        f = self.f
        groups = _grouped((m, place) for place, m in sorted(last.items(), key=lambda x: x[1]))

        def start(m: int) -> str:
            if m == 1 < f.m_max:
                return "for every $m$" if self.latex else "for every m"
            if m == f.m_max:
                return f"only at {self.m(m)}"
            only = "only " if m > f.m and len(groups) == 1 else ""
            return f"{only}from {self.m(m)} on"

        if len(groups) == 1:
            return f"{start(min(groups))}{self.by(sorted(last))}"
        if len(groups) > _METRICS:
            return f"by {len(last)} metrics {start(max(groups))}"
        return phrases([f"{start(m)} by {self.metrics(places)}" for m, places in groups.items()])

    def never(self, late: Sequence[int]) -> str:
        """Where no metric orders every pair rightly, even at the largest m."""
        order = "not in the order of the full ranking"
        if len(self.f.sets) == 2:
            return f"they are {order}{self.by(late, ('either metric', 'any of the {} metrics'))}"
        if len(late) > 1:
            return f"some pairs are {order}{self.by(late)}"
        rows = self.rows
        wrong = rows[rows["right_from"].isna()]
        pairs = [f"{better} and {worse}" for better, worse in self.named(wrong)]
        named = f" ({', '.join(pairs)})" if len(pairs) <= _PAIRS else ""
        share = f"{count(len(wrong))} of {count(len(rows))} pairs"
        if len(wrong) == len(rows) > 1:
            share = all_of(len(rows), "pairs")
        return f"{share}{named} {'is' if len(wrong) == 1 else 'are'} {order}{self.by(late)}"

    def one_run(self) -> str:
        """The chance that a single sampled run shows the true order."""
        f, rows = self.f, self.rows
        chance = rows["probability"].to_numpy(dtype=np.float64)
        low, high = (self.percent(f"{100 * x:g}") for x in (1 - CONFIDENT, CONFIDENT))
        bounds = {
            f"at least {high}": chance >= CONFIDENT,
            f"between {low} and {high}": (chance > 1 - CONFIDENT) & (chance < CONFIDENT),
            f"at most {low}": chance <= 1 - CONFIDENT,
        }
        run = f"At {self.m(f.m)} a single run would show the true order with a"
        if len(rows) > _PAIRS:
            return f"{run} probability of {self.three_ways(chance, bounds)}."
        said = [self.share(p, chance=True) for p in chance]
        groups = _grouped(zip(said, self.comparisons(rows), strict=True))
        if len(rows) == 1:
            metric = "" if len(f.metrics) == 1 else f" by {f.metrics[self.compared[0]]}"
            told = f"{said[0]}{metric}"
        elif len(groups) == 1:
            each = (
                "by both metrics" if len(f.sets) == 2 and len(rows) == 2 else "in every comparison"
            )
            told = f"{said[0]} {'for every pair' if len(f.metrics) == 1 else each}"
        else:
            told = phrases([f"{p} {listed(who)}" for p, who in groups.items()])
        open_ = bounds[f"between {low} and {high}"]
        if not open_.any():
            return f"{run} probability of {told}."
        where = ", so" if open_.all() else f"; where it is between {low} and {high},"
        end = "the order in one run is a matter of chance."
        return f"{run} probability of {told}{where} {end}"

    def comparisons(self, rows: pd.DataFrame) -> list[str]:
        """``for Y over X``, ``by AP`` or both."""
        pairs = [f"for {better} over {worse}" for better, worse in self.named(rows)]
        metrics = [f"by {self.f.metrics[place]}" for place in rows["place"]]
        if len(self.f.metrics) == 1:
            return pairs
        if len(self.f.sets) == 2:
            return metrics
        return [f"{pair} {metric}" for pair, metric in zip(pairs, metrics, strict=True)]

    def three_ways(self, chance: Floats, bounds: dict[str, np.ndarray]) -> str:
        """How many comparisons one run shows rightly, wrongly, or as chance has it."""
        f, rows = self.f, self.rows
        kind = "pairs" if len(f.metrics) == 1 else "metrics" if len(f.sets) == 2 else "comparisons"
        told = {text: int(these.sum()) for text, these in bounds.items() if these.any()}
        parts = [f"{text} for {count(number)}" for text, number in told.items()]
        said = f"{min(told)} for {all_of(len(rows), kind)}"
        if len(told) > 1:
            parts[0] += f" of {count(len(rows))} {kind}"
            said = listed(parts)
        least = self.share(chance.min(), chance=True)
        lowest = rows[[self.share(p, chance=True) == least for p in chance]]
        if len(lowest) > 1:
            return said
        return f"{said}; it is lowest {self.comparisons(lowest)[0]} ({least})"


def _grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """What has the same first part together, in the order of their first occurrence."""
    groups: dict[Any, list[Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def phrases(parts: Sequence[str]) -> str:
    """The same of phrases; where one has an "and" of its own, a comma sets the last apart."""
    if len(parts) == 1 or not any(" and " in part for part in parts):
        return listed(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def all_of(number: int, noun: str) -> str:
    """Write all of some things: ``both pairs``, ``all 1,200 pairs``."""
    return f"both {noun}" if number == 2 else f"all {count(number)} {noun}"


def uses_movielens(findings: Pairs) -> bool:
    """Whether the ranks are those of MovieLens that come with sampledash."""
    return re.search(r"\bexample\(\s*['\"]movielens", findings.python) is not None


def bibtex(findings: Pairs) -> str:
    """Entries for what the paragraph cites, with its keys, and for sampledash in its version."""
    keys = [PAPER, *([MOVIELENS] if uses_movielens(findings) else [])]
    software = BIBTEX[SOFTWARE] % sampledash.__version__
    return "\n".join([*(BIBTEX[key] for key in keys), software])
