package import PackFormats
package import PackStore

/// The complete state of a site: the files of its folder with their digests, signed. `Docs/ObjectStorage.md` describes the format.
package struct SiteImage: Hashable, Sendable {
  /// A file of a site's folder.
  package enum Path: Hashable, Sendable, CustomStringConvertible {
    case site(SitePath)

    /// The control file of the site's store, for publishers only.
    case control
    case index(String)

    /// The list of numbers of versions that left the site.
    case numbers

    /// The list of versions that channels offered before.
    case offered

    /// The private part of a record of the history, by the SHA-256 of the record.
    case note(Digest256)

    /// The table of a data segment, without its frames: everything that publishing needs of it.
    case table(SegmentID)

    /// Whether a file with that name never changes.
    var isImmutable: Bool {
      switch self {
      case .site(let path): !path.isRoot
      case .table, .note: true
      case .control, .index, .numbers, .offered: false
      }
    }

    package var description: String {
      switch self {
      case .site(let path): path.description
      case .control: "CONTROL"
      case .numbers: "numbers"
      case .offered: "offered"
      case .note(let record): "notes/\(record.hex)"
      case .index(let name): "index/\(name)"
      case .table(let id): "tables/\(id)"
      }
    }

    /// The maximum size of a file that the image itself contains; 0: never. Private files that change with almost every image have
    /// no objects. Files for clients always have an object; a copy in the image saves new publishers a request.
    var contentByteLimit: Int {
      switch self {
      case .site(.root), .control, .index, .numbers, .offered: 16 << 10
      case .site(.sheet), .site(.version): 2 << 10
      // Still read, but no longer written: publishing does not need them.
      case .site(.frames), .site(.changes): 1 << 10
      case .site(.segment), .site(.delta), .site(.record), .table, .note: 0
      }
    }

    /// Whether a publisher includes the file in its image, if it is short enough.
    var isKeptWithin: Bool { if case .site(let path) = self { !path.mayBeElsewhere } else { true } }

    /// Whether the file has an object too: a file of the site that never changes.
    var isPublic: Bool { if case .site(let path) = self { !path.isRoot } else { false } }

    /// Parses a path in exactly the form of ``description``; `nil` for any other text, so that external names cannot refer to other
    /// files.
    package init?(_ text: String) {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      let path: Self? =
        switch (parts.count, parts[0]) {
        case (1, "CONTROL"): .control
        case (1, "numbers"): .numbers
        case (1, "offered"): .offered
        case (2, "index"): Self.isIndexName(parts[1]) ? .index(String(parts[1])) : nil
        case (2, "tables"): ID128(hex: parts[1]).map { .table(SegmentID($0)) }
        case (2, "notes"): Digest256(hex: parts[1]).map(Self.note)
        default: SitePath(text).map(Self.site)
        }
      guard let path, path.description == text else { return nil }
      self = path
    }

    /// Whether it is the name of a generation or a run: 16 lower-case hexadecimal digits, and a suffix.
    private static func isIndexName(_ name: Substring) -> Bool {
      let letters = Array(name.utf8), digits = letters.prefix(16), ending = letters.dropFirst(16)
      return digits.count == 16 && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        && (ending.elementsEqual(".generation".utf8) || ending.elementsEqual(".run".utf8))
    }
  }

  package struct File: Hashable, Sendable {
    package var byteCount: UInt64
    package var digest: Digest256

    /// `nil` if a root or a kept version refers to it.
    package var retired: Retired?

    /// Its bytes, if the image contains them.
    package fileprivate(set) var content: [UInt8]?

    package init(byteCount: UInt64, digest: Digest256, retired: Retired? = nil) {
      self.byteCount = byteCount
      self.digest = digest
      self.retired = retired
    }

    /// Creates a file contained in the image.
    package init(content: [UInt8]) {
      self.init(byteCount: UInt64(content.count), digest: Digest256(hashing: content))
      self.content = content
    }
  }

  /// The maximum size of copies of objects in an image, which is sent again with each change.
  package static let copyByteLimit = 32 << 10

  package enum Retired: Hashable, Sendable {
    /// Since this time, in nanoseconds since 1970.
    case since(Int64)

    /// The file left the roots with this image.
    case withThis
  }

  package var site: SiteID
  package var number: UInt64
  package var before: Digest256?
  package var files: [Path: File] = [:]

  package init(site: SiteID, number: UInt64, before: Digest256?) {
    self.site = site
    self.number = number
    self.before = before
  }

  /// Returns the object with a file of the folder; `nil` if only the image contains it.
  package static func key(_ path: Path, _ file: File) -> ObjectKey? {
    if case .site(let name) = path, path.isPublic { return .file(name) }
    return file.content == nil ? .blob(file.digest) : nil
  }

  /// Keeps the shortest copies of objects in the image, up to the limit.
  package mutating func limitCopies() {
    var room = UInt64(Self.copyByteLimit)
    let copies = files.filter { $0.key.isPublic && $0.value.content != nil }
    for (path, file) in copies.sorted(by: { ($0.value.byteCount, "\($0.key)") < ($1.value.byteCount, "\($1.key)") }) {
      if file.retired == nil, file.byteCount <= room {
        room -= file.byteCount
      } else {
        files[path]?.content = nil
      }
    }
  }

  /// The data segments whose tables it contains.
  package var tabledSegments: [SegmentID] {
    files.keys.compactMap { path in if case .table(let id) = path { id } else { nil } }
  }

  /// All objects that it needs, except itself.
  package var keys: Set<ObjectKey> { Set(files.compactMap { Self.key($0.key, $0.value) }) }

  /// The files of the site that never change.
  package var publicFiles: Set<SitePath> {
    files.keys.reduce(into: []) { paths, path in
      if case .site(let name) = path, path.isPublic { paths.insert(name) }
    }
  }

  package var roots: [SiteChannel: File] {
    files.reduce(into: [:]) { roots, entry in
      if case .site(.root(let channel)) = entry.key { roots[channel] = entry.value }
    }
  }

  /// Whether both have the same files, regardless of their numbers, including files that left the roots with the other one.
  package func hasSameFiles(as other: SiteImage) -> Bool {
    guard site == other.site, files.count == other.files.count else { return false }
    return files.allSatisfy { path, file in
      guard let before = other.files[path] else { return false }
      return before.digest == file.digest && (before.retired == nil) == (file.retired == nil)
    }
  }
}

