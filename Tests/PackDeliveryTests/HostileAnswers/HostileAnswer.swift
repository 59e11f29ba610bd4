#if Delivery
  import Foundation
  import Testing

  /// A change of an honest answer on its way to the client: edits of its head and body, in text if possible.
  ///
  /// Text has one byte per character, up to U+00FF. In it `{first}`, `{last}` and `{total}` are the numbers of the
  /// honest answer's range, `{count}` its number of bytes, `{path}` the file below the site, `{host}` and `{port}` the
  /// server, `{private}` the port of a server in a private network, `{body}` the honest body.
  enum Edit: Sendable {
    /// The status line.
    case status(String)
    /// Fields of this name, instead of the existing ones.
    case field(String, [String])
    /// A line of the head, as it is.
    case line(String)
    /// Text before the status line.
    case before(String)
    /// The end of each line of the head.
    case lineEnd(String)
    case body(BodyChange)
    /// The body is this text.
    case bodyText(String)
    /// A body in chunked coding, without a length; `{body}` is in it.
    case chunked(String)
    /// In place of the whole answer.
    case raw(String)
    /// So many bytes of the answer are sent; negative: all but so many.
    case cut(Int)
    /// A part of the answer is sent: all of its head, and so much of its body.
    case cutBody(Double)
    case end(FaultServer.Reply.End)

    static func field(_ name: String, _ value: String) -> Self { .field(name, [value]) }
    static func without(_ name: String) -> Self { .field(name, []) }
  }

  /// A change of the bytes of a body.
  enum BodyChange: Sendable {
    /// The byte at this place is another one; negative: from the end.
    case flip(Int)
    case flipped, backwards, turned, chance, twice, half
    case all(UInt8)
    /// So many bytes of it; negative: all but so many.
    case first(Int)
    /// It begins with this text, and is as long as before.
    case beginning(String)
    /// This text follows.
    case and(String)

    func applied(to body: [UInt8]) -> [UInt8] {
      switch self {
      case .flip(let place):
        var body = body
        body[place < 0 ? body.count + place : place] ^= 0x81
        return body
      case .flipped: return body.map { $0 ^ 1 }
      case .backwards: return body.reversed()
      case .turned: return Array(body.dropFirst()) + body.prefix(1)
      case .chance: return noise(body.count, seed: 9)
      case .twice: return body + body
      case .half: return Array(body.prefix(body.count / 2))
      case .all(let byte): return body.map { _ in byte }
      case .first(let count): return Array(count < 0 ? body.dropLast(-count) : body.prefix(count))
      case .beginning(let text):
        return Array((latin1(text) + body.dropFirst(text.unicodeScalars.count)).prefix(body.count))
      case .and(let text): return body + latin1(text)
      }
    }
  }

  /// The allowed results of a pull.
  struct Outcome: Hashable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
    let names: Set<String>

    init(arrayLiteral outcomes: Outcome...) { names = outcomes.reduce(into: []) { $0.formUnion($1.names) } }
    private init(_ name: String) { names = [name] }

    /// All came, byte for byte.
    static let pulled = Outcome("pulled")
    static let noSite = Outcome("noSite")
    static let unreachable = Outcome("unreachable")
    static let denied = Outcome("denied")
    static let badResponse = Outcome("badResponse")
    static let badSignature = Outcome("badSignature")
    static let siteChanged = Outcome("siteChanged")
    static let corrupt = Outcome("corrupt")

    static let todo: Outcome = [
      pulled, noSite, unreachable, denied, badResponse, siteChanged, corrupt, Outcome("badSignature"),
    ]

    var description: String { names.sorted().joined(separator: " or ") }
  }

  /// Which request of a pull is answered so.
  enum Asked: Hashable, Sendable, CaseIterable {
    case root, manifest
    /// Frame tables.
    case table
    /// A change list. Without one of them there are pages, as there are frames without a delta.
    case changes
    /// Ranges of catalog and layout pages, where the site has no change list.
    case pages
    /// Ranges of chunks.
    case frames
    /// Ranges of chunks of the newest segment.
    case newestFrames
    /// Requests after the connection broke in the middle of the newest frames.
    case rest
    /// A delta, where the site has one.
    case delta
    /// A whole segment, where the server has no ranges, and the site no change list.
    case stream
  }

  /// One answer, its place, and the allowed results of the pull.
  struct Row: Sendable {
    let name: String
    let edits: [Edit]
    let outcomes: [Asked: Outcome]
    /// Only the first such request is answered so.
    let isOnce: Bool

    func outcome(_ asked: Asked) -> Outcome? { outcomes[asked == .changes ? .delta : asked] }

    init(_ name: String, _ edits: [Edit], _ outcomes: [Asked: Outcome], once isOnce: Bool = false) {
      self.name = name
      self.edits = edits
      self.outcomes = outcomes
      self.isOnce = isOnce
    }
  }

  /// Rows that are run by one server, one after the other.
  struct RowGroup: Sendable, CustomTestStringConvertible {
    let name: String
    let rows: [Row]

    init(_ name: String, _ rows: [Row], more: [Row] = []) {
      self.name = name
      self.rows = rows + more
    }

    var testDescription: String { name }
  }

  /// The numbers that text of an edit may name.
  struct AnswerContext {
    let path: String
    let host: String
    let port: Int
    let privatePort: Int
  }

  extension FaultServer.Reply {
    /// Makes the honest reply a hostile one.
    mutating func apply(_ edits: [Edit], _ context: AnswerContext) {
      var draft = AnswerDraft(self, context)
      for edit in edits { draft.apply(edit) }
      raw = draft.bytes
      end = draft.end
    }
  }

  /// An answer that is being edited.
  private struct AnswerDraft {
    private let names: [(String, String)]
    private var status: String
    private var lines: [(name: String, text: String)]
    private var body: [UInt8]
    private var before = ""
    private var lineEnd = "\r\n"
    private var raw: String?
    private var cut: Int?
    private var bodyShare: Double?
    private(set) var end = FaultServer.Reply.End.nothing

    init(_ reply: FaultServer.Reply, _ context: AnswerContext) {
      status = "HTTP/1.1 \(reply.status) Some Reason"
      body = reply.body
      lines = (reply.headers + [("Content-Length", "\(reply.body.count)")]).map { ($0, "\($0): \($1)") }
      let said = reply.headers.first { $0.0 == "Content-Range" }?.1
      let numbers = (said ?? "bytes 0-\(reply.body.count - 1)/\(reply.body.count)").split { " -/".contains($0) }
      names = [
        ("first", "\(numbers[1])"), ("last", "\(numbers[2])"), ("total", "\(numbers[3])"),
        ("count", "\(reply.body.count)"), ("path", context.path), ("host", context.host), ("port", "\(context.port)"),
        ("private", "\(context.privatePort)"),
      ]
    }

    private func expand(_ text: String) -> String {
      guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
      return names.reduce(text) { $0.replacingOccurrences(of: "{\($1.0)}", with: $1.1) }
    }

    mutating func apply(_ edit: Edit) {
      switch edit {
      case .status(let text): status = expand(text)
      case .field(let name, let values):
        lines.removeAll { $0.name == name }
        lines += values.map { (name, "\(name): \(expand($0))") }
      case .line(let text): lines.append(("", expand(text)))
      case .before(let text): before = expand(text)
      case .lineEnd(let text): lineEnd = text
      case .body(let change): body = change.applied(to: body)
      case .bodyText(let text): body = latin1(text)
      case .chunked(let text):
        lines.removeAll { $0.name == "Content-Length" }
        lines.append(("Transfer-Encoding", "Transfer-Encoding: chunked"))
        body = filled(text)
      case .raw(let text): raw = expand(text)
      case .cut(let count): cut = count
      case .cutBody(let share): bodyShare = share
      case .end(let end): self.end = end
      }
    }

    /// The bytes of a text in which `{body}` is the body and `{size}` its length in hexadecimal digits.
    private func filled(_ text: String) -> [UInt8] {
      let text = expand(text).replacingOccurrences(of: "{size}", with: String(body.count, radix: 16))
      guard let place = text.range(of: "{body}") else { return latin1(text) }
      return latin1(text[..<place.lowerBound]) + body + latin1(text[place.upperBound...])
    }

    var bytes: [UInt8] {
      if let raw { return shorten(filled(raw)) }
      let head = latin1(before + ([status] + lines.map(\.text) + [""]).map { $0 + lineEnd }.joined())
      if let bodyShare { return head + body.prefix(Int(Double(body.count) * bodyShare)) }
      return shorten(head + body)
    }

    private func shorten(_ bytes: [UInt8]) -> [UInt8] {
      guard let cut else { return bytes }
      return Array(cut < 0 ? bytes.dropLast(-cut) : bytes.prefix(cut))
    }
  }

  private func latin1(_ text: some StringProtocol) -> [UInt8] {
    Array(text.data(using: .isoLatin1)!)
  }
#endif
