"""Escape text of a user, such as a system's name, for LaTeX, Markdown, HTML and pictures."""

import html
import re
import unicodedata

LONGEST_NAME = 24
_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": r"\textasciigrave{}",
    # A double quote is a command if the LaTeX package babel is used with German and some other
    # languages. A bracket or star at the start of a table row would be read as an argument of the
    # \\ that ends the row before.
    '"': r"\symbol{34}", "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
_JOINERS = "\u200c\u200d"  # invisible, but needed in some writing systems and in emoji
_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)")
# Characters to escape in Markdown. Some programs make links, mentions or emoji from a colon, an at
# sign or a dot after www.
_MARKDOWN = re.compile(r"[\\`*_{}\[\]#|~$^:]|(?<!\w)@|@(?=[\w-]+\.)|(?<=www)\.", re.IGNORECASE)


def one_line(text: str) -> str:
    r"""Return text on one line, with single spaces and without invisible characters.

    Invisible characters that join other characters, as in emoji, are kept.

    Examples
    --------
    >>> one_line(" two\n lines\x00 ")
    'two lines'
    """
    shown = (c for c in text if c.isspace() or c in _JOINERS or not _hidden(c))
    return " ".join("".join(shown).split())


def _hidden(character: str) -> bool:
    # Control characters, format characters (such as direction marks) and lone surrogates.
    return unicodedata.category(character) in ("Cc", "Cf", "Cs")


def tex(text: str) -> str:
    r"""Return text escaped for LaTeX, for use with any document class and font encoding.

    Examples
    --------
    >>> print(tex("50% of [A_1] -- B"))
    50\% of {[}A\_1{]} -{}- B
    """
    return _LIGATURES.sub("{}", "".join(_TEX.get(c, c) for c in one_line(text)))


def markdown(text: str) -> str:
    r"""Return text escaped for a table cell of Markdown.

    Examples
    --------
    >>> print(markdown("<b>A|B</b>, Recall@10"))
    &lt;b>A\|B&lt;/b>, Recall@10
    """
    # In a table cell, > needs no escape. Unescaped, "better > worse" is readable in the source.
    return _MARKDOWN.sub(r"\\\g<0>", html.escape(one_line(text), quote=False).replace("&gt;", ">"))


def html_text(text: str) -> str:
    """Return text escaped for HTML, between tags or in quoted attributes; keep line breaks.

    Examples
    --------
    >>> html_text("<b>A & B</b>")
    '&lt;b&gt;A &amp; B&lt;/b&gt;'
    """
    seen = (c for c in text if c in "\n\t" or c in _JOINERS or not _hidden(c))
    return html.escape("".join(seen), quote=True)


def escaped(text: str) -> str:
    """Return text escaped so that Streamlit shows it unchanged, without Markdown or links."""
    text = text.replace("://", ":\u2060//").replace("www.", "www\u2060.")
    for sign in "\\`*_{}[]<>#|~$:":
        text = text.replace(sign, "\\" + sign)
    return text


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name, shortened if necessary: the middle is cut, because names differ at their ends.

    Examples
    --------
    >>> short_name("SASRec-lr0.001-seed1", 12), short_name("iALS", 12)
    ('SASRe…-seed1', 'iALS')
    """
    if len(name) <= longest:
        return name
    end = longest // 2
    return f"{name[: longest - end - 1]}…{name[-end:]}"


def system_name(name: str) -> str:
    """Return the short form of a system's name, escaped for Streamlit."""
    return escaped(short_name(name))


def plain(name: str, longest: int = LONGEST_NAME) -> str:
    """Return the short form of a system's name, escaped for Plotly, which interprets HTML tags."""
    return short_name(name, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
