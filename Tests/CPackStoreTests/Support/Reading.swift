import CPackStore
import CPackStoreTesting
import Foundation

extension Snapshot {
  /// Lends the asset at a path; its path is on loan as long.
  func withAsset<Result>(_ path: String, _ body: (UnsafePointer<pks_asset>) throws -> Result) throws -> Result {
    var path = path
    return try path.withUTF8 { text in
      try text.withMemoryRebound(to: CChar.self) { text in
        var asset = pks_asset()
        try attempt { pks_snapshot_find(&asset, raw, text.baseAddress, text.count, UInt32.max, $0) }
        return try body(&asset)
      }
    }
  }

  func size(of path: String) throws -> Int { try withAsset(path) { Int($0.pointee.size) } }

  /// A range of an asset, into memory of which every other byte is known.
  func read(_ path: String, _ range: Range<Int>) throws -> [UInt8] {
    try withAsset(path) { asset in
      try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
        try attempt { pks_asset_read(asset, UInt64(range.lowerBound), buffer.baseAddress, range.count, $0) }
        count = range.count
      }
    }
  }

  func read(_ path: String) throws -> [UInt8] { try read(path, 0..<size(of: path)) }

  /// The bytes of a raw asset where they lie.
  func borrow(_ path: String) throws -> UnsafeRawBufferPointer {
    try withAsset(path) { asset in
      var loan = pks_bytes()
      try attempt { pks_asset_borrow(&loan, asset, $0) }
      return UnsafeRawBufferPointer(start: loan.bytes, count: loan.count)
    }
  }

  func contents(_ path: String) throws -> Contents {
    try withAsset(path) { asset in
      var contents = pks_contents()
      try attempt { pks_asset_contents(&contents, asset, $0) }
      return Contents(contents)
    }
  }

  /// A descriptor, for the caller to close.
  func openFile(_ path: String) throws -> Int32 {
    try withAsset(path) { asset in
      var descriptor: Int32 = -1
      try attempt { pks_asset_open_file(&descriptor, asset, $0) }
      return descriptor
    }
  }
}

/// A file's bytes as memory of the caller's own, released with the last reference.
final class Contents {
  private var raw: pks_contents

  fileprivate init(_ raw: pks_contents) { self.raw = raw }
  deinit { pks_contents_release(&raw) }

  var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: raw.bytes, count: raw.count) }
  /// Mapped from a file, not decoded into memory.
  var isMapped: Bool { raw.vfs != nil }

  func equals(_ expected: [UInt8]) -> Bool { UnsafeRawBufferPointer(bytes).equals(expected[...]) }
}

extension UnsafeRawBufferPointer {
  /// Compares many bytes fast.
  func equals(_ expected: ArraySlice<UInt8>) -> Bool {
    expected.withUnsafeBytes { $0.count == count && (count == 0 || memcmp($0.baseAddress!, baseAddress!, count) == 0) }
  }
}

extension [UInt8] {
  func equals(_ expected: ArraySlice<UInt8>) -> Bool { withUnsafeBytes { $0.equals(expected) } }
}

/// An open run of a store's index, for looking at frames and pieces.
final class IndexRun {
  struct Frame: Equatable {
    var segment: String
    var offset: UInt64
    var storedLength: UInt32
    var rawLength: UInt32
    var isRaw: Bool
  }

  /// A part of a file, in one frame.
  struct Piece: Equatable {
    var start: UInt64  // in the file
    var frame: UInt32
    var begin: UInt32
    var end: UInt32

    var length: Int { Int(end - begin) }
    var range: Range<Int> { Int(start)..<Int(start) + length }
  }

  let raw: UnsafeMutablePointer<pks__run>

  private let home: AnyObject?  // outlives the run

  init(_ vfs: UnsafePointer<pks_vfs>, folder: pks_vfs_file, path: String, home: AnyObject? = nil) throws {
    self.home = home
    raw = .allocate(capacity: 1)
    raw.initialize(to: pks__run())
    try attempt { pks__run_open(raw, vfs, folder, path, $0) }
  }

  deinit {
    pks__run_close(raw)
    raw.deallocate()
  }

