import Foundation

/// Takes what earlier work gave back to `malloc`, so that what is allocated next shows as new pages instead of
/// disappearing in the holes. Gives it back when it goes.
final class FilledHeap {
  private var blocks: [UnsafeMutableRawPointer] = []

  init() {
    let small = stride(from: 16, through: 1024, by: 16).map { (byteCount: $0, count: 64) }
    let large = (11...17).map { (byteCount: 1 << $0, count: 8) }
    blocks.reserveCapacity(64 * 64 + 7 * 8)
    for (byteCount, count) in large.reversed() + small.reversed() {
      for _ in 0..<count {
        if let block = malloc(byteCount) { blocks.append(block) }
      }
    }
  }

  deinit { for block in blocks { free(block) } }
}
