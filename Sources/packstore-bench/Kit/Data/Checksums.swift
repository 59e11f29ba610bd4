import CXXHash
import Foundation

/// The XXH3 checksum of each asset of the source. Every participant must return the same bytes.
final class Checksums {
  private let sums: [UInt64]

  init(of dataSet: DataSet) throws {
    let folder = try FileFolder(dataSet.folder)
    sums = try dataSet.paths.map { try MappedFile($0, in: folder).withBytes(Self.sum) }
  }

  /// Compares bytes with the checksum of an asset.
  ///
  /// - Throws: ``WrongBytes`` if `bytes` differ from the asset.
  func check(_ bytes: UnsafeRawBufferPointer, are asset: Int, of dataSet: DataSet) throws {
    guard bytes.count == dataSet.assets[asset].byteCount, Self.sum(bytes) == sums[asset] else {
      throw WrongBytes(path: dataSet.assets[asset].path)
    }
  }

  static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 { XXH3_64bits(bytes.baseAddress, bytes.count) }
}

/// The error of a participant that returned bytes other than the source's.
struct WrongBytes: Error, CustomStringConvertible {
  let path: String

  var description: String { "WRONG BYTES for '\(path)'" }
}
