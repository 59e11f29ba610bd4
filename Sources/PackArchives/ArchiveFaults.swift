import PackStore

/// The errors about one archive.
package struct ArchiveFaults: Sendable {
  /// The archive's path, as the user gave it.
  let file: String

  package init(file: String) { self.file = file }

  /// Returns the error for bytes that no program writes: the archive was truncated or changed.
  func damaged(_ reason: String) -> PackStoreError {
    var error = PackStoreError(.corrupt, reason, file: file)
    error.specificRemedy = "fetch or create the archive again"
    return error
  }

  /// Returns the error for a file that does not begin like an archive.
  ///
  /// - Parameter start: the first bytes of the file, at most 512.
  func noArchive(_ start: [UInt8]) -> PackStoreError {
    var error = PackStoreError(.wrongKind, "not an archive of a known kind", file: file)
    error.specificRemedy = "name an archive of a pack, a tar or zip file, or an Apple Archive"
    if start.isEmpty {
      error.reason = "empty"
      error.specificRemedy = "fetch or create the archive again"
    } else if start.allSatisfy({ $0 == 0 }) {
      error.reason = "an archive without entries"
      error.specificRemedy = "add files to it"
    } else if Self.isWebPage(start) {
      error.reason = "a web page, not an archive"
      error.specificRemedy = "check the URL of the download, which may show a login page"
    }
    return error
  }

  /// Whether bytes begin like HTML, after a byte order mark and white space.
  private static func isWebPage(_ start: [UInt8]) -> Bool {
    let bytes = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start[...]
    let text = bytes.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }.prefix(16)
    let lower = String(decoding: text, as: UTF8.self).lowercased()
    return lower.hasPrefix("<!doctype html") || lower.hasPrefix("<html")
  }

  /// Unsupported or unstorable content. `finding` follows "'Assets.zip': ".
  func refused(_ finding: String, detail: PackStoreError.Detail? = nil, remedy: String? = nil) -> PackStoreError {
    PackStoreError(.refused, finding, file: file, detail: detail, remedy: remedy)
  }

  /// An entry that cannot be stored.
  func refused(_ path: [UInt8], _ finding: String, remedy: String? = nil) -> PackStoreError {
    refused("contains '\(shown(path))', \(finding)", remedy: remedy)
  }
}

/// A name for people: bytes that are not UTF-8 appear as `\xe9`, characters that would move a terminal's cursor are replaced, and long
/// names are cut.
func shown(_ name: some Sequence<UInt8>) -> String {
  let scalars = String(showing: Array(name)).unicodeScalars
  let limit = 100
  var text = String.UnicodeScalarView(
    scalars.prefix(limit).map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 })
  if scalars.dropFirst(limit).first != nil { text.append("\u{2026}") }
  return String(text)
}
