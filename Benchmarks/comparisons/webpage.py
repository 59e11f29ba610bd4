"""The page of a comparison as HTML: headings, lists, tables and the chart, without scripts or anything from the network."""

import html as escaping
import re

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76em; margin: 2em auto; padding: 0 1em; color-scheme: light dark; }
table { border-collapse: collapse; display: block; overflow-x: auto; } th, td { padding: 0.2em 0.8em; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr { border-bottom: 1px solid #8884; }
"""


def html(markdown, picture):
    """The HTML of Markdown as Benchmarks/summarize writes it. `picture` is the SVG of its image."""
    body, kind = [], None
    for line in markdown.split("\n"):
        new = "table" if line.startswith("|") else "ul" if line.startswith("- ") else None
        if kind not in (None, new):
            body.append(f"</{kind}>")
        if new not in (None, kind):
            body.append(f"<{new}>")
        if new == "table" and not line.startswith("| ---"):
            cell = "td" if kind == "table" else "th"
            body.append("<tr>" + "".join(f"<{cell}>{inline(text)}</{cell}>" for text in line[2:-2].split(" | ")) + "</tr>")
        elif new == "ul":
            body.append(f"<li>{inline(line[2:])}</li>")
        elif line.startswith("!["):
            body.append(picture or "")
        elif line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            body.append(f"<h{level}>{inline(line.lstrip('# '))}</h{level}>")
        elif new is None and line and not line.startswith("<!--"):
            body.append(f"<p>{inline(line)}</p>")
        kind = new
    title = escaping.escape(markdown.partition("\n")[0].lstrip("# "))
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>{title}</title><style>{STYLE}</style></head>\n'
            f'<body>{chr(10).join(body)}</body></html>\n')


def inline(text):
    """Text with emphasis and code; links become their text."""
    text = escaping.escape(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text))
    for pattern, name in [(r"\*\*([^*]+)\*\*", "b"), (r"\*([^*]+)\*", "em"), (r"`([^`]+)`", "code")]:
        text = re.sub(pattern, rf"<{name}>\1</{name}>", text)
    return text
