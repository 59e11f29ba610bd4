import Foundation

/// Memory whose pages are untouched: the first writer pays for the page faults. Freed when the object is deallocated.
final class FreshMemory {
  let bytes: UnsafeMutableRawBufferPointer

  init(byteCount: Int) {
    let start = mmap(nil, max(byteCount, 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    precondition(start != MAP_FAILED, "out of memory")
    bytes = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
  }

  deinit { munmap(bytes.baseAddress, max(bytes.count, 1)) }
}
