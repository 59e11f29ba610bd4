#if Serving
  extension StatusPage {
    /// The page's style sheet, with colours for light and dark mode.
    static let style = """
      :root {
        color-scheme: light dark;
        --page: #fbfaf8; --card: #ffffff; --text: #1d2126; --muted: #5b636c; --rule: #e3e1dc; --mark: #1f6f50; --fault: #a33a1d;
      }
      @media (prefers-color-scheme: dark) {
        :root {
          --page: #14171a; --card: #1c2024; --text: #e6e8ea; --muted: #a2abb4; --rule: #30363c; --mark: #7cc4a0; --fault: #f0977a;
        }
      }
      * { box-sizing: border-box; }
      body {
        margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 72rem; background: var(--page); color: var(--text);
        font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
      }
      h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
      h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
      a { color: var(--mark); }
      :focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
      .skip { position: absolute; left: -99rem; }
      .skip:focus { position: static; }
      .facts { color: var(--muted); margin: .3rem 0; }
      .facts a { margin-left: .8rem; }
      dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem; margin: 0; }
      dl div { display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
      dt { color: var(--muted); font-size: .9rem; }
      dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
      .scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
      table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
      th, td { padding: .4rem .8rem; text-align: left; font-weight: 400; vertical-align: top; white-space: nowrap; }
      th:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 10rem; }
      thead th { color: var(--muted); border-bottom: 1px solid var(--rule); }
      tbody tr + tr > * { border-top: 1px solid var(--rule); }
      .faults { padding-left: 1.2rem; color: var(--fault); }

      """

    /// The page's script, which inserts received sections. The server has escaped the text in their markup.
    static let script = """
      "use strict";
      const link = document.getElementById("link");
      const source = new EventSource("/events");
      source.onopen = () => { link.textContent = "Live."; };
      source.onerror = () => { link.textContent = "The server does not answer; trying again."; };
      source.onmessage = (message) => {
        const sections = JSON.parse(message.data);
        for (const id of Object.keys(sections)) {
          const section = document.getElementById(id);
          if (!section) continue;
          // Keep the focused element and the scroll position of a table.
          const focused = section.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
          const scroll = section.querySelector(".scroll")?.scrollLeft;
          section.innerHTML = sections[id];
          const frame = section.querySelector(".scroll");
          if (frame && scroll) frame.scrollLeft = scroll;
          if (frame && focused === frame.getAttribute("aria-label")) frame.focus({ preventScroll: true });
        }
      };

      """
  }
#endif
