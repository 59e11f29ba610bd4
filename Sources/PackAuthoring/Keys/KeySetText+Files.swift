import PackFormats
public import PackStore

extension KeySetFile {
  /// Reads a file.
  ///
  /// - Throws: `notFound`; `corrupt`; `untrusted` if a signature in it is invalid; `ioError`.
  public init(contentsOf file: FilePath) throws {
    try self.init(text: KeySetText.read(file, limit: Self.byteCountLimit), file: file.string)
  }

  /// Writes a new file.
  ///
  /// - Throws: `exists`; `noSpace`, `ioError`.
  public func write(to file: FilePath) throws { try KeySetText.write(text, to: file, replaces: false) }

  /// Replaces a file.
  ///
  /// - Throws: `noSpace`, `ioError`; the file is then unchanged.
  public func replace(_ file: FilePath) throws { try KeySetText.write(text, to: file, replaces: true) }
}

extension KeySetRequest {
  /// Reads a file.
  ///
  /// - Throws: `notFound`; `corrupt`; `untrusted` if a signature in it is invalid; `ioError`.
  public init(contentsOf file: FilePath) throws {
    try self.init(text: KeySetText.read(file, limit: Self.byteCountLimit), file: file.string)
  }

  /// Writes the text to a file.
  ///
  /// - Throws: `exists` if the file exists and is not to be replaced; `noSpace`, `ioError`.
  public func write(to file: FilePath, replaces: Bool = false) throws {
    try KeySetText.write(text, to: file, replaces: replaces)
  }
}

extension KeySetAnswer {
  /// Reads a file.
  ///
  /// - Throws: `notFound`; `corrupt`; `ioError`.
  public init(contentsOf file: FilePath) throws {
    try self.init(text: KeySetText.read(file, limit: Self.byteCountLimit), file: file.string)
  }

  /// Writes the text to a file.
  ///
  /// - Throws: `exists` if the file exists and is not to be replaced; `noSpace`, `ioError`.
  public func write(to file: FilePath, replaces: Bool = false) throws {
    try KeySetText.write(text, to: file, replaces: replaces)
  }
}

extension KeySetText {
  static func read(_ file: FilePath, limit: Int) throws -> String {
    String(decoding: try InputFile(file).contents(limit: limit), as: UTF8.self)
  }

  /// Writes a text file atomically.
  ///
  /// - Throws: `exists` if the file exists and is not to be replaced; `noSpace`, `ioError`.
  static func write(_ text: String, to file: FilePath, replaces: Bool) throws {
    let draft = FilePlace(FilePath("\(file).\(UInt64.random(in: 0 ... .max))"))
    defer { try? removeFile(draft) }
    let opened = try NewFile(draft)
    try opened.write(Array(text.utf8))
    try opened.sync()
    do {
      try replaces ? renameFile(draft, to: FilePlace(file)) : linkFile(draft, to: FilePlace(file))
    } catch let error as PackStoreError where error.code == .exists { throw SiteKey.fileExists(file) }
    try syncFolder(file.removingLastComponent())
  }
}
