import Foundation
import Synchronization

/// The speed of libzstd alone on a store's frames in memory. It does not read files or verify checksums.
///
/// A store that decodes these frames cannot be faster, except with dictionaries: a store may decode a frame directly after its
/// dictionary in memory, but here the dictionary is separate.
final class FrameLimit: Sendable {
  let frames: StoreFrames
  private let encoded: EncodedFrames

  init(ofStoreAt path: String) throws {
    frames = try StoreFrames(ofStoreAt: path)
    encoded = try EncodedFrames(frames)
  }

  /// Returns the offset in the target memory for each frame's raw bytes. Frames follow each other, and restart at 0 at the end of
  /// the memory.
  private func places(in room: Int) -> [Int] {
    var next = 0
    return frames.frames.map { frame in
      precondition(frame.rawLength <= room)
      if next + frame.rawLength > room { next = 0 }
      defer { next += frame.rawLength }
      return next
    }
  }

  /// Decodes every frame, with one context per thread, and returns the number of raw bytes.
  ///
  /// Memory with the longest asset's length is reused, as by reads of assets. Longer memory is filled from beginning to end.
  func decodeAll(into memory: UnsafeMutableRawBufferPointer, with decoders: FrameDecoders) throws -> Int {
    let places = places(in: memory.count)
    let next = Atomic(0)
    let failure = Failure()
    let target = SharedMemory(memory)
    DispatchQueue.concurrentPerform(iterations: decoders.all.count) { thread in
      failure.catching {
        while true {
          let index = next.add(1, ordering: .relaxed).oldValue
          guard index < frames.frames.count else { return }
          try decode(index, into: target.bytes.baseAddress! + places[index], with: decoders.all[thread])
        }
      }
    }
    try failure.throwIfAny()
    return frames.rawByteCount
  }

  /// Decodes one frame to the beginning of `memory`.
  func decode(_ index: Int, into memory: UnsafeMutableRawPointer, with decoder: ZstdDecoder) throws {
    let frame = frames.frames[index]
    let out = UnsafeMutableRawBufferPointer(start: memory, count: frame.rawLength)
    let stored = encoded.bytes(of: index)
    try frame.decode(stored, into: out, with: decoder)
  }
}

/// One decoding context per thread.
final class FrameDecoders: @unchecked Sendable {
  let all: [ZstdDecoder]

  init(threadCount: Int) { all = (0..<threadCount).map { _ in ZstdDecoder() } }
}

/// Stored frames in memory, in touched pages.
private final class EncodedFrames: @unchecked Sendable {
  private let memory: Buffer
  private let ranges: [Range<Int>]

  init(_ frames: StoreFrames) throws {
    memory = Buffer(byteCount: frames.frames.reduce(0) { $0 + $1.storedLength })
    var ranges: [Range<Int>] = []
    let files = try frames.files.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) }
    let paths = AssetPaths(frames.files)
    for frame in frames.frames {
      let begin = ranges.last?.upperBound ?? 0
      let range = begin..<(begin + frame.storedLength)
      try readFully(
        files[frame.file].fileDescriptor, at: frame.offset,
        into: UnsafeMutableRawBufferPointer(rebasing: memory.bytes[range]), paths[frame.file])
      ranges.append(range)
    }
    self.ranges = ranges
  }

  func bytes(of index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory.bytes[ranges[index]])
  }
}

/// Memory to which threads write at different places.
struct SharedMemory: @unchecked Sendable {
  let bytes: UnsafeMutableRawBufferPointer

  init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }
}
