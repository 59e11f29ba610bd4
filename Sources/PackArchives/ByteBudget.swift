import PackStore

/// The maximum number of bytes an archive may unpack to, so that a small file cannot fill a disk.
package struct ByteBudget {
  /// The remedy of an error with the detail `byteLimit`.
  package static let remedy = "if you trust the archive, raise the limit"

  let limit: UInt64
  private let faults: ArchiveFaults
  private var left: UInt64

  init(limit: UInt64, _ faults: ArchiveFaults) {
    self.limit = limit
    self.faults = faults
    left = limit
  }

  /// - Throws: `refused` when it is exhausted.
  mutating func take(_ count: UInt64) throws {
    guard count <= left else {
      throw faults.refused(
        "unpacks to more than \(limit) bytes, the limit", detail: .byteLimit, remedy: Self.remedy)
    }
    left -= count
  }
}
