import PackStore

/// The name of a file that clients fetch from a site: its path, relative to the site, with slashes.
package enum SitePath: Hashable, Sendable {
  /// The signed root of a channel. Only roots change; all other files are immutable.
  case root(SiteChannel)
  /// An attribute sheet, by its SHA-256.
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
  /// The record of a change of a root, by its SHA-256. Only publishers read it, and it is never deleted.
  case record(Digest256)

  package var isSegment: Bool { if case .segment = self { true } else { false } }

  /// Whether a publisher's copy of the site may lack the file, unless it is a metadata segment: publishing needs only the length
  /// and the hash that signed files contain.
  package var mayBeElsewhere: Bool {
    switch self {
    case .frames, .segment, .delta, .changes, .record: true
    case .root, .sheet, .version: false
    }
  }

  package var isRoot: Bool { if case .root = self { true } else { false } }

  package var isRecord: Bool { if case .record = self { true } else { false } }

  /// The folders of immutable files that a site has in addition to a store's folders.
  package static let folders = ["versions", "frames", "deltas", "changes", "attributes", "history"]

  /// The folder of the roots of all channels except `live`.
  package static let rootFolder = "roots"
}

extension SitePath: LosslessStringConvertible {
  /// Parses a path exactly as ``description`` writes it; `nil` for anything else, so that an untrusted name cannot refer to a file
  /// outside the site.
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
      case "history": digest.map(Self.record)
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
    case .record(let digest): "history/\(digest.hex)"
    }
  }
}