/// The bytes of an image, and its signer.
package struct SignedSiteImage: Sendable {
  package let image: SiteImage
  package let authority: SigningAuthority
  package let bytes: [UInt8]
  package let digest: Digest256

  /// Whether a conversion decoded it from the previous draft.
  let isOfPreviousDraft: Bool

  package var key: ObjectKey { .blob(digest) }

  /// All objects that it needs, including itself.
  package var keys: Set<ObjectKey> { image.keys.union([key]) }

  package static let byteCountLimit = 64 << 20
  private static let title = "packstore image \(SiteFormat.current & 0xffff) \(SiteFormat.current >> 16)"

  /// - Throws: `untrusted` if the key may not sign for the product; `invalidArgument` for too many files.
  package init(_ image: SiteImage, of product: Store.Product, signedBy key: SiteKey) throws {
    authority = try key.authority(for: product)
    var lines = [
      Self.title, "site \(image.site)", "number \(image.number)", "before \(image.before?.hex ?? "-")",
    ]
    for (path, file) in image.files.map({ ("\($0.key)", $0.value) }).sorted(by: { $0.0 < $1.0 }) {
      if let content = file.content {
        lines.append("within \(Data(content).base64EncodedString()) \(path)")
        continue
      }
      let rest = "\(file.byteCount) \(file.digest.hex) \(path)"
      switch file.retired {
      case nil: lines.append("file \(rest)")
      case .since(let time): lines.append("retired \(time) \(rest)")
      case .withThis: lines.append("retired - \(rest)")
      }
    }
    lines.append("authority \(Data(authority.bytes).base64EncodedString())")
    let message = Array(lines.map { $0 + "\n" }.joined().utf8)
    let signature = try key.signature(of: message, as: .image)
    bytes = message + Array("signature \(Data(signature).base64EncodedString())\n".utf8)
    guard bytes.count <= Self.byteCountLimit else {
      throw PackStoreError(.invalidArgument, "the site has too many files for an image", detail: .limit)
    }
    self.image = image
    isOfPreviousDraft = false
    digest = Digest256(hashing: bytes)
  }

  /// Decodes external bytes, and verifies the signature.
  ///
  /// - Parameter readsPreviousDraft: whether an image of the previous draft is decoded, for a conversion. Its lines are the same.
  /// - Throws: `untrusted` for a wrong signature; `corrupt`, `otherDraft`, `newerFormat`.
  package init(decoding bytes: [UInt8], file: String, readsPreviousDraft: Bool = false) throws {
    guard bytes.count <= Self.byteCountLimit else {
      throw PackStoreError(.corrupt, "is too long", file: file)
    }
    var lines = TextLines(bytes, file: file)
    let isOfPreviousDraft = try lines.title("packstore image", readsPreviousDraft: readsPreviousDraft)
    guard let site = ID128(hex: try lines.value("site")).map(SiteID.init),
      let number = TextLines.number(try lines.value("number")),
      number <= 1 << 62
    else { throw lines.damage() }
    let before = try lines.value("before")
    guard before == "-" || Digest256(hex: before) != nil else { throw lines.damage() }
    image = try SiteImage(site: site, number: number, before: Digest256(hex: before), lines: &lines)
    authority = try lines.base64("authority") { data in
      var reader = ByteReader(data[...], file: file)
      let authority = try SigningAuthority(from: &reader, isOfPreviousDraft: isOfPreviousDraft)
      try reader.end()
      return authority
    }
    let message = bytes[..<lines.offset]
    let signature = try lines.base64("signature") { $0 }
    try lines.end()
    guard
      authority.releaseKey.verifies(signature, of: message, as: .image, isOfPreviousDraft: isOfPreviousDraft)
    else {
      throw PackStoreError(.untrusted, "the image of the site has an invalid signature", file: file)
    }
    self.bytes = bytes
    self.isOfPreviousDraft = isOfPreviousDraft
    digest = Digest256(hashing: bytes)
  }

  /// Checks that a publisher with this key may continue from the image, like from a root.
  ///
  /// - Throws: `untrusted`.
  package func requireFollowed(by key: SiteKey, at location: String) throws {
    let next = try key.authority(for: authority.delegation.product)
    try requireFollowed(by: next, "the key", at: location)
  }

  /// - Throws: `untrusted`.
  package func requireFollowed(by next: SigningAuthority, _ subject: String, at location: String) throws {
    func refusal(_ reason: String) -> PackStoreError {
      var error = PackStoreError(.untrusted, reason, about: .site(location))
      error.specificRemedy = "use the key that signed the site, because clients refuse any other"
      return error
    }
    guard next.firstKey == authority.firstKey, next.rootKeys.contains(authority.rootKey) else {
      throw refusal("signed by another key than \(subject), \(authority.rootKey)")
    }
    guard next.delegation.serial >= authority.delegation.serial else {
      throw refusal("signed by a later key than \(subject)")
    }
  }
}

