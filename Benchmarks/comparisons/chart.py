"""Line and bar charts as self-contained SVG, light or dark like the page."""

import dataclasses
import html
import math

WIDTH = 826
PANEL_HEIGHT = 300
# The area of the lines inside a panel; their names are to the right.
LEFT, RIGHT, TOP, BOTTOM = 88, 560, 44, 244
LONGEST_NAME = 32

# Light and dark, as the page of packstore-bench has them.
COLOURS = [("#0a66c2", "#58a6ff"), ("#c2751b", "#f0a54f"), ("#2f8f5b", "#63c68f"), ("#7b5cc4", "#b69af2")]
LIMIT = ("#7d858d", "#98a1aa")
STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: #1d2126; }
text { dominant-baseline: central; }
.card { fill: #ffffff; stroke: #d5d9de; }
.title { font-weight: 600; font-size: 14px; }
.label { text-anchor: end; }
.tick { text-anchor: middle; }
.grid { stroke: #e3e1dc; }
.curve { fill: none; stroke-width: 2; }
.curve.limit { stroke-dasharray: 4 3; }
.hint { font-size: 11.5px; fill: #68707a; }
.own { font-weight: 600; }
@media (prefers-color-scheme: dark) {
text { fill: #e6e8ea; }
.card { fill: #1c2024; stroke: #30363c; }
.grid { stroke: #30363c; }
}
"""


@dataclasses.dataclass
class Curve:
    """A named line through points (x, y). A limit is dashed, with a dot at each point."""

    name: str
    points: list
    is_limit: bool = False


@dataclasses.dataclass
class Panel:
    """Curves over one pair of axes, the vertical one from 0 in `unit`."""

    title: str
    unit: str
    axis: str
    curves: list


def ticks(top):
    """About five round numbers from 0 to `top` and beyond."""
    rough = max(top, 1e-9) / 4
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in [1, 2, 2.5, 5, 10] if power * factor >= rough * (1 - 1e-9))
    return [step * index for index in range(math.ceil(top / step - 1e-9) + 1)]


def tick_text(value):
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:g}"


def svg(title, panels):
    """The panels, one below another, on one card."""
    return card(title, WIDTH, len(panels) * PANEL_HEIGHT + 12, "".join(
        f'<g transform="translate(0 {number * PANEL_HEIGHT})">{panel_marks(panel)}</g>' for number, panel in enumerate(panels)))


def card(title, width, height, body):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}">'
        f"<style>{STYLE}{colour_rules()}</style>"
        f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>{body}</svg>\n'
    )


def colour_rules():
    named = {f"c{index}": pair for index, pair in enumerate(COLOURS)} | {"limit": LIMIT}

    def rules(shade):
        return "".join(
            f".{name} {{ fill: {pair[shade]}; stroke: {pair[shade]}; }}\n.curve.{name} {{ fill: none; }}\n"
            for name, pair in named.items()
        )

    return rules(0) + "@media (prefers-color-scheme: dark) {\n" + rules(1) + "}\n"


def shortened(name, longest=LONGEST_NAME):
    return name if len(name) <= longest else name[: longest - 1] + "…"


def panel_marks(panel):
    points = [point for curve in panel.curves for point in curve.points]
    if not points:
        return ""
    grid = ticks(max(y for _, y in points))
    first, last = min(x for x, _ in points), max(x for x, _ in points)

    def place(point):
        across = (point[0] - first) / max(last - first, 1)
        return LEFT + across * (RIGHT - LEFT), BOTTOM - point[1] / grid[-1] * (BOTTOM - TOP)

    marks = [f'<text class="title" x="18" y="24">{html.escape(panel.title)}</text>']
    for value in grid:
        _, y = place((first, value))
        marks.append(f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        marks.append(f'<text class="label" x="{LEFT - 8}" y="{y:.1f}">{tick_text(value)} {panel.unit}</text>')
    for value in ticks(last):
        if first <= value <= last:
            x, _ = place((value, 0))
            marks.append(f'<text class="tick" x="{x:.1f}" y="{BOTTOM + 16}">{tick_text(value)}</text>')
    marks.append(f'<text class="tick" x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 34}">{html.escape(panel.axis)}</text>')
    colours = iter(f"c{index}" for index in range(len(COLOURS)))
    for number, curve in enumerate(panel.curves):
        colour = "limit" if curve.is_limit else next(colours)
        marks += curve_marks(curve, colour, [place(point) for point in curve.points], TOP + 6 + 22 * number)
    return "".join(marks)


def curve_marks(curve, colour, places, legend_y):
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = places if curve.is_limit else []
    return [
        f'<polyline class="curve {colour}" points="{line}"/>',
        *(f'<circle class="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in dots),
        f'<rect class="{colour}" x="{RIGHT + 24}" y="{legend_y - 6}" width="12" height="12" rx="2"/>',
        f'<text x="{RIGHT + 44}" y="{legend_y}">{html.escape(shortened(curve.name))}</text>',
    ]


@dataclasses.dataclass
class Bars:
    """A group of bars: (name, kind, value, text); the kind is `own`, `peer` or `limit`."""

    title: str
    hint: str
    bars: list

    @property
    def height(self):
        return 44 + 19 * len(self.bars)


def bars_svg(title, legend, groups):
    """The groups in two columns, with a legend below them."""
    classes = {"own": "c0", "peer": "c1", "limit": "limit"}
    half, tops, body = sum(group.height for group in groups) / 2, [18, 18], []
    for group in groups:
        column = 0 if tops[0] == 18 or tops[0] + group.height / 2 < half else 1
        left, top = 18 + 460 * column, tops[column]
        body.append(f'<text class="title" x="{left}" y="{top + 10}">{html.escape(group.title)} '
                    f'<tspan class="hint">{html.escape(group.hint)}</tspan></text>')
        longest = max((value for _, _, value, _ in group.bars), default=0) or 1
        for index, (name, kind, value, text) in enumerate(group.bars):
            middle, length = top + 38 + 19 * index, max(value / longest * 170, 1)
            body.append(
                f'<text class="label{" own" if kind == "own" else ""}" x="{left + 183}" y="{middle}">{html.escape(shortened(name, 29))}</text>'
                f'<rect class="{classes[kind]}" x="{left + 190}" y="{middle - 7}" width="{length:.1f}" height="14" rx="2"/>'
                f'<text x="{left + 196 + length:.1f}" y="{middle}">{html.escape(text)}</text>')
        tops[column] += group.height
    height = max(tops) + 36
    return card(title, 938, height, "".join(body) + f'<text class="hint" x="18" y="{height - 18}">{html.escape(legend)}</text>')
