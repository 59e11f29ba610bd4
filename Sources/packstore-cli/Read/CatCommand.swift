import ArgumentParser
import PackStore

struct Cat: ParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "cat",
    abstract: "Write an asset to standard output.",
    discussion: """
        packstore cat Packs Videos/Introduction.m4v --range 0-1023 | file -
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The asset's path.")
  var path: String

  @OptionGroup var pack: PackOption

  @Option(
    help: .init(
      "First and last byte, counted from 0, such as '0-1023'; '1024-' reads to the end (default: all bytes).",
      valueName: "a-b"))
  var range: ByteRange?

  @Flag(help: "Print errors as JSON; the asset's bytes are not changed.")
  var json = false

  @OptionGroup var quiet: QuietOption

  var subject: Failure.Facts { .init(store: store.store, pack: pack.pack) }

  func run() throws {
    let content = AssetContent(store: store.store, path: path, pack: pack.pack, range: range)
    try content.write(from: store.openForReading().makeSnapshot())
  }
}

/// The bytes of an asset.
struct AssetContent {
  /// The store's folder, for errors.
  let store: String
  let path: String
  var pack: PackID?
  /// `nil` for all bytes.
  var range: ByteRange?

  /// Large enough to decode several frames at a time.
  private static let bufferSize = 8 << 20

  /// Writes the bytes to standard output.
  func write(from snapshot: Snapshot) throws {
    let asset = try snapshot.find(normalizedPath(path), in: pack)
    try requireFile(asset)
    var rest = try range?.clamped(to: asset) ?? 0..<asset.byteCount

    let output = Output()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(rest.count, Self.bufferSize), alignment: 64)
    defer { buffer.deallocate() }
    while !rest.isEmpty {
      try Task.checkCancellation()
      let next = rest.prefix(buffer.count)
      let count = try asset.read(into: buffer, range: next)
      try output.write(buffer[..<count])
      rest = next.upperBound..<rest.upperBound
    }
    try output.flush()
  }

  private func requireFile(_ asset: borrowing Snapshot.Asset) throws {
    let name = escaped(asset.path)
    switch asset.kind {
    case .folder:
      throw Failure(
        .wrongKind, "'\(name)': a folder, not a file",
        remedy: "list it with 'packstore ls \(escaped(store)) \(name)'",
        path: asset.path)
    case .link:
      throw Failure(
        .wrongKind, "'\(name)': a link to '\(escaped(try asset.linkTarget()))'", remedy: "name the file itself",
        path: asset.path)
    case .file:
      guard path.hasSuffix("/") else { return }
      throw Failure(.wrongKind, "'\(name)': a file, not a folder", remedy: "leave out the '/'", path: asset.path)
    }
  }
}

/// A range of bytes, `A-B` with both ends included, or `A-`, as in HTTP.
struct ByteRange: ExpressibleByArgument {
  let first: Int
  let last: Int?

  init?(argument: String) {
    let ends = argument.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]) else { return nil }
    self.first = first
    last = Self.number(ends[1])
    guard ends[1].isEmpty || last != nil, last ?? first >= first else { return nil }
  }

  /// Parses a number: digits only, without a sign.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }

  /// Returns the range within the asset. It may end after the asset's end, but must begin before it.
  func clamped(to asset: borrowing Snapshot.Asset) throws -> Range<Int> {
    guard first < asset.byteCount else {
      throw Failure(
        .invalidArgument,
        "'\(escaped(asset.path))': the range begins at byte \(first), but the file has \(formatCount(asset.byteCount, "byte"))",
        path: asset.path)
    }
    return first..<min(last ?? .max - 1, asset.byteCount - 1) + 1
  }
}
