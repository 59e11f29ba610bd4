extension Inspection {
  /// The page's style sheet, with colours for light and dark mode, and without external resources.
  static let style = """
    :root {
      color-scheme: light dark;
      --page: #fbfaf8; --card: #ffffff; --text: #1d2126; --muted: #5f6770; --rule: #e3e1dc; --ink: #14171a;
      --r0: #7cc4a0; --r1: #a9cf7a; --r2: #e9c46a; --r3: #e08f6c;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #14171a; --card: #1c2024; --text: #e6e8ea; --muted: #98a1aa; --rule: #30363c; --ink: #f2f4f5;
        --r0: #23664a; --r1: #4c6b22; --r2: #7d6216; --r3: #8a4527;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 76rem; background: var(--page); color: var(--text);
      font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
    }
    h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; }
    h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; }
    .facts { color: var(--muted); font-size: .95rem; margin: .4rem 0; }
    .scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
    table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
    th, td { padding: .35rem .8rem; text-align: right; font-weight: 400; white-space: nowrap; vertical-align: top; }
    th:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 14rem; }
    thead th { color: var(--muted); border-bottom: 1px solid var(--rule); }
    tbody tr + tr > * { border-top: 1px solid var(--rule); }
    svg { display: block; width: 100%; height: auto; min-width: 44rem; }
    section:has(svg) { overflow-x: auto; }
    svg text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: var(--ink); }
    svg rect { stroke: var(--page); stroke-width: 1; }
    svg rect.folder { fill: var(--card); stroke: var(--rule); }
    svg g:hover > rect { stroke: var(--text); stroke-width: 2; }
    .r0 { fill: var(--r0); background: var(--r0); } .r1 { fill: var(--r1); background: var(--r1); }
    .r2 { fill: var(--r2); background: var(--r2); } .r3 { fill: var(--r3); background: var(--r3); }
    .legend { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; padding: 0; font-size: .9rem; }
    .key { display: inline-block; width: .9em; height: .9em; border-radius: 3px; margin-right: .45em; vertical-align: -.1em; }
    @media (max-width: 40rem) {
      th, td { padding: .35rem .45rem; }
      th:first-child { min-width: 8.5rem; }
      td { font-size: .85em; }
    }

    """
}
