import Foundation
import Synchronization

/// The machine's speed with the source as open plain files: copying, reading and mapping.
final class FileLimit: @unchecked Sendable {  // immutable
  private let dataSet: DataSet
  private let folder: FileFolder
  private let files: [CInt]

  /// Opens all files, so the data set should have few.
  init(_ dataSet: DataSet) throws {
    self.dataSet = dataSet
    let folder = try FileFolder(dataSet.folder)
    self.folder = folder
    files = try dataSet.paths.map { try folder.open($0) }
  }

  deinit { for file in files { close(file) } }

  /// Copies as many bytes as all assets have, from memory to memory. A call that returns a copy cannot be faster.
  func copy(from source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) -> Int {
    for asset in dataSet.assets {
      memcpy(target.baseAddress!, source.baseAddress!, asset.byteCount)
    }
    return dataSet.byteCount
  }

  /// Reads every file to the beginning of the memory that `memory` returns.
  func readAll(into memory: (Int) -> UnsafeMutableRawBufferPointer) throws -> Int {
    for (index, asset) in dataSet.assets.enumerated() {
      let target = UnsafeMutableRawBufferPointer(rebasing: memory(asset.byteCount)[..<asset.byteCount])
      try readFully(files[index], at: 0, into: target, dataSet.paths[index])
    }
    return dataSet.byteCount
  }

  /// Reads every file with several threads. Each thread reads one MiB of the same file at a time.
  func readAll(threadCount: Int, into memory: (Int) -> UnsafeMutableRawBufferPointer) throws -> Int {
    guard threadCount > 1 else { return try readAll(into: memory) }
    for (index, asset) in dataSet.assets.enumerated() {
      let target = SharedMemory(memory(asset.byteCount))
      let next = Atomic(0)
      let failure = Failure()
      DispatchQueue.concurrentPerform(iterations: threadCount) { _ in
        failure.catching {
          while true {
            let begin = next.add(1 << 20, ordering: .relaxed).oldValue
            guard begin < asset.byteCount else { return }
            let part = target.bytes[begin..<min(begin + 1 << 20, asset.byteCount)]
            try read(index, at: begin, into: UnsafeMutableRawBufferPointer(rebasing: part))
          }
        }
      }
      try failure.throwIfAny()
    }
    return dataSet.byteCount
  }

  /// Reads `memory.count` bytes of one file.
  func read(_ asset: Int, at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    try readFully(files[asset], at: offset, into: memory, dataSet.paths[asset])
  }

  /// Maps every file again, and reads one byte of each cache line.
  func mapAndTouch() throws -> Int {
    for path in dataSet.paths { Sink.shared.take(try MappedFile(path, in: folder).withBytes(touchEveryLine)) }
    return dataSet.byteCount
  }

  /// Maps all files while the result exists. Mapped files cannot be removed from the page cache.
  func map() throws -> [MappedFile] { try dataSet.paths.map { try MappedFile($0, in: folder) } }
}
