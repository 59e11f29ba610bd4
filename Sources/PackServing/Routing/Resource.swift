import PackFormats

#if Serving
  import PackStore

  /// The resource of a request. Targets become paths only through this type, so no name from a client becomes a path unchecked.
  enum Resource: Equatable, Sendable {
    case page, style, script, events, status
    /// The manifest for a platform, or for all platforms.
    case manifest(Platform?)
    /// The archive of a pack's newest version.
    case archive(PackID)
    /// A file of a site; `nil` for the site at `/site`.
    case siteFile(site: String?, SitePath)

    /// The reason why a target does not identify a resource.
    enum Fault: Error, Equatable {
      /// The target is not a path, or its encoding is invalid.
      case malformed(String)
      case tooLong
      case unknown
    }

    /// The size limit of a target in bytes.
    static let targetLimit = 2048

    /// Parses the target of a request: a path, and optionally a query.
    init(target: String) throws(Fault) {
      guard target.utf8.count <= Self.targetLimit else { throw .tooLong }
      guard target.hasPrefix("/") else { throw .malformed("the target is not a path") }
      let cut = target.firstIndex(of: "?")
      let path = cut.map { target[..<$0] } ?? target[...]
      let query = cut.map { target[target.index(after: $0)...] } ?? ""
      var parts: [String] = []
      for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
        parts.append(try Self.name(part))
      }
      self = try Self.find(parts, query)
    }

    private static func find(_ parts: [String], _ query: Substring) throws(Fault) -> Resource {
      guard !parts.dropLast().contains("") else { throw .malformed("a part of the path is empty") }
      switch (parts.count, parts[0]) {
      case (1, ""): return .page
      case (1, "style.css"): return .style
      case (1, "status.js"): return .script
      case (1, "events"): return .events
      case (1, "status"): return .status
      case (1, "manifest"): return .manifest(try platform(query))
      case (2, "packs"):
        guard let pack = try? PackID(validating: parts[1]) else { throw .unknown }
        return .archive(pack)
      case (2..., "site"): return .siteFile(site: nil, try sitePath(parts[1...]))
      case (3..., "sites"): return .siteFile(site: parts[1], try sitePath(parts[2...]))
      // The name of a folder, or an unknown name.
      default: throw .unknown
      }
    }

    private static func sitePath(_ parts: ArraySlice<String>) throws(Fault) -> SitePath {
      guard let path = SitePath(parts.joined(separator: "/")) else { throw .unknown }
      return path
    }

    private static func platform(_ query: Substring) throws(Fault) -> Platform? {
      for field in query.split(separator: "&") where field.hasPrefix("platform=") {
        let text = try Self.name(field.dropFirst("platform=".count))
        guard !text.isEmpty else { return nil }
        if let known = Platform.all.first(where: { $0.rawValue.lowercased() == text.lowercased() }) { return known }
        guard let other = Platform(rawValue: text) else { throw .malformed("unknown platform") }
        return other
      }
      return nil
    }

    /// Decodes a part of a path.
    private static func name(_ part: Substring) throws(Fault) -> String {
      var bytes: [UInt8] = []
      var rest = part.utf8[...]
      while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
          bytes.append(byte)
          continue
        }
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
          throw .malformed("the path contains an invalid escape")
        }
        bytes.append(high << 4 | low)
      }
      guard let name = String(validating: bytes, as: UTF8.self) else { throw .malformed("the path is not UTF-8") }
      guard name != ".", name != ".." else { throw .malformed("the path contains '.' or '..'") }
      guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7f || $0 == 0x2f || $0 == 0x5c }) else {
        throw .malformed("a part of the path contains a control character, '/' or '\\'")
      }
      return name
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
      default: nil
      }
    }
  }
#endif
