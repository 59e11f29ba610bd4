public import PackStore

/// An archive made by another program: tar, zip, or Apple's `.aar`.
///
///     let archive = try ForeignArchive("Assets.zip")
///     try await store.install(archive, as: "Assets")
///
/// The contents are not trusted: damaged, hostile or unsupported content is an error that names it, and nothing is installed.
/// `Docs/ForeignArchives.md` describes the rules of each format.
public struct ForeignArchive: Sendable {
  public enum Format: String, Sendable, CaseIterable {
    /// Optionally compressed with gzip or zstd.
    case tar
    case zip
    /// Apple Archive, as made by `ba-package` for an asset pack.
    case appleArchive = "aar"
  }

  /// Limits that prevent a small file from filling the disk or the memory.
  public struct Limits: Sendable {
    /// The maximum number of unpacked bytes. By default 200 times the archive's size, at least 64 MiB and at most 200 GB.
    public var byteCount: UInt64?

    /// The maximum memory for decompression in bytes, from 8 to 128 MiB: files made by `zstd --ultra` and `zstd --long` need more
    /// than 8 MiB.
    public var windowByteCount = 8 << 20

    /// The maximum number of files, folders and links.
    public var entryCount = 1_000_000

    public init(byteCount: UInt64? = nil) { self.byteCount = byteCount }
  }

  /// The encoding of a zip file's names that are not UTF-8; `nil`: such names are refused.
  public var nameEncoding: NameEncoding?

  public let path: FilePath
  public let format: Format
  public let limits: Limits

  /// The archive's name in error messages.
  let name: String

  /// Detects the kind of an archive by its first bytes, regardless of its name.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - name: the archive's name in error messages, if not the path: such as `standard input` for a copy of it.
  ///   - limits: the maximum contents.
  /// - Throws: `notFound`, `ioError` for the file; `wrongKind` if it is not an archive; `refused` for an unsupported kind.
  public init(_ path: FilePath, name: String? = nil, limits: Limits = .init()) throws {
    self.path = path
    self.limits = limits
    self.name = name ?? path.string
    let faults = ArchiveFaults(file: self.name)
    let file = try InputFile(path)
    let start = try Self.start(of: file)
    if let format = try Self.format(start, faults) {
      self.format = format
    } else if let fault = try ZipBounds(of: file)?.fault(faults) {
      throw fault
    } else {
      throw faults.noArchive(start)
    }
  }

  /// The number of first bytes that determine the kind of an archive.
  package static let startByteCount = 512

  /// Checks the first bytes of an archive that is not fully received: ``startByteCount`` bytes, or the whole file.
  ///
  /// - Parameter name: the archive's name in error messages.
  /// - Throws: as ``init(_:name:limits:)``.
  package static func checkStart(_ start: [UInt8], name: String) throws {
    let faults = ArchiveFaults(file: name)
    guard try format(start, faults) == nil else { return }
    throw faults.noArchive(start)
  }

  /// Returns the first bytes of a file, after skippable frames of zstd or LZ4.
  private static func start(of file: InputFile) throws -> [UInt8] {
    let byteCount = try file.byteCount
    var offset: UInt64 = 0
    for _ in 0..<skippableFrameLimit {
      let header = try file.bytes(at: offset, upTo: 8)
      guard isSkippableFrame(header), header.count == 8 else { break }
      let next = offset + 8 + UInt64(UInt32(littleEndian: header[4...]))
      guard next < byteCount else { break }
      offset = next
    }
    return try file.bytes(at: offset, upTo: startByteCount)
  }

  /// More than programs write.
  private static let skippableFrameLimit = 1_000

  private static func isSkippableFrame(_ start: [UInt8]) -> Bool {
    start.dropFirst().starts(with: [0x2A, 0x4D, 0x18]) && start.first.map { 0x50...0x5F ~= $0 } == true
  }

  private static func format(_ start: [UInt8], _ faults: ArchiveFaults) throws -> Format? {
    for (magic, name) in unreadFormats where start.starts(with: magic) {
      throw faults.refused("is \(name), which is not supported", remedy: "create a tar or zip file of its content")
    }
    if start.starts(with: "AA01".utf8) || start.starts(with: "YAA1".utf8) { return .appleArchive }
    if start.starts(with: "pbz".utf8) { return .appleArchive }
    if start.starts(with: [0x50, 0x4B, 3, 4]) || start.starts(with: [0x50, 0x4B, 5, 6]) { return .zip }
    // A tar file with a damaged first header is still a tar file: reading it reports the damage.
    if Compression(start) != nil || ForeignTarHeader.hasMagic(start) || ForeignTarHeader(start) != nil { return .tar }
    return nil
  }

  private static let unreadFormats: [([UInt8], String)] = [
    (Array("AEA1".utf8), "an encrypted Apple Archive"), (Array("BZh".utf8), "compressed with bzip2"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "compressed with xz"), ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7z archive"),
    (Array("Rar!".utf8), "a RAR archive"), ([0x50, 0x4B, 7, 8], "one part of a zip file"),
    (Array("xar!".utf8), "a xar archive"), ([0x04, 0x22, 0x4D, 0x18], "compressed with LZ4"),
  ]

  /// The compression of a tar file.
  private enum Compression {
    case gzip, zstd

    init?(_ start: [UInt8]) {
      if start.starts(with: [0x1F, 0x8B]) {
        self = .gzip
      } else if start.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) || ForeignArchive.isSkippableFrame(start) {
        self = .zstd
      } else {
        return nil
      }
    }
  }

  /// Returns the default limit of unpacked bytes. Deflate expands one byte to at most 1,032, and games' files seldom compress by
  /// more than ten; Apple hosts at most 200 GB for an app.
  static func defaultLimit(archiveByteCount: UInt64) -> UInt64 {
    let (product, isTooLarge) = archiveByteCount.multipliedReportingOverflow(by: 200)
    return isTooLarge ? 200_000_000_000 : min(max(product, 64 << 20), 200_000_000_000)
  }

  /// Opens the archive for one walk.
  func open() throws -> (reader: any ContainerReader, budget: ByteBudget, faults: ArchiveFaults) {
    let file = try InputFile(path)
    let faults = ArchiveFaults(file: name)
    let byteCount = try file.byteCount
    let budget = ByteBudget(
      limit: limits.byteCount ?? Self.defaultLimit(archiveByteCount: byteCount), faults)
    let raw = StreamReader(FileStream(file, 0..<byteCount), faults)
    let start = try file.bytes(upTo: 4)
    let reader: any ContainerReader
    switch format {
    case .zip: reader = try ZipContainer(file, limit: budget.limit, names: nameEncoding, faults)
    case .tar:
      let coding: DecodedStream.Coding? =
        switch Compression(start) {
        case .gzip: .gzip
        case .zstd: .zstd
        case nil: nil
        }
      let content = try coding.map {
        StreamReader(try DecodedStream($0, of: raw, budget, window: limits.windowByteCount, faults), faults)
      }
      reader = TarContainer(content ?? raw, faults)
    case .appleArchive:
      let isCompressed = start.starts(with: "pbz".utf8)
      let content = isCompressed ? StreamReader(try BlockStream(raw, budget, faults), faults) : raw
      reader = AppleArchiveContainer(content, faults)
    }
    return (reader, budget, faults)
  }
}
