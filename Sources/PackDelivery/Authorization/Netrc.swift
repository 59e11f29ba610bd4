import PackStore

/// A file `.netrc`: names and passwords for hosts, as curl, git and ftp read it.
///
///     machine packs.example.com login ann password "pass word"
///     default login anonymous password guest
///
/// Words are separated by blanks and line ends. A word in quotation marks may contain blanks, and `\"`, `\\`, `\n`, `\r`
/// and `\t`. A word that begins with `#` starts a comment, up to the end of the line. `macdef` and its lines, up to an empty
/// line, are skipped, and so are `account` and unknown words.
package struct Netrc: Sendable {
  private struct Entry {
    /// In lower case; `nil` for any host.
    let host: String?
    var login: String?
    var password: String?
  }
  private var entries: [Entry] = []

  /// The maximum size of a file in bytes.
  package static let byteCountLimit = 1 << 20

  /// Reads the text of a file.
  ///
  /// - Throws: `invalidLocation` that names the line, without its content.
  package init(_ text: String, file: String = ".netrc") throws {
    var reader = NetrcReader(text, file: file)
    while let word = try reader.next() {
      switch word.lowercased() {
      case "machine": if let host = try reader.value() { entries.append(Entry(host: host.lowercased())) }
      case "default": entries.append(Entry(host: nil))
      case "macdef": reader.skipMacro()
      case "login": set(\.login, try reader.value())
      case "password": set(\.password, try reader.value())
      case "account": _ = try reader.value()
      // Words that only other programs use.
      default: break
      }
    }
  }

  private mutating func set(_ path: WritableKeyPath<Entry, String?>, _ value: String?) {
    if !entries.isEmpty { entries[entries.count - 1][keyPath: path] = value }
  }

  /// Returns the name and password of the first entry that matches a host; `nil` if none does.
  ///
  /// - Parameter user: the required name; `nil`: any name.
  package func credential(for host: String, user: String? = nil) -> (user: String, password: String)? {
    let host = host.lowercased()
    let entry = entries.first { entry in
      guard entry.host == nil || entry.host == host, entry.login != nil || entry.password != nil else { return false }
      return user == nil || entry.login == nil || entry.login == user
    }
    return entry.map { ($0.login ?? user ?? "", $0.password ?? "") }
  }
}

/// The words of a `.netrc`.
private struct NetrcReader {
  private var rest: Substring.UnicodeScalarView
  private var line = 1
  private let file: String

  init(_ text: String, file: String) {
    rest = Substring(text).unicodeScalars
    self.file = file
  }

  /// Creates an error without the contents of the line, which may be a password.
  private func fault(_ reason: String) -> DeliveryError {
    var error = DeliveryError(.invalidLocation, "line \(line): \(reason)", at: file)
    error.specificRemedy = "correct the file, or name another one in NETRC"
    return error
  }

  /// Returns the next word; `nil` at the end.
  mutating func next() throws -> String? {
    skipBlanks()
    while rest.first == "#" {
      skipLine()
      skipBlanks()
    }
    guard let first = rest.first else { return nil }
    return first == "\"" ? try quoted() : plain()
  }

  /// Returns the word after another one; `nil` at the end.
  mutating func value() throws -> String? {
    skipBlanks()
    // A password may begin with '#'.
    guard let first = rest.first else { return nil }
    return first == "\"" ? try quoted() : plain()
  }

  /// Skips the name of a macro, and its lines up to an empty one.
  mutating func skipMacro() {
    skipLine()
    while let first = rest.first, first != "\n", first != "\r" { skipLine() }
  }

  private mutating func skipLine() {
    while let scalar = rest.popFirst() {
      guard scalar == "\n" else { continue }
      line += 1
      return
    }
  }

  private mutating func skipBlanks() {
    while let scalar = rest.first, Self.isBlank(scalar) {
      if scalar == "\n" { line += 1 }
      rest.removeFirst()
    }
  }

  private mutating func plain() -> String {
    let word = rest.prefix { !Self.isBlank($0) }
    rest = rest[word.endIndex...]
    return String(word)
  }

  private mutating func quoted() throws -> String {
    var word = String.UnicodeScalarView()
    rest.removeFirst()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"": return String(word)
      case "\n": throw fault("a quotation mark is missing at the end of a word")
      case "\\": word.append(Self.escape(rest.popFirst() ?? "\\"))
      default: word.append(scalar)
      }
    }
    throw fault("a quotation mark is missing at the end of a word")
  }

  private static func escape(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case "n": "\n"
    case "r": "\r"
    case "t": "\t"
    default: scalar
    }
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { " \t\r\n".unicodeScalars.contains(scalar) }
}
