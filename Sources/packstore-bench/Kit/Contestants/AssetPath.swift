/// The path of an asset or folder, relative to the data set's folder, in every form that an interface may require, so
/// that no contestant pays for a conversion.
struct AssetPath {
  /// UTF-8, NUL-terminated. Valid while the list that contains the path exists.
  let utf8: UnsafePointer<CChar>

  /// The number of bytes in `utf8`, without the NUL.
  let utf8Count: Int

  let string: String
}

/// Paths in the order of their use. Their bytes have the same order in memory, because reading a path should not cost a cache miss:
/// a real caller has just used it. Immutable, so any thread may use it.
final class AssetPaths: RandomAccessCollection, @unchecked Sendable {
  let startIndex = 0
  let endIndex: Int
  private let bytes: UnsafeMutableBufferPointer<CChar>
  private let paths: [AssetPath]

  init(_ strings: some Collection<String>) {
    endIndex = strings.count
    bytes = .allocate(capacity: Swift.max(strings.reduce(0) { $0 + $1.utf8.count + 1 }, 1))
    var next = bytes.baseAddress!
    paths = strings.map { string in
      // Copies the string, so that the strings' bytes also have this order.
      let path = AssetPath(
        utf8: next, utf8Count: string.utf8.count, string: String(decoding: string.utf8, as: UTF8.self))
      for byte in string.utf8 {
        next.initialize(to: CChar(bitPattern: byte))
        next += 1
      }
      next.initialize(to: 0)
      next += 1
      return path
    }
  }

  deinit { bytes.deallocate() }

  subscript(index: Int) -> AssetPath { paths[index] }
}
