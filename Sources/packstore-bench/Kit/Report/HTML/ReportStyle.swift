extension Report {
  /// The page's style sheet, with colours for light and dark mode and without external resources.
  static let style = """
    :root {
      color-scheme: light dark;
      --page: #fbfaf8; --card: #ffffff; --text: #1d2126; --muted: #68707a; --rule: #e3e1dc; --limit: #a9afb6;
      --c0: #0a66c2; --c1: #5aa0e0; --c2: #7b5cc4; --c3: #c2751b; --c4: #2f8f5b; --c5: #b8434e; --c6: #8a7a1f;
      --c7: #1c8a94; --c8: #a04a93; --c9: #6b5b4d;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #14171a; --card: #1c2024; --text: #e6e8ea; --muted: #98a1aa; --rule: #30363c; --limit: #6b737b;
        --c0: #58a6ff; --c1: #9accff; --c2: #b69af2; --c3: #f0a54f; --c4: #63c68f; --c5: #f07f88; --c6: #d0c05a;
        --c7: #56c4ce; --c8: #dd8fd0; --c9: #b5a390;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 62rem; background: var(--page); color: var(--text);
      font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
    }
    h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
    h2 { font-size: 1.35rem; margin: 3rem 0 1rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
    h3 { font-size: 1.02rem; margin: 0 0 .25rem; }
    p { margin: 0 0 .75rem; }
    a { color: var(--c0); }
    nav { margin: 1.5rem 0; display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; }
    .facts, .muted-text { color: var(--muted); font-size: .9rem; }
    .facts { padding-left: 1.1rem; margin: 0 0 1rem; }
    article {
      background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 1rem 1.25rem;
      margin: 0 0 1rem;
    }
    details { margin-top: .5rem; font-size: .9rem; }
    summary { cursor: pointer; color: var(--muted); }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .88rem; }
    th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--rule); font-weight: 400; }
    td { white-space: nowrap; }
    thead th { color: var(--muted); white-space: nowrap; }
    th:first-child { text-align: left; }
    tr.is-limit th, tr.is-limit td { color: var(--muted); font-style: italic; }
    tr.is-reference th, tr.is-reference td { font-weight: 600; }
    .scroll + p { margin-top: .75rem; }
    svg { display: block; width: 100%; height: auto; margin: .5rem 0; }
    svg text { font: 12.5px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: var(--text); }
    svg text { dominant-baseline: central; }
    svg .label { text-anchor: end; }
    svg .tick { text-anchor: middle; fill: var(--muted); font-size: 11.5px; }
    svg .muted { fill: var(--muted); }
    svg .reference { fill: var(--muted); font-weight: 600; }
    svg .value { paint-order: stroke; stroke: var(--card); stroke-width: 4; stroke-linejoin: round; }
    svg .grid { stroke: var(--rule); stroke-width: 1; }
    svg .whisker { stroke: var(--text); stroke-width: 1.5; opacity: .55; }
    svg .limit-line { stroke: var(--text); stroke-width: 1.5; stroke-dasharray: 4 3; opacity: .65; }
    svg .curve { fill: none; stroke-width: 2; }
    svg .range { stroke-width: 2.5; }
    svg .hollow { fill: var(--card); stroke-width: 2; }
    svg .limit { fill: var(--limit); stroke: var(--limit); }
    svg .curve.limit { fill: none; stroke-dasharray: 4 3; }
    svg .hollow.limit { fill: var(--card); }
    svg rect.limit, svg rect[class^="c"] { stroke: none; }

    """
    + (0..<Palette.colourCount).map { index in
      """
      svg .c\(index) { fill: var(--c\(index)); stroke: var(--c\(index)); }
      svg .curve.c\(index) { fill: none; }
      svg .hollow.c\(index) { fill: var(--card); }

      """
    }.joined()
}
