import Foundation

/// Allocates the memory that earlier work returned to `malloc`, so that later allocations use new pages and become visible in
/// measurements. Frees the memory when the object is deallocated.
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