extension SiteImage {
  fileprivate init(site: SiteID, number: UInt64, before: Digest256?, lines: inout TextLines) throws {
    self.init(site: site, number: number, before: before)
    var last = ""
    while let words = lines.next(["file", "retired", "within"]) {
      guard let text = words.last, last < text, let path = Path(text), let file = Self.file(words.dropLast(), path)
      else { throw lines.damage() }
      last = text
      files[path] = file
    }
  }

  /// Parses the words before the path in a line; `nil` if they are not in canonical form.
  private static func file(_ words: ArraySlice<String>, _ path: Path) -> File? {
    let values = Array(words.dropFirst())
    switch (words.first, values.count) {
    case ("file", 2): return file(byteCount: values[0], digest: values[1], retired: nil)
    case ("retired", 3):
      guard let retired = Retired(values[0]) else { return nil }
      return file(byteCount: values[1], digest: values[2], retired: retired)
    case ("within", 1):
      guard path.contentByteLimit > 0, let data = Data(base64Encoded: values[0]), data.count <= path.contentByteLimit,
        data.base64EncodedString() == values[0]
      else { return nil }
      return File(content: Array(data))
    default: return nil
    }
  }

  private static func file(byteCount: String, digest: String, retired: Retired?) -> File? {
    guard let byteCount = TextLines.number(byteCount), byteCount < 1 << 56, let digest = Digest256(hex: digest) else {
      return nil
    }
    return File(byteCount: byteCount, digest: digest, retired: retired)
  }
}

extension SiteImage.Retired {
  /// Parses the form in a line.
  fileprivate init?(_ text: String) {
    if text == "-" {
      self = .withThis
    } else {
      guard let time = Int64(text), time >= 0, "\(time)" == text else { return nil }
      self = .since(time)
    }
  }
}
