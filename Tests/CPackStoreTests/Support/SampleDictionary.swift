import CPackStore
import CPackStoreTesting

/// A dictionary for small assets, as the author of a pack may bring one: any bytes that they have in common.
struct SampleDictionary: Sendable {
  nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

  /// It lives as long as the process.
  init(_ content: [UInt8]) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: content.count, alignment: 1)
    copy.copyBytes(from: content)
    bytes = UnsafeRawBufferPointer(copy)
  }

  /// Of the texts of `Folder.sample`.
  static let text = SampleDictionary(
    {
      var random = Random(77); return random.text(2_000)
    }())
  static let other = SampleDictionary(
    {
      var random = Random(78); return random.text(1_500)
    }())

  var id: [UInt8] { pks__id(of: Array(bytes)).array }
}
