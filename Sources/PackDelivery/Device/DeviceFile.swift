import PackFormats
package import PackStore

/// Where a store keeps its ``DeviceID``: the file `device` in its folder, which is made when the id is first asked for.
///
/// A copy of the store, on this machine or another, is another device; a store that was moved is the same one. An id
/// that is lost costs nothing but another draw: so what cannot be understood is replaced, and is no error.
package struct DeviceFile: Sendable {
  private static let sizeLimit = 4096
  private static let name = "device"
  private let store: FilePath
  private let place: @Sendable () throws -> DevicePlace

  package init(inStore store: FilePath) {
    self.init(inStore: store) { DevicePlace(machineID: machineID(), inode: try inode(ofFolder: store)) }
  }

  /// - Parameter place: where the store is now.
  package init(inStore store: FilePath, place: @escaping @Sendable () throws -> DevicePlace) {
    self.store = store
    self.place = place
  }

  /// The device's id, which is drawn if there is none yet, or none of this place.
  ///
  /// - Throws: `readOnly` when there is none and the store's folder cannot be written to; `wrongKind` when the file is
  ///   none; `ioError`, `noSpace`; `CancellationError`.
  package func readOrMake() throws -> DeviceID {
    let place = try place()
    if let device = try read(at: place) { return device }
    let lock = try FileLock(
      lockOfStore: store, "\(Self.name).lock", waits: true, reason: "another process is generating the device's id")
    defer { withExtendedLifetime(lock) {} }
    // Another process may have drawn it meanwhile.
    if let device = try read(at: place) { return device }
    let record = DeviceRecord(device: .random(), place: place)
    try replaceFile(Self.name, in: store, by: Array(record.text.utf8), draft: "tmp/\(Self.name)")
    return record.device
  }

  /// The device's id, if one was drawn here. Nothing is written.
  ///
  /// - Throws: `wrongKind` when the file is none; `ioError`.
  package func read() throws -> DeviceID? { try read(at: try place()) }

  /// The id that was drawn at the place, if one was.
  private func read(at place: DevicePlace) throws -> DeviceID? {
    do {
      let bytes = try InputFile(Self.name, in: store).contents(limit: Self.sizeLimit)
      guard let text = String(validating: bytes, as: UTF8.self), let record = DeviceRecord(text: text) else {
        return nil
      }
      return record.place == place ? record.device : nil
    } catch let error as PackStoreError where error.code == .notFound || error.code == .corrupt {
      return nil
    }
  }
}
