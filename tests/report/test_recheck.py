"""A report is computed anew from what it holds, and a change in any place of the file is found."""

import json
import re
import zlib
from base64 import b64decode, b64encode

import numpy as np
import pytest

import sampledash as sd
from sampledash.analyses.consistency.report import anew, report
from sampledash.analyses.consistency.result import Focus, Question, compute
from sampledash.analyses.source import Source
from sampledash.command_line import main
from sampledash.report.recheck import recheck
from tests.report.made import NAMES
from tests.test_command_line import HOW, RANKS, TOY, asked

NOW = f"computed anew with sampledash {sd.__version__}"
HOLDS = re.compile(rf"report.html holds: its [1-9][\d,]{{2,}} numbers were {NOW}\.")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return a report by the command on two systems, in which B is ahead by 50 points."""
    folder = tmp_path_factory.mktemp("of-somebody")
    (folder / "toy.csv").write_text(TOY)
    call = [str(folder / "toy.csv"), "--metric", "Recall@10", "--m", "100"]
    assert main(["report", *call, "-o", str(folder / "report.html")]) == 0
    return (folder / "report.html").read_text("utf-8")


def test_reports_of_the_command_hold_and_name_no_folder(page, tmp_path, capsys):
    assert "sd.read_rank_sets('toy.csv')" in page
    assert "of-somebody" not in page
    (tmp_path / "ranks.csv").write_text(RANKS.replace("P,a,", '"</script>",a,'))
    path = str(tmp_path / "report.html")
    for how in HOW[::2]:
        words = [x for name, value in how.items() for x in (f"--{name}", str(value))]
        words += ["--metric", "Recall@3", "--metric", "AP", "--instances", "any", "--m", "4"]
        assert main(["report", str(tmp_path / "ranks.csv"), *words, "-o", path]) == 0
        code, told = asked(capsys, "check", path)
        assert HOLDS.fullmatch(*told["sentences"])
        assert (code, told["reports"]) == (0, [{"report": "report.html", "holds": True}])


def test_a_report_of_the_page_holds_with_the_pair_that_was_marked():
    sets = (*sd.example("paper-abc"), sd.RankSet(NAMES[0], range(1, 6), 10_000, ties=[0] * 4 + [3]))
    question = Question(Source(sets, "<b>", False), (sd.parse_metric("AUC"),), 50, {})
    text = report(Focus(compute(question), 0, 2))
    assert recheck(text, "a", anew)[1]
    assert not recheck(text.replace('"pair": 2', '"pair": 1'), "a", anew)[1]


def with_other_number(page):
    """Raise the first number of the first curve: Recall@10 is 100 % with a single negative."""
    first = re.search('"dtype":"f8","bdata":"(.*?)"', page)[1]
    values = np.frombuffer(b64decode(json.loads(f'"{first}"')))
    return page.replace(first, b64encode(np.r_[101.0, values[1:]].tobytes()).decode())


def with_other_rank(page):
    """Let A have a rank within 10 as well, so that the systems are tied."""
    packed = re.search('"ranks": "(.*?)"', page)[1]
    columns = json.loads(zlib.decompress(b64decode(packed)))
    columns[0]["ranks"][0] = 10
    return page.replace(packed, b64encode(zlib.compress(json.dumps(columns).encode())).decode())


def of_older(page):
    """Let an older version be named in the note, the paragraph, the BibTeX entry and the inputs."""
    return page.replace(sd.__version__, "0.0.1")


TITLE = "“Sampled metrics of toy.csv”"
CHANGES = [  # the change, and where it is found, what is in the file and what is computed
    (("50.00</td>", "51.00</td>"), "“Verdict”, row 1, has 51.00 … 50.00"),
    (("m = 100 the order", "m = 101 the order"), f"{TITLE} has 101 … 100"),
    (("systems is wrong", "systems is fine"), f"{TITLE} has fine … wrong"),
    (("by 50.00 points", "by 50.01 points"), "“Verdict at m = 100” has 50.01 … 50.00"),
    (with_other_number, "“Recall@10. B and A … has 101.0 …"),
    (('"m": 100', '"m": 99'), f"{TITLE} has 100 … 99"),
    (with_other_rank, f"{TITLE} has wrong … tied"),
    (("</body>", "<p>and more</p></body>"), "“Python” has and … nothing"),
]


def fits(pattern, sentence):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), sentence)


def test_a_change_is_found_and_named(page):
    for change, where in CHANGES:
        changed = change(page) if callable(change) else page.replace(*change)
        sentence, holds = recheck(changed, "report.html", anew)
        assert not holds
        assert fits(f"report.html does not hold: {where} {NOW}.", sentence), sentence
    # Between versions only words may differ, but not "wrong", which is a state in all of them.
    assert HOLDS.fullmatch(recheck(of_older(page), "report.html", anew)[0])
    sentence, holds = recheck(of_older(changed), "report.html", anew)
    assert holds
    assert fits(f"… {NOW}, whose words differ from those of sampledash 0.0.1.", sentence)
    assert not recheck(of_older(page.replace(*CHANGES[2][0])), "report.html", anew)[1]


def test_a_changed_report_and_no_report_are_told_by_exit_code_and_sentence(page, tmp_path, capsys):
    path, again = tmp_path / "x.html", "make the report again."
    bare = re.sub('<script type="application/json">.*?</script>', "", page)
    for code, text, said, *more in (
        (1, page.replace(*CHANGES[0][0]), "x.html does not hold: …"),
        (
            1,
            page + "<style>td { visibility: hidden }</style>",
            "… number of scripts and styles has…",
        ),
        (2, bare, f"… was made with sampledash {sd.__version__} and holds no inputs … {again}"),
        (2, "<!doctype html><p>", "… no report of sampledash: give a report, or a file of ranks."),
        (2, page.replace('"ranks": "e', '"ranks": "A'), f"… are damaged (Error -3 … {again}"),
        (2, page.replace('"pair": 0', '"pair": 7'), f"… are damaged (… {again}"),
        (2, page.replace('"metrics"', '"metric"'), f"… are damaged (… {again}"),
        (2, page, "… --ties is not for a report, which holds its settings.", "--ties=optimistic"),
    ):
        path.write_text(text, "utf-8")
        assert main(["check", str(path), *more]) == code
        assert fits(said, "".join(capsys.readouterr()).strip())
