public import PackFormats
import PackStore

extension SiteKey {
  /// The maximum size of a key file in bytes.
  private static let fileByteCountLimit = 512 << 10

  /// Reads a key file.
  ///
  /// - Throws: `notFound`; `untrusted` if users other than its owner may read it; `corrupt` if it is not a key file; `ioError`.
  public init(contentsOf file: FilePath) throws {
    let opened = try InputFile(file)
    let bytes = try opened.bytes(upTo: Self.fileByteCountLimit)
    let isPublic = bytes.starts(with: Self.publicFirstLine.utf8)
    guard try isPublic || !opened.isOpenToOthers else {
      var error = PackStoreError(.untrusted, "other users can read the file with the secret key", file: file.string)
      error.specificRemedy = "run 'chmod 600 \(file)'; if they may have read it, create a new key"
      throw error
    }
    do {
      try self.init(text: String(decoding: bytes, as: UTF8.self), in: file.string)
    } catch var error as PackStoreError where error.code == .corrupt {
      error.specificRemedy = "name a file created by 'packstore keygen' or 'packstore delegate'"
      throw error
    }
  }

  /// Reads a release key's file of the previous draft. Returns `nil` for any other file.
  static func previousRelease(contentsOf file: FilePath) throws -> PreviousRelease? {
    try previousText(contentsOf: file).flatMap { previousRelease(fileText: $0) }
  }

  /// Reads a rotated root key's file of the previous draft. Returns `nil` for any other file.
  static func previousRoot(contentsOf file: FilePath) throws -> PreviousRoot? {
    try previousText(contentsOf: file).flatMap { previousRoot(fileText: $0) }
  }

  /// Returns the normalized text of a file; `nil` for a key file of this draft.
  private static func previousText(contentsOf file: FilePath) throws -> String? {
    do { _ = try SiteKey(contentsOf: file) } catch let error as PackStoreError where error.code == .corrupt {
      let bytes = try InputFile(file).bytes(upTo: fileByteCountLimit)
      return normalizedFileText(String(decoding: bytes, as: UTF8.self))
    }
    return nil
  }

  /// Reads a key from an open file, such as a pipe, up to its end.
  ///
  /// - Throws: `corrupt` if it does not contain a key; `ioError`.
  public init(contentsOf descriptor: FileDescriptor) throws {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    let name = "file descriptor \(descriptor.rawValue)"
    while bytes.count <= Self.fileByteCountLimit {
      let count: Int
      do {
        count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
      } catch let error as Errno {
        throw PackStoreError(.ioError, "cannot read the secret key (\(error))", file: name)
      }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    try self.init(text: String(decoding: bytes.prefix(Self.fileByteCountLimit), as: UTF8.self), source: name)
  }

  /// Parses the text of a key file.
  ///
  /// - Parameter source: the name of the text's source in errors.
  /// - Throws: `corrupt` if it is not a key.
  public init(text: String, source: String) throws {
    do {
      try self.init(text: text, in: source)
    } catch var error as PackStoreError where error.code == .corrupt {
      error.specificRemedy = "set it to the content of a key file, which begins with the line '\(Self.firstLine)'"
      throw error
    }
  }

  /// Parses the text of a key file. Editors, shells and secret stores may have changed its line ends.
  ///
  /// - Parameter source: the file, or another object that contains the text, for errors.
  private init(text: String, in source: String) throws {
    let text = Self.normalizedFileText(text)
    guard let key = Self(fileText: text) else {
      throw PackStoreError(.corrupt, "not a secret key: \(Self.fault(inFileText: text))", file: source)
    }
    self = key
  }

  /// Writes the key to a new file that only its owner may read, and creates its parent folders if necessary.
  ///
  /// - Throws: `exists` if the file exists, and then does not change it; `ioError`, `noSpace`.
  public func write(to file: FilePath) throws {
    let folder = file.removingLastComponent()
    if !folder.isEmpty { try makeFolder(folder, isSecret: true) }
    try writeDraft(of: file) { draft in
      do {
        try PackAuthoring.place(draft, at: FilePlace(file), replacing: false)
      } catch let error as PackStoreError where error.code == .exists {
        throw Self.fileExists(file)
      }
    }
  }

  static func fileExists(_ file: FilePath) -> PackStoreError {
    PackStoreError(.exists, "exists already", about: .file(file.string), detail: .fileExists)
  }

  /// Replaces an existing key file. If `file` is a symbolic link, its target is replaced, so that no copy of the secret is created in
  /// place of the link.
  ///
  /// - Throws: `ioError`, `noSpace`; the file is then unchanged.
  package func replace(_ file: FilePath) throws {
    let file = resolvingLinks(file)
    try writeDraft(of: file) { try renameFile($0, to: FilePlace(file)) }
  }

  /// Writes a draft next to the target file, and calls `place` to rename it.
  private func writeDraft(of file: FilePath, _ place: (FilePlace) throws -> Void) throws {
    let draft = FilePlace(draftPath(nextTo: file))
    defer { try? removeFile(draft) }
    let opened = try NewFile(draft, isSecret: true)
    try opened.write(Array(fileText.utf8))
    try opened.sync()
    try place(draft)
    try syncFolder(file.removingLastComponent())
  }

  /// Reads a key file. If it is missing, creates a key and its file.
  ///
  /// - Returns: the key, and whether it is new.
  /// - Throws: the errors of reading and writing.
  public static func readOrMake(_ file: FilePath) throws -> (key: SiteKey, isNew: Bool) {
    do { return (try SiteKey(contentsOf: file), false) } catch let error as PackStoreError where error.code == .notFound
    {}
    let key = SiteKey()
    do {
      try key.write(to: file)
      return (key, true)
    } catch let error as PackStoreError where error.code == .exists {
      return (try SiteKey(contentsOf: file), false)  // another process was first
    }
  }

  /// Returns the default path of the key: `$XDG_CONFIG_HOME/packstore/site.key`, or `~/.config/packstore/site.key`.
  ///
  /// - Returns: `nil` if the environment contains neither variable.
  public static func defaultFile(environment: [String: String]) -> FilePath? {
    if let folder = environment["XDG_CONFIG_HOME"], FilePath(folder).isAbsolute {
      return FilePath(folder).appending("packstore").appending("site.key")
    }
    guard let home = environment["HOME"], !home.isEmpty else { return nil }
    return FilePath(home).appending(".config").appending("packstore").appending("site.key")
  }
}
