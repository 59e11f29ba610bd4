import PackFormats
package import PackStore

/// Stores a store's ``DeviceID``: the file `device` in its folder, created when the id is first needed.
///
/// A copy of the store, on this machine or another, is another device; a moved store is the same device. A lost id can be generated
/// again without harm, so invalid contents are replaced, and are not an error.
package struct DeviceFile: Sendable {
  private static let sizeLimit = 4096
  private static let name = "device"
  private let store: FilePath
  private let place: @Sendable () throws -> DevicePlace

  package init(inStore store: FilePath) {
    self.init(inStore: store) { DevicePlace(machineID: machineID(), inode: try inode(ofFolder: store)) }
  }

  /// - Parameter place: returns the current place of the store.
  package init(inStore store: FilePath, place: @escaping @Sendable () throws -> DevicePlace) {
    self.store = store
    self.place = place
  }

  /// Returns the device's id. Generates one if none exists for this place.
  ///
  /// - Throws: `readOnly` if none exists and the store's folder is not writable; `wrongKind` if the file is not a regular file;
  ///   `ioError`, `noSpace`; `CancellationError`.
  package func readOrMake() throws -> DeviceID {
    let place = try place()
    if let device = try read(at: place) { return device }
    let lock = try FileLock(
      lockOfStore: store, "\(Self.name).lock", waits: true, reason: "another process is generating the device's id")
    defer { withExtendedLifetime(lock) {} }
    // Another process may have generated it since.
    if let device = try read(at: place) { return device }
    let record = DeviceRecord(device: .random(), place: place)
    try replaceFile(Self.name, in: store, by: Array(record.text.utf8), draft: "tmp/\(Self.name)")
    return record.device
  }

  /// Returns the device's id; `nil` if none was generated here. Writes nothing.
  ///
  /// - Throws: `wrongKind` if the file is not a regular file; `ioError`.
  package func read() throws -> DeviceID? { try read(at: try place()) }

  /// Returns the id that was generated at the place; `nil` if none was.
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
