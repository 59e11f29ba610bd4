import PackStore

/// What a file is that was named for something that reads another kind of file.
package enum PackFileKind: Sendable {
  case archive, delta, other

  /// Looks at the first bytes; what follows may be damaged.
  ///
  /// - Returns: nil for what cannot be read as a file.
  package init?(_ path: FilePath) {
    guard let file = try? InputFile(path), let bytes = try? file.bytes(at: 0, upTo: TarHeader.byteCount) else {
      return nil
    }
    if bytes.starts(with: Self.deltaMagic) {
      self = .delta
    } else if bytes.dropFirst(TarHeader.magicOffset).starts(with: "ustar".utf8) {
      self = .archive
    } else {
      self = .other
    }
  }

  private static let deltaMagic = Array("PKSDELT0".utf8)
}
