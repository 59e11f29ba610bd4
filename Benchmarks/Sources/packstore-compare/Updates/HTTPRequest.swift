import Foundation

/// The head of a request as a client of files sends it.
struct HTTPRequest: Equatable {
  let method: String
  /// Without the query, percent escapes resolved.
  let path: String
  /// By lower-case name.
  let fields: [String: String]
  /// Whether the client may ask again on the same connection.
  let keepsConnection: Bool

  /// Nil unless `head` is a request line and fields, which end with an empty line.
  init?(_ head: some Collection<UInt8>) {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/"),
      let path = words[1].prefix(while: { $0 != "?" }).removingPercentEncoding
    else { return nil }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    method = String(words[0])
    self.path = path
    self.fields = fields
    let wish = fields["connection"]?.lowercased()
    keepsConnection = words[2] == "HTTP/1.0" ? wish == "keep-alive" : wish != "close"
  }

  /// The requested file below the served folder; `nil` for a path outside it.
  var relativePath: String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    return parts.contains { $0.isEmpty || $0 == "." || $0 == ".." } ? nil : parts.joined(separator: "/")
  }
}

/// The result of parsing a `Range` field, for a file of a known length.
enum HTTPRange: Equatable {
  /// The field is missing, or a server may ignore it.
  case whole
  case parts([Range<Int>])
  case unsatisfiable

  init(_ field: String?, length: Int) {
    guard let field, field.hasPrefix("bytes=") else {
      self = .whole
      return
    }
    var parts: [Range<Int>] = []
    for text in field.dropFirst(6).split(separator: ",") {
      let ends = text.trimmingCharacters(in: .whitespaces).split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count == 2 else {
        self = .whole
        return
      }
      switch (Int(ends[0]), Int(ends[1])) {
      case (let first?, let last?) where first <= last: parts.append(min(first, length)..<min(last, length - 1) + 1)
      case (let first?, nil) where ends[1].isEmpty: parts.append(min(first, length)..<length)
      case (nil, let count?) where ends[0].isEmpty: parts.append(max(length - count, 0)..<length)
      default:
        self = .whole
        return
      }
    }
    parts.removeAll { $0.isEmpty }
    self = parts.isEmpty ? .unsatisfiable : .parts(parts)
  }
}
