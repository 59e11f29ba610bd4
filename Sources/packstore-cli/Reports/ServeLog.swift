#if Serving
  import PackServing
  import PackStore
  import Synchronization

  /// Prints the server's events. Each line is written immediately, because users read the log while the server runs.
  final class ServeLog: Sendable {
    private let report: ReportOptions
    private let output = Output()
    /// The first error of standard output; later lines are not printed.
    private let error: Mutex<(any Error)?> = Mutex(nil)

    init(_ report: ReportOptions) { self.report = report }

    func ready(_ ready: DevelopmentServer.Ready) {
      guard !report.json else { return write { try $0.json(ReadyLine(ready)) } }
      let sites = [ready.site].compactMap { $0 } + ready.sites
      var lines = ["serving at \(ready.url)/"]
      if let authority = ready.authority {
        let file = escaped(authority.file.string)
        lines.append(
          authority.isNew
            ? "created an authority for this machine: make devices trust '\(file)' ('packstore serve --print-authority')"
            : "devices trust it by '\(file)' ('packstore serve --print-authority')")
      }
      if let site = sites.first { lines.append("next: \(Self.pull(site, ready))") }
      write { try $0.lines(lines) }
    }

    private static func pull(_ site: String, _ ready: DevelopmentServer.Ready) -> String {
      let authority = ready.authority.map { " --ca \(shellWord($0.file.string))" } ?? ""
      let key = ready.site == site ? ready.key.map { " --trust \($0)" } ?? "" : ""
      return "packstore pull Packs \(site)\(authority)\(key)"
    }

    func tell(_ note: RequestNote) {
      guard !report.json else { return write { try $0.json(RequestLine(note)) } }
      guard !report.quiet else { return }
      write { try $0.line(Self.line(note)) }
    }

    static func line(_ note: RequestNote) -> String {
      let range = note.range.map { " \(escaped($0))" } ?? ""
      let failure = note.failure.map { ", \(escaped($0))" } ?? ""
      return
        "\(escaped(note.client)) \(escaped(note.method)) \(escaped(note.target))\(range): \(note.status), "
        + "\(formatBytes(Int(clamping: note.byteCount))) in \(formatDuration(note.duration))"
        + "\(note.isHTTP2 ? ", HTTP/2" : "")\(failure)"
    }

    func notice(_ text: String) { warn(.server, escaped(text)) }

    private func write(_ body: (Output) throws -> Void) {
      error.withLock { error in
        guard error == nil else { return }
        do {
          try body(output)
          try output.flush()
        } catch let failure {
          error = failure
        }
      }
    }

    /// - Throws: the error that prevented a line from being written.
    func check() throws { if let error = error.withLock({ $0 }) { throw error } }
  }

  /// Returns a text as one shell word, quoted if necessary.
  private func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "="), UInt8(ascii: ":"):
        true
      default: false
      }
    }
    return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
  }

  private struct ReadyLine: Encodable {
    let event = "ready"
    let url: String
    let manifest: String
    let site: String?
    let sites: [String]
    let authority: String?
    let isNewAuthority: Bool?
    let key: String?

    init(_ ready: DevelopmentServer.Ready) {
      url = ready.url
      manifest = "\(ready.url)/manifest"
      site = ready.site
      sites = ready.sites
      authority = ready.authority?.file.string
      isNewAuthority = ready.authority?.isNew
      key = ready.key.map { "\($0)" }
    }
  }

  private struct RequestLine: Encodable {
    let event = "request"
    let client: String
    let method: String
    let target: String
    let range: String?
    let status: Int
    let bytes: UInt64
    let milliseconds: Double
    let protocolName: String
    let failure: String?

    init(_ note: RequestNote) {
      client = note.client
      method = note.method
      target = note.target
      range = note.range
      status = note.status
      bytes = note.byteCount
      milliseconds = (note.duration / .milliseconds(1) * 1000).rounded() / 1000
      protocolName = note.isHTTP2 ? "HTTP/2" : "HTTP/1.1"
      failure = note.failure
    }
  }
#endif
