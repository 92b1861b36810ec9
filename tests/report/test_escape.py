"""Names of systems stay plain text in LaTeX, Markdown and HTML, as independent parsers show."""

import html
import re

from hypothesis import example, given
from hypothesis import strategies as st

from sampledash.report import escape

NASTY = [
    "<script>alert(1)</script>", "=1+1", "@SUM(A1)", "a|b", "50% #1 & $x_1^2$ ~ {y}\\", "[x]*",
    '"quoted" `tick` \'\'', "a--b---c", "two\nlines\r\n", "[0.5em]", "www.evil.org http://x.y",
    "\\input{/etc/passwd}", "ÄÖ 中文", "a\x00b\u202ec",
]  # fmt: skip

# The character that LaTeX typesets for each escape (LaTeX2e manual, 23.3).
COMMANDS = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\textasciigrave{}": "`",
    r"\symbol{34}": '"', r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#", r"\%": "%",
    r"\_": "_", "{[}": "[", "{]}": "]", "{*}": "*", "{}": "",
}  # fmt: skip
ACTIVE, EVERY = '\\{}$&#%_~^<>|"`[]*', "|".join([*map(re.escape, COMMANDS), "."])


def in_one_line(name):
    return " ".join("".join(c for c in name if c not in "\x00\u202e").split())


def read_tex(text):
    """Return the characters that LaTeX would typeset; fail if any active character is left."""

    def read(match):
        assert match[0] in COMMANDS or match[0] not in ACTIVE, f"{match[0]!r} in {text!r}"
        return COMMANDS.get(match[0], match[0])

    return re.sub(EVERY, read, text, flags=re.S)


def read_markdown(text):
    """Return the plain text of Markdown with escapes and references (CommonMark 2.4, 2.5)."""
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))


def every_name(test):
    for name in NASTY:
        test = example(name)(test)
    return given(st.text(st.characters(exclude_categories=("Cs", "Zl", "Zp")), max_size=30))(test)


@every_name
def test_any_name_survives_in_each_language(name):
    line = escape.one_line(name)
    assert not set("\n\x00\u202e") & set(line)
    assert read_tex(escape.tex(name)) == line
    assert read_markdown(escape.markdown(name)) == line
    assert html.unescape(escape.html_text(line)) == line
    assert not set(escape.html_text(name)) & set("<>\"'")


def test_nothing_active_is_left():
    # LaTeX fonts join -- to an en dash, '' to a closing quote and ,, to an opening quote.
    for pair in ("--", "''", ",,"):
        assert pair not in escape.tex(f"a{pair}{pair}b")
    text = escape.markdown("a|b <i> [x](y) www.a.org http://a.org @you a@b.org *c* _d_ `e`")
    assert not re.search(r"(?<!\\)[|*_`\[\]]", text)
    assert "<" not in text
    assert not re.search(r"(?<!\\):", text)
    assert "www." not in text
    assert not re.search(r"(?<![\\\w])@", text)
    assert escape.markdown("Recall@10") == "Recall@10"
    assert escape.html_text("a\n\tb\x07") == "a\n\tb"
