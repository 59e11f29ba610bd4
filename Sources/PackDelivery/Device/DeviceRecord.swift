import PackFormats
package import PackStore

/// A store's record of its device: the id, and the place where it was generated.
package struct DeviceRecord: Hashable, Sendable {
  package var device: DeviceID
  package var place: DevicePlace

  package init(device: DeviceID, place: DevicePlace) {
    self.device = device
    self.place = place
  }
}

/// The properties of a place that a copy of a store does not share.
package struct DevicePlace: Hashable, Sendable {
  /// A digest that identifies the machine.
  package var machine: Digest256

  /// The inode of the store's folder.
  package var inode: UInt64

  /// - Parameter machineID: the machine's own id; empty if it has none. Only a digest is stored, so that the file does not reveal
  ///   the machine.
  package init(machineID: String, inode: UInt64) {
    machine = Digest256(hashing: Array("packstore machine\0\(machineID)".utf8))
    self.inode = inode
  }

  fileprivate init(machine: Digest256, inode: UInt64) {
    self.machine = machine
    self.inode = inode
  }
}

// MARK: - As text

extension DeviceRecord {
  /// The title, with the version of the format.
  private static let title = "packstore device 1"

  package var text: String { "\(Self.title)\ndevice \(device) \(place.machine.hex) \(place.inode)\n" }

  /// `nil` if the text is not in the form of ``text``.
  package init?(text: String) {
    // Split by bytes: Swift treats CR LF as one character.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.count == 3 else { return nil }
    let fields = lines[1].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map(Substring.init)
    guard fields.count == 4, let device = DeviceID(hex: fields[1]), let machine = Digest256(hex: fields[2]),
      let inode = UInt64(fields[3])
    else { return nil }
    self.init(device: device, place: DevicePlace(machine: machine, inode: inode))
    guard self.text.utf8.elementsEqual(text.utf8) else { return nil }
  }
}
