import CXXHash
import Foundation

/// Decodes the frames of a store from its segment files, with each possible way to fetch them. The store uses one of
/// these; the others show the possible gain.
final class FrameFetch: Sendable {
  /// The way to fetch a frame's stored bytes for the decoder.
  enum Way: CaseIterable {
    case read, readUnchecked, mapped, mappedPopulated

    var title: String {
      switch self {
      case .read: "pread into a buffer, checksum, decode"
      case .readUnchecked: "pread into a buffer, decode"
      case .mapped: "map, checksum, decode"
      case .mappedPopulated: "map, populate, checksum, decode"
      }
    }

    var isMapped: Bool { self == .mapped || self == .mappedPopulated }
    var isChecked: Bool { self != .readUnchecked }
  }

  private let frames: StoreFrames
  private let folder: FileFolder
  private let paths: AssetPaths
  private let longestStored: Int

  init(ofStoreAt path: String) throws {
    let frames = try StoreFrames(ofStoreAt: path)
    self.frames = frames
    folder = try FileFolder(path)
    paths = AssetPaths(frames.files.map { String($0.dropFirst(path.count + 1)) })
    longestStored = frames.frames.map(\.storedLength).max() ?? 0
  }

  /// Decodes every frame to the beginning of `memory`, each thread in a part of its own, and returns the raw bytes.
  func decodeAll(_ way: Way, into memory: UnsafeMutableRawBufferPointer, threadCount: Int) throws -> Int {
    let failure = Failure()
    let target = SharedMemory(memory)
    let files = try paths.map { try folder.open($0) }
    defer { for file in files { close(file) } }
    let maps = way.isMapped ? try paths.map { try MappedFile($0, in: folder) } : []
    let share = memory.count / threadCount
    let perThread = (frames.frames.count + threadCount - 1) / threadCount
    let loans = maps.map { $0.withBytes { SharedBytes(bytes: $0) } }
    if way == .mappedPopulated {
      for loan in loans {
        madvise(UnsafeMutableRawPointer(mutating: loan.bytes.baseAddress), loan.bytes.count, populateRead)
      }
    }
    DispatchQueue.concurrentPerform(iterations: threadCount) { thread in
      failure.catching {
        let decoder = ZstdDecoder()
        let buffer = Buffer(byteCount: longestStored)
        var next = thread * share
        for index in (thread * perThread)..<min((thread + 1) * perThread, frames.frames.count) {
          let frame = frames.frames[index]
          if next + frame.rawLength > (thread + 1) * share { next = thread * share }
          var stored = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<frame.storedLength])
          if way.isMapped {
            stored = UnsafeRawBufferPointer(
              rebasing: loans[frame.file].bytes[frame.offset..<(frame.offset + frame.storedLength)])
          } else {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<frame.storedLength])
            try readFully(files[frame.file], at: frame.offset, into: room, paths[frame.file])
          }
          if way.isChecked { Sink.shared.take(Int(truncatingIfNeeded: XXH3_64bits(stored.baseAddress, stored.count))) }
          let out = UnsafeMutableRawBufferPointer(start: target.bytes.baseAddress! + next, count: frame.rawLength)
          try frame.decode(stored, into: out, with: decoder)
          next += frame.rawLength
        }
      }
    }
    try failure.throwIfAny()
    return withExtendedLifetime(maps) { frames.rawByteCount }
  }
}

/// `MADV_POPULATE_READ`, which not every libc names.
private let populateRead: CInt = 22

/// Mapped bytes that threads read.
private struct SharedBytes: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer
}
