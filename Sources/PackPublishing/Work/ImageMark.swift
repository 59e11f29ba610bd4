import PackFormats
import PackStore

/// The newest image of a site seen in a folder or on a machine.
///
/// Anyone with write access to the private prefix can restore an older ledger and an older image. Both have valid signatures; a
/// mark reveals that they are older.
struct ImageMark: Hashable {
  var site: SiteID
  var number: UInt64
  var image: Digest256

  init(of image: SignedSiteImage) {
    site = image.image.site
    number = image.image.number
    self.image = image.digest
  }

  var text: String { "packstore mirror\nsite \(site)\nnumber \(number)\nimage \(image.hex)\n" }

  /// Reads a mark; `nil` if the file does not exist or is not a mark.
  init?(_ name: String, in folder: FilePath) throws {
    do {
      let file = try InputFile(name, in: folder)
      var lines = TextLines(try file.contents(limit: 1024), file: file.place.text)
      guard lines.next(["packstore"]) == ["packstore", "mirror"], let site = ID128(hex: try lines.value("site")),
        let number = UInt64(try lines.value("number")),
        let image = Digest256(hex: try lines.value("image"))
      else { return nil }
      self.site = SiteID(site)
      self.number = number
      self.image = image
    } catch let error as PackStoreError where [.notFound, .corrupt].contains(error.code) { return nil }
  }

  /// Returns why an image cannot be the newest one of the site; `nil` if it can.
  ///
  /// Two images of one number exist if two publishers prepared them at the same time. Only one was committed.
  func fault(of other: SignedSiteImage) -> String? {
    let seen = "image \(number) was seen before"
    if other.image.site != site { return "the ledger names an image of another site" }
    if other.image.number < number { return "the ledger names image \(other.image.number), but \(seen)" }
    guard other.image.number == number, other.digest != image else { return nil }
    return "the ledger names another image \(number) than before"
  }
}

/// The marks of a machine: one file for each site in object storage and each key.
struct ImageMarks: Sendable {
  let folder: FilePath

  /// `$XDG_STATE_HOME/packstore/publishing`, or `~/.local/state/packstore/publishing`; `nil` if neither variable has a path.
  static func standard(_ environment: [String: String]) -> Self? {
    if let state = environment["XDG_STATE_HOME"].map({ FilePath($0) }), state.isAbsolute {
      return Self(folder: state.appending("packstore/publishing"))
    }
    guard let home = environment["HOME"].map({ FilePath($0) }), home.isAbsolute else { return nil }
    return Self(folder: home.appending(".local/state/packstore/publishing"))
  }

  private static let draftName = "mark.new"

  private func name(_ location: String, _ key: SitePublicKey) -> String {
    Digest256(hashing: Array("\(location)\n\(key)".utf8)).hex
  }

  func path(_ location: String, _ key: SitePublicKey) -> FilePath { folder.appending(name(location, key)) }

  func mark(_ location: String, _ key: SitePublicKey) throws -> ImageMark? {
    try ImageMark(name(location, key), in: folder)
  }

  /// Records an image, unless a newer one is recorded. A machine without space for the mark can still publish.
  func remember(_ image: SignedSiteImage, _ location: String) {
    let name = name(location, image.authority.firstKey), next = ImageMark(of: image)
    do {
      guard try ImageMark(name, in: folder) != next else { return }
      try makeFolder(folder)
      let lock = try FileLock(FilePlace("lock", in: folder), waits: true, reason: "another process is writing the mark")
      defer { withExtendedLifetime(lock) {} }
      if let mark = try ImageMark(name, in: folder), mark.site == next.site, mark.number >= next.number { return }
      try replaceFile(name, in: folder, by: Array(next.text.utf8), draft: Self.draftName)
    } catch {}
  }
}
