import PackStore

/// The name of a file that clients fetch from a site: its path, relative to the site, with slashes.
package enum SitePath: Hashable, Sendable {
  /// What a channel offers, signed; the only one that changes.
  case root(SiteChannel)
  /// A sheet of attributes, by its SHA-256.
  case sheet(Digest256)
  /// The manifest of a version, by its SHA-256.
  case version(Digest256)
  /// The frame table of a segment.
  case frames(SegmentID)
  case segment(SegmentID)
  /// A delta, by the SHA-256 of its header.
  case delta(Digest256)
  /// A change list, by its SHA-256.
  case changes(Digest256)

  package var isSegment: Bool { if case .segment = self { true } else { false } }

  /// Whether a publisher's copy of the site can do without the file, if it is no segment with pages: what signed files say of it
  /// is all that publishing needs.
  package var mayBeElsewhere: Bool {
    switch self {
    case .frames, .segment, .delta, .changes: true
    case .root, .sheet, .version: false
    }
  }

  package var isRoot: Bool { if case .root = self { true } else { false } }

  /// The folders of the files that do not change, beside those of a store.
  package static let folders = ["versions", "frames", "deltas", "changes", "attributes"]

  /// That of the roots of all channels but `live`.
  package static let rootFolder = "roots"
}

extension SitePath: LosslessStringConvertible {
  /// Reads a path exactly as ``description`` writes it. Nil for anything else, so that no name from outside leads
  /// anywhere else.
  package init?(_ description: String) {
    let parts = description.split(separator: "/", omittingEmptySubsequences: false)
    guard let path = parts.count == 2 ? Self(parts[0], parts[1]) : .root(.live), path.description == description else {
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
      case "changes": digest.map(Self.changes)
      case "attributes": digest.map(Self.sheet)
      case Substring(Self.rootFolder): (try? SiteChannel(name)).map(Self.root)
      case "frames": segment.map(Self.frames)
      case "segments": segment.map(Self.segment)
      default: nil
      }
    guard let path else { return nil }
    self = path
  }

  package var description: String {
    switch self {
    case .root(.live): "root"
    case .root(let channel): "\(Self.rootFolder)/\(channel)"
    case .sheet(let digest): "attributes/\(digest.hex)"
    case .version(let digest): "versions/\(digest.hex)"
    case .frames(let id): "frames/\(id)"
    case .segment(let id): "segments/\(id)"
    case .delta(let digest): "deltas/\(digest.hex)"
    case .changes(let digest): "changes/\(digest.hex)"
    }
  }
}
