import PackFormats
import PackStore

/// The recorded length and content of a file of a site.
struct ContentRule: Sendable {
  enum Content: Sendable {
    /// The SHA-256 of the whole file.
    case digest(Digest256)

    /// The digests of the blocks are in its header.
    case delta(SiteRoot.Delta)

    /// The digests of the frames are in its frame table.
    case segment(VersionManifest.Segment)
  }

  let byteCount: UInt64
  let content: Content
}

extension VersionManifest {
  /// The files that it refers to.
  var contentRules: [SitePath: ContentRule] {
    var rules: [SitePath: ContentRule] = [:]
    for segment in segments {
      rules[.frames(segment.id)] = ContentRule(
        byteCount: UInt64(segment.tableByteCount), content: .digest(segment.table))
      rules[.segment(segment.id)] = ContentRule(byteCount: segment.byteCount, content: .segment(segment))
    }
    for list in changeLists {
      rules[.changes(list.digest)] = ContentRule(byteCount: UInt64(list.byteCount), content: .digest(list.digest))
    }
    return rules
  }
}
