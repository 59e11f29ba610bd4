"""The charts of the pages in Benchmarks/Results."""

import chart


def picture(report):
    """The SVG of a report's chart; `None` if it has none."""
    if report.get("headlines"):
        return reads(report["headlines"])
    if report.get("benchmark") == "update":
        return update(report)
    return space(report["updates"]) if report.get("benchmark") == "space" and "updates" in report else None


def reads(headlines):
    """The participants of each headline, with their limit."""
    kinds = {"packStore": "own", "peer": "peer", "limit": "limit"}
    return chart.bars_svg("PackStore and its peers", "Grey: limits of the machine or of libzstd, without a store. Medians of one run.", [
        chart.Bars(one["title"], f"{one['unit']}, {'longer' if one['isMoreBetter'] else 'shorter'} is better",
                   [(bar["name"], kinds[bar["kind"]], bar["value"], bar["text"]) for bar in one["bars"]]) for one in headlines])


def space(updates):
    """Stored bytes and speed of reading over all updates."""

    def points(line, value):
        return [(point["update"], value(point)) for point in line["points"]]

    def fresh(value):
        return [(check["update"], value(check["update"], check["stores"]["fresh"])) for check in updates["checks"]]

    def speed(update, one):
        return updates["folder_bytes"][update] / one["read_s"] / 1e6

    stored = [chart.Curve(line["title"], points(line, lambda point: point["stored_bytes"] / 1e6)) for line in updates["lines"]]
    stored.append(chart.Curve("live: a fresh store", fresh(lambda _, one: one["stored_bytes"] / 1e6), is_limit=True))
    read = [
        chart.Curve(line["title"], points(line, lambda point: speed(point["update"], point))) for line in updates["lines"]
    ]
    read.append(chart.Curve("a fresh store", fresh(speed), is_limit=True))
    return chart.svg(
        "A store over its updates",
        [
            chart.Panel("Stored bytes, two versions kept", "MB", "updates", stored),
            chart.Panel("Reading the newest version as a whole", "MB/s", "updates", read),
        ],
    )


# The bars of an update: the smallest download of each group.
WAYS = [["packstore-ranges-12"], ["packstore-delta-default"], ["casync", "zchunk"], ["zsync"], ["restic-max", "borg-zstd-12"],
        ["zstd-19-patch"], ["whole-zstd-19"]]


def update(report):
    """The downloads of each pair, for the ways that a publisher would choose between."""
    groups = []
    for pair in report["pairs"]:
        found = [[row for row in pair["rows"] if row["key"] in keys] for keys in WAYS]
        best = [min(rows, key=lambda row: row["bytes"]) for rows in found if rows]
        groups.append(chart.Bars(pair["name"], "bytes, shorter is better", [
            (row["name"], "own" if row["key"].startswith("packstore-") else "peer", row["bytes"], byte_text(row["bytes"]))
            for row in best]))
    return chart.bars_svg("Bytes to fetch for an update", "The download of a client from one version to the next. One run.", groups)


def byte_text(count):
    """A size in the unit that fits it, in powers of ten: `402 B`, `25.5 KB`, `1.14 MB`."""
    size, unit = (count, "B") if count < 1000 else (count / 1e3, "KB") if count < 10**6 else (count / 1e6, "MB")
    return f"{size:,.0f} {unit}" if count < 1000 or size >= 99.95 else f"{size:.3g} {unit}"
