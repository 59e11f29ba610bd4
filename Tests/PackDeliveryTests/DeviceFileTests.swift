import Foundation
import PackDelivery
import PackFormats
import PackStore
import Testing

@Suite struct DeviceFileTests {
  private let folder = TestFolder()
  private static let here = DevicePlace(machineID: "0123", inode: 7)

  init() throws {
    try FileManager.default.createDirectory(atPath: "\(folder.path)/tmp", withIntermediateDirectories: true)
  }

  private func file(_ place: DevicePlace = here) -> DeviceFile {
    DeviceFile(inStore: FilePath(folder.path)) { place }
  }

  private func text() throws -> String { try String(contentsOfFile: "\(folder.path)/device", encoding: .utf8) }

  @Test func isDrawnOnce() throws {
    let device = try file().readOrMake()
    #expect(try file().readOrMake() == device)
    #expect(try DeviceRecord(text: text()) == DeviceRecord(device: device, place: Self.here))
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/tmp") == [])
  }

  /// The digest of section 21 of the format, computed by another program.
  @Test func isWrittenAsTheFormatSays() throws {
    let device = try #require(DeviceID(hex: "000102030405060708090a0b0c0d0e0f"))
    let text = DeviceRecord(device: device, place: Self.here).text
    #expect(
      text == """
        packstore device 1
        device 000102030405060708090a0b0c0d0e0f \
        af258b7aafd6008e4c20379cf27e9780600f144e1224042a8d79a8220f5e00bf 7

        """)
  }

  @Test(arguments: [DevicePlace(machineID: "0124", inode: 7), DevicePlace(machineID: "0123", inode: 8)])
  func aCopyIsAnotherDevice(_ place: DevicePlace) throws {
    let device = try file().readOrMake()
    let copied = try file(place).readOrMake()
    #expect(copied != device)
    #expect(try file(place).readOrMake() == copied)
    #expect(try file().readOrMake() != device, "the id is gone with the place that it was drawn at")
  }

  /// By the file system's own means, and this machine's id.
  @Test func aMovedStoreIsTheSameDevice() throws {
    let manager = FileManager.default
    let paths = ["a", "b", "c"].map { "\(folder.path)/\($0)" }
    try manager.createDirectory(atPath: "\(paths[0])/tmp", withIntermediateDirectories: true)
    let device = try DeviceFile(inStore: FilePath(paths[0])).readOrMake()
    try manager.moveItem(atPath: paths[0], toPath: paths[1])
    try manager.copyItem(atPath: paths[1], toPath: paths[2])
    #expect(try DeviceFile(inStore: FilePath(paths[1])).readOrMake() == device)
    #expect(try DeviceFile(inStore: FilePath(paths[2])).readOrMake() != device)
    #expect(try DeviceFile(inStore: FilePath(paths[1])).readOrMake() == device)
  }

  @Test func whatIsDamagedIsDrawnAgain() throws {
    let device = try file().readOrMake()
    let whole = try text()
    let title = try #require(whole.split(separator: "\n").first)
    let damaged = [
      "", "\n", String(whole.dropLast()), whole + "\n", whole + "device x\n", whole.replacing("\n", with: "\r\n"),
      whole.replacing(title, with: "packstore device 0.1"), whole.replacing(" 7\n", with: " +7\n"),
      whole.replacing(" 7\n", with: " 07\n"), whole.replacing(" 7\n", with: " 99999999999999999999\n"),
      whole.replacing(" 7\n", with: " 7 \n"), whole.replacing("\(device)", with: "\(device)".dropLast()),
      whole.replacing("\(device)", with: "\(device)".uppercased() + "F"), whole.replacing("device ", with: "device  "),
      String(repeating: whole, count: 100),
    ]
    for text in damaged {
      #expect(DeviceRecord(text: text) == nil, "\(text)")
      try folder.write(text.utf8, to: "device")
      let drawn = try file().readOrMake()
      #expect(drawn != device)
      #expect(try file().readOrMake() == drawn, "\(text)")
    }
    try folder.write([0xff, 0xfe], to: "device")
    #expect(try file().readOrMake() != device)
    try folder.write(whole.utf8, to: "device")
    #expect(try file().readOrMake() == device)
  }

  @Test func allWhoAskAtOnceGetTheSame() async throws {
    let file = file()
    let devices = try await withThrowingTaskGroup(of: DeviceID.self) { group in
      for _ in 0..<16 { group.addTask { try file.readOrMake() } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(devices.count == 1)
  }

  /// Another process may be drawing, and wait; who only reads does not wait for it.
  @Test func whatIsThereIsReadWithoutALock() throws {
    let device = try file().readOrMake()
    let lock = try FileLock(FilePlace("device.lock", in: FilePath(folder.path)), waits: false, reason: "")
    #expect(try file().readOrMake() == device)
    withExtendedLifetime(lock) {}
  }

  @Test(arguments: ["device", "device.lock", "tmp/device"]) func plantedLinksAreNotFollowed(_ name: String) throws {
    try folder.write("secret".utf8, to: "elsewhere")
    let link = "\(folder.path)/\(name)"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(folder.path)/elsewhere")
    if name.hasPrefix("tmp/") {
      #expect(try file().readOrMake() == file().readOrMake(), "drafts of processes that ended make way")
    } else {
      #expect { try file().readOrMake() } throws: { ($0 as? PackStoreError)?.code == .wrongKind }
    }
    #expect(try String(contentsOfFile: "\(folder.path)/elsewhere", encoding: .utf8) == "secret")
  }

  #if !os(macOS)
    @Test(
      arguments: [
        ([], ""), (["0123\n"], "0123"), (["", "0123"], "0123"), (["uninitialized\n", "4567\n"], "4567"),
        (["0123\n", "4567\n"], "0123"), (["\n"], ""), ([nil, "0123"], "0123"),
      ] as [([String?], String)])
    func machinesSayWhoTheyAre(_ contents: [String?], _ id: String) throws {
      let files = contents.indices.map { FilePath("\(folder.path)/\($0)") }
      for (file, text) in zip(files, contents) {
        if let text { try folder.write(text.utf8, to: file.lastComponent!.string) }
      }
      #expect(machineID(from: files) == id)
    }
  #endif
}
