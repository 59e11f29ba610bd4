#if Serving
  import PackAuthoring
  import PackServer
  import PackStore

  /// The page at `/`. It consists of sections, which are also sent as events to open pages.
  ///
  /// All text from outside is escaped by `pageText`. The policy permits the page to load only the fixed resources of this server.
  struct StatusPage {
    /// A part of the page that is replaced completely.
    struct Section {
      let id: String
      let html: String
    }

    static let policy =
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
      + "frame-ancestors 'none'"

    let sections: [Section]

    init(_ content: ServedContent.State, _ status: ServerStatus.Snapshot) {
      sections = [
        Section(id: "saved", html: Self.totals(status.totals)),
        Section(id: "faults", html: Self.faults(content.faults)),
        Section(id: "now", html: Self.downloads(status.downloads)),
        Section(id: "packs", html: Self.packs(content.sites)),
        Section(id: "recent", html: Self.recent(status.recent)),
      ]
    }

    var html: String {
      let body = sections.map { "<section id=\"\($0.id)\">\n\($0.html)\n</section>" }.joined(separator: "\n")
      return """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>PackStore development server</title>
        <link rel="stylesheet" href="/style.css">
        <script src="/status.js" defer></script>
        <noscript><meta http-equiv="refresh" content="5"></noscript>
        </head>
        <body>
        <a class="skip" href="#packs">Skip to the packs</a>
        <header>
        <h1>PackStore development server</h1>
        <p class="facts"><span id="link" role="status">As of now; this page reloads itself.</span>
        <a href="/manifest">Manifest</a> <a href="/status">As JSON</a></p>
        </header>
        <main>
        \(body)
        </main>
        </body>
        </html>

        """
    }

    /// Returns an event of the stream: all sections in one line of JSON, without line feeds.
    static func event(_ sections: [Section]) -> String {
      let object = Dictionary(uniqueKeysWithValues: sections.map { ($0.id, $0.html) })
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      let bytes = (try? encoder.encode(object)) ?? Data("{}".utf8)
      return "data: \(String(decoding: bytes, as: UTF8.self))\n\n"
    }

    // MARK: - Sections

    private static func totals(_ totals: ServerStatus.Totals) -> String {
      let figures = [
        (bytes(totals.packByteCount), "sent of packs"),
        (bytes(totals.wholeByteCount), "as whole packs"),
        (bytes(totals.savedByteCount), "saved by ranges and deltas"),
        (formatCount(Int(clamping: totals.requestCount)), "requests"),
      ]
      let items = figures.map { "<div><dt>\(pageText($0.1))</dt><dd>\(pageText($0.0))</dd></div>" }
      return "<h2>Sent</h2>\n<dl>\(items.joined())</dl>"
    }

    private static func faults(_ faults: [FilePath: String]) -> String {
      guard !faults.isEmpty else { return "" }
      let items = faults.sorted { $0.key.string < $1.key.string }.map { path, text in
        "<li><strong>\(pageText(path.lastComponent?.string ?? path.string))</strong> \(pageText(text))</li>"
      }
      return "<h2>Not served as it is</h2>\n<ul class=\"faults\">\(items.joined())</ul>"
    }

    private static func downloads(_ downloads: [ClientDownload]) -> String {
      let rows = downloads.prefix(50).map { download in
        let whole = download.wholeByteCount.map { " of \(bytes($0))" } ?? ""
        let state = download.isBroken ? "aborted" : download.runningCount > 0 ? "running" : "waiting"
        return [
          download.version ?? download.target, download.client, bytes(download.sentByteCount) + whole,
          download.percent.map { "\($0) %" } ?? "", state,
        ]
      }
      let body =
        rows.isEmpty
        ? "<p class=\"facts\">No client downloads a pack.</p>"
        : table("Downloads", ["pack", "client", "sent", "share of the pack", "state"], rows)
      return "<h2>Downloads</h2>\n\(body)"
    }

    private static func packs(_ sites: [ServedSite]) -> String {
      var rows: [[String]] = []
      var shown: Set<String> = []
      for site in sites where shown.insert(site.folder.string).inserted {
        for channel in site.channels() {
          for pack in channel.packs {
            for offer in pack.offers {
              rows.append([
                "\(pack.pack)@\(offer.version)", site.place,
                channel.isClosed ? "\(channel.channel) (closed)" : "\(channel.channel)", "\(offer.share)",
                formatBytes(offer.downloadByteCount), formatCount(pack.deltaCount),
              ])
            }
          }
        }
      }
      let left = rows.count - min(rows.count, 500)
      let body =
        rows.isEmpty
        ? "<p class=\"facts\">No site has packs yet.</p>"
        : table("Packs", ["pack", "site", "channel", "devices", "whole", "deltas"], Array(rows.prefix(500)))
          + (left > 0 ? "<p class=\"facts\">and \(formatCount(left)) more</p>" : "")
      return "<h2>Packs</h2>\n\(body)"
    }

    private static func recent(_ notes: [RequestNote]) -> String {
      let rows = notes.map { note in
        [
          note.version ?? note.target, note.client, note.subject?.kind.rawValue ?? "", bytes(note.byteCount),
          "\(note.status)",
        ]
      }
      let body =
        rows.isEmpty
        ? "<p class=\"facts\">No requests for packs yet.</p>"
        : table("Requests that ended last", ["pack", "client", "part", "sent", "status"], rows)
      return "<h2>Last requests</h2>\n\(body)"
    }

    /// Returns a table in a frame that can be scrolled, also with the keyboard.
    private static func table(_ name: String, _ head: [String], _ rows: [[String]]) -> String {
      let header = head.map { "<th scope=\"col\">\(pageText($0))</th>" }.joined()
      let body = rows.map { row in
        let cells = row.enumerated().map { index, text in
          index == 0 ? "<th scope=\"row\">\(pageText(text))</th>" : "<td>\(pageText(text))</td>"
        }
        return "<tr>\(cells.joined())</tr>"
      }
      return "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"\(pageText(name))\"><table>"
        + "<thead><tr>\(header)</tr></thead><tbody>\(body.joined())</tbody></table></div>"
    }

    private static func bytes(_ count: UInt64) -> String { formatBytes(Int(clamping: count)) }
  }
#endif
