/// The name of a file that clients fetch from a site: its path, relative to the site, with slashes.
package enum SitePath: Hashable, Sendable {
  /// Signed; the only one that changes.
  case root
  /// The manifest of a version, by its SHA-256.
  case version(Digest256)
  /// The frame table of a segment.
  case frames(SegmentID)
  case segment(SegmentID)
  /// A delta, by the SHA-256 of its header.
  case delta(Digest256)

  package var isSegment: Bool { if case .segment = self { true } else { false } }

  /// The folders that a site has beside those of a store.
  package static let folders = ["versions", "frames", "deltas"]
}

extension SitePath: LosslessStringConvertible {
  /// Reads a path exactly as ``description`` writes it. Nil for anything else, so that no name from outside leads
  /// anywhere else.
  package init?(_ description: String) {
    let parts = description.split(separator: "/", omittingEmptySubsequences: false)
    guard let path = parts.count == 2 ? Self(parts[0], parts[1]) : .root, path.description == description else {
      return nil
    }
    self = path
  }

  private init?(_ folder: Substring, _ name: Substring) {
    let digest = Digest256(hex: name)
    let segment = ID128(hex: name).map(SegmentID.init)
    let path: Self? =
      switch folder {
      case "versions": digest.map(Self.version)
      case "deltas": digest.map(Self.delta)
      case "frames": segment.map(Self.frames)
      case "segments": segment.map(Self.segment)
      default: nil
      }
    guard let path else { return nil }
    self = path
  }

  package var description: String {
    switch self {
    case .root: "root"
    case .version(let digest): "versions/\(digest.hex)"
    case .frames(let id): "frames/\(id)"
    case .segment(let id): "segments/\(id)"
    case .delta(let digest): "deltas/\(digest.hex)"
    }
  }
}
