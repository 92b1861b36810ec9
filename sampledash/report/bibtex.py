"""What to cite, as BibTeX."""

from __future__ import annotations

import re

import sampledash
from sampledash.comparison.findings import Findings

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


def uses_movielens(findings: Findings) -> bool:
    """Whether the ranks are those of MovieLens that come with sampledash."""
    return re.search(r"\bexample\(\s*['\"]movielens", findings.python) is not None


def bibtex(findings: Findings) -> str:
    """Entries for what the paragraph cites, with its keys, and for sampledash in its version."""
    keys = [PAPER, *([MOVIELENS] if uses_movielens(findings) else [])]
    software = BIBTEX[SOFTWARE] % sampledash.__version__
    return "\n".join([*(BIBTEX[key] for key in keys), software])
