import PackFormats
package import PackStore

/// What a store remembers of the device: which id was drawn, and where.
package struct DeviceRecord: Hashable, Sendable {
  package var device: DeviceID
  package var place: DevicePlace

  package init(device: DeviceID, place: DevicePlace) {
    self.device = device
    self.place = place
  }
}

/// What a copy of a store does not share with it.
package struct DevicePlace: Hashable, Sendable {
  /// A digest that tells the machine from others.
  package var machine: Digest256

  /// Of the store's folder.
  package var inode: UInt64

  /// - Parameter machineID: what the machine says of itself; empty where it says nothing. It is not kept: others could
  ///   tell by it which machine a file is from.
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
  /// What it is, and which version of the format of these files.
  private static let title = "packstore device 1"

  package var text: String { "\(Self.title)\ndevice \(device) \(place.machine.hex) \(place.inode)\n" }

  /// Nil: this is not what ``text`` writes.
  package init?(text: String) {
    // By bytes: as characters, a line feed is one with a carriage return before it.
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
