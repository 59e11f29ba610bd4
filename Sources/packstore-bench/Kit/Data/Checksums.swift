import CXXHash
import Foundation

/// The expected checksums of all participants: XXH3 of each asset of the source.
final class Checksums {
  private let sums: [UInt64]

  init(of dataSet: DataSet) throws {
    let folder = try FileFolder(dataSet.folder)
    sums = try dataSet.paths.map { try MappedFile($0, in: folder).withBytes(Self.sum) }
  }

  /// - Throws: ``WrongBytes`` unless `bytes` are the asset's.
  func check(_ bytes: UnsafeRawBufferPointer, are asset: Int, of dataSet: DataSet) throws {
    guard bytes.count == dataSet.assets[asset].byteCount, Self.sum(bytes) == sums[asset] else {
      throw WrongBytes(path: dataSet.assets[asset].path)
    }
  }

  static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 { XXH3_64bits(bytes.baseAddress, bytes.count) }
}

/// A participant returned bytes that differ from the source.
struct WrongBytes: Error, CustomStringConvertible {
  let path: String

  var description: String { "WRONG BYTES for '\(path)'" }
}