  /// All runs of the store in a folder.
  static func all(in store: String) throws -> [IndexRun] {
    let vfs = pks_vfs_posix()
    var root: pks_vfs_file = -1
    precondition(vfs.pointee.open_root(vfs.pointee.context, store, false, &root) == 0)
    defer { vfs.pointee.close(vfs.pointee.context, root) }
    return try FileManager.default.contentsOfDirectory(atPath: store + "/index").sorted().filter {
      $0.hasSuffix(".run")
    }.map { try IndexRun(vfs, folder: root, path: "index/\($0)") }
  }

  var frames: [Frame] {
    get throws { try (0..<raw.pointee.frame_count).map(frame) }
  }

  func frame(_ index: UInt32) throws -> Frame {
    var info = pks__run_frame_info(), segment = pks__run_segment_info()
    try attempt { pks__run_frame_at(raw, index, &info, $0) }
    try attempt { pks__run_segment_at(raw, info.segment, &segment, $0) }
    return Frame(
      segment: withUnsafeBytes(of: segment.id) { hex($0) }, offset: info.ref.offset,
      storedLength: info.ref.stored_length,
      rawLength: info.ref.raw_length, isRaw: info.ref.codec == PKS__CODEC_RAW.rawValue)
  }

  /// The records of files that are not empty, by path.
  func files() throws -> [String: pks__run_entry] {
    var files: [String: pks__run_entry] = [:], offset: UInt64 = 0
    while offset < raw.pointee.records.length {
      var entry = pks__run_entry()
      try attempt { pks__run_entry_at(raw, offset, &entry, $0) }
      offset = entry.next
      guard entry.kind == PKS__RECORD_FILE, entry.size > 0 else { continue }
      let folder = UnsafeRawBufferPointer(start: entry.folder, count: Int(entry.folder_length))
      let name = String(
        decoding: UnsafeRawBufferPointer(start: entry.name, count: Int(entry.name_length)), as: UTF8.self)
      files[folder.isEmpty ? name : String(decoding: folder, as: UTF8.self) + "/" + name] = entry
    }
    return files
  }

  /// The pieces of a file from an offset on, at most `limit`.
  func pieces(of entry: pks__run_entry, from offset: UInt64 = 0, seeks: Bool = false, limit: Int = .max) throws
    -> [Piece]
  {
    try withUnsafePointer(to: entry) { entry in
      var walk = pks__extent_walk_make(raw, entry), pieces: [Piece] = [], start = offset
      if seeks { try attempt { pks__extent_walk_seek(&walk, offset, $0) } }
      while pieces.count < limit {
        var piece = pks__extent_part(), more = false
        try attempt { pks__extent_walk_next(&walk, &piece, &more, $0) }
        guard more else { break }
        pieces.append(Piece(start: start, frame: piece.index, begin: piece.begin, end: piece.end))
        start += UInt64(piece.end - piece.begin)
      }
      return pieces
    }
  }
}

/// What threads found, behind a lock.
final class Findings: @unchecked Sendable {
  private let lock = NSLock()
  private var problems: [String] = []

  func note(_ problem: String) { lock.withLock { problems.append(problem) } }
  var all: [String] { lock.withLock { problems } }

  func run(_ body: () throws -> Void) {
    do { try body() } catch { note("\(error)") }
  }
}

/// A count that any thread may raise.
final class Tally: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0

  /// The number after it.
  @discardableResult
  func add(_ more: Int = 1) -> Int {
    lock.withLock {
      number += more
      return number
    }
  }
  var value: Int { lock.withLock { number } }
}

/// Says at which of many calls, by whichever thread, something is to happen once.
final class Fuse: @unchecked Sendable {
  private let lock = NSLock()
  private var left: Int?

  /// `count` calls pass before the one that burns.
  func light(after count: Int) { lock.withLock { left = count } }
  var hasBurnt: Bool { lock.withLock { left == nil } }

  func burns() -> Bool {
    lock.withLock {
      guard let now = left else { return false }
      left = now == 0 ? nil : now - 1
      return now == 0
    }
  }
}
