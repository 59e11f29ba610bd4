#if Serving || Hosting
  import PackStore

  /// A tag that identifies a representation (RFC 9110, section 8.8.3). All tags of this server are strong: equal tags mean equal
  /// bytes.
  package struct EntityTag: Hashable, Sendable {
    /// The tag without quotes.
    package let opaque: String
    package let isWeak: Bool

    package init(_ opaque: String) {
      self.opaque = opaque
      isWeak = false
    }

    /// Creates the tag of bytes.
    package init(of bytes: [UInt8]) { self.init(Digest256(hashing: bytes).hex) }

    private init(opaque: String, isWeak: Bool) { (self.opaque, self.isWeak) = (opaque, isWeak) }

    package var text: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

    /// Returns whether the tags guarantee equal bytes.
    package func isStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Returns whether the tags denote equivalent representations.
    package func isWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
  }

  /// The tags in `If-Match` and `If-None-Match`.
  package enum EntityTagList: Equatable {
    case any
    case tags([EntityTag])

    /// The largest number of tags that are read.
    package static let limit = 64

    /// Parses a list as defined in RFC 9110. An invalid tag ends it: the tags before it are used, and none after it.
    package init(_ text: String) {
      var rest = Substring(text)
      rest.trimSpaces()
      if rest == "*" {
        self = .any
        return
      }
      var tags: [EntityTag] = []
      while tags.count < Self.limit {
        while rest.first == "," || rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        guard let tag = EntityTag(reading: &rest) else { break }
        tags.append(tag)
        rest.trimSpaces()
        guard rest.isEmpty || rest.first == "," else {
          tags.removeLast()
          break
        }
      }
      self = .tags(tags)
    }
  }

  extension EntityTag {
    /// Returns `nil` unless the text is exactly one tag.
    package init?(_ text: String, alone: Void) {
      var rest = Substring(text)
      rest.trimSpaces()
      guard let tag = EntityTag(reading: &rest) else { return nil }
      rest.trimSpaces()
      guard rest.isEmpty else { return nil }
      self = tag
    }

    fileprivate init?(reading rest: inout Substring) {
      var text = rest
      let isWeak = text.hasPrefix("W/")
      if isWeak { text.removeFirst(2) }
      guard text.first == "\"" else { return nil }
      text.removeFirst()
      guard let end = text.firstIndex(of: "\"") else { return nil }
      let opaque = text[..<end]
      // etagc: no controls, no spaces, no quotes.
      guard opaque.utf8.allSatisfy({ $0 == 0x21 || (0x23...0x7e).contains($0) || $0 >= 0x80 }) else { return nil }
      self.init(opaque: String(opaque), isWeak: isWeak)
      rest = text[text.index(after: end)...]
    }
  }

  extension Substring {
    /// Removes spaces and tabs from both ends.
    package mutating func trimSpaces() {
      while first == " " || first == "\t" { removeFirst() }
      while last == " " || last == "\t" { removeLast() }
    }
  }
#endif
