import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What comes in between: other writers, Ctrl-C, full disks. And what a terminal shows meanwhile.
@Suite struct InterruptionTests {
  let playground = try! Playground()

  #if os(Linux)
    @Test func noWaitFailsWhileAnotherWriterCommits() throws {
      try playground.write("x", to: "folder/a")
      try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
      try playground.write("y", to: "folder/a")
      let lock = open("\(playground.path)/store/LOCK", O_RDWR | O_CLOEXEC)
      try #require(lock >= 0)
      defer { close(lock) }
      var region = flock()
      region.l_type = Int16(F_WRLCK)
      region.l_whence = Int16(SEEK_SET)
      region.l_len = 1
      try #require(fcntl(lock, setLock, &region) == 0)

      for arguments in [
        ["add", "store", "folder", "--pack", "A", "--no-wait"], ["remove", "store", "A", "--no-wait"],
      ] {
        let run = try playground.packstore(arguments)
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("packstore: "))
      }
      #expect(try playground.packstore("cat", "store", "a").output == "x", "readers do not wait")

      let waiting = try playground.start(
        ["add", "store", "folder", "--pack", "A", "-q"], output: .nullDevice, errors: .nullDevice)
      // Once its run is staged, only the lock stands between it and the commit.
      while waiting.isRunning, !playground.tree("store/tmp").contains(where: { $0.hasSuffix(".run") }) { sched_yield() }
      #expect(waiting.isRunning, "without --no-wait it waits")
      #expect(try playground.packstore("cat", "store", "a").output == "x", "nothing is committed without the lock")
      region.l_type = Int16(F_UNLCK)
      try #require(fcntl(lock, setLock, &region) == 0)
      waiting.waitUntilExit()
      #expect(waiting.terminationStatus == 0)
      #expect(try playground.packstore("cat", "store", "a").output == "y")
    }
  #endif

  /// Enough that `add` takes a while, in files so small that it looks at the signal often.
  private func writeManyFiles() throws {
    var content = noise(20_000)
    for number in 0..<1_500 {
      withUnsafeBytes(of: number) { content.replaceSubrange(0..<8, with: $0) }
      try playground.write(content, to: "many/\(number % 50)/\(number)")
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func signalsCancel(number: Int32) throws {
    try writeManyFiles()
    try playground.write("x", to: "folder/a")
    try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
    let errors = Pipe()
    let process = try playground.start(
      ["add", "store", "many", "--pack", "Many", "--level", "15"], output: .nullDevice,
      errors: errors.fileHandleForWriting)
    try errors.fileHandleForWriting.close()
    while process.isRunning, playground.tree("store/tmp").isEmpty { sched_yield() }
    kill(process.processIdentifier, number)
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 130)
    #expect(text == "packstore: cancelled\n")

    try playground.write("y", to: "folder/a")
    #expect(try playground.packstore("add", "store", "folder", "--pack", "A", "-q").status == 0)
    #expect(playground.tree("store/tmp").isEmpty)
    #expect(try playground.packstore("log", "store", "Many").status == 1)
    #expect(try playground.packstore("verify", "store", "--deep", "-q").status == 0)
  }

  @Test(.enabled(if: canMountPrivately, "needs user namespaces"))
  func fullDiskLeavesTheStoreAsItWas() throws {
    try playground.makeFolder("disk")
    try playground.write("x", to: "small/a")
    try playground.write(noise(6_000_000), to: "large/noise")
    let run = try playground.shell(
      """
      unshare -rm sh -c 'mount -t tmpfs -o size=4m none disk
      packstore add disk/store small --pack A -q || exit 9
      packstore add disk/store large --pack B -q
      echo $?
      packstore verify disk/store --deep -q && packstore cat disk/store a'
      """)
    #expect(run.output == "1\nx")
    #expect(run.errors.hasPrefix("packstore: "))
    #expect(run.errors.contains("space"))
  }

  // MARK: - Progress

  #if os(Linux)
    @Test func terminalShowsABar() throws {
      try writeManyFiles()
      var controller: Int32 = -1
      var terminal: Int32 = -1
      var size = winsize(ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0)
      try #require(openpty(&controller, &terminal, nil, nil, &size) == 0)
      let process = try playground.start(
        ["add", "store", "many", "--pack", "Many"], output: .nullDevice,
        errors: FileHandle(fileDescriptor: terminal, closeOnDealloc: false), environment: ["TERM": "xterm"])
      close(terminal)
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = Glibc.read(controller, &buffer, buffer.count)
        guard count > 0 else { break }
        bytes += buffer[..<count]
      }
      close(controller)
      process.waitUntilExit()
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(process.terminationStatus == 0)
      #expect(text.contains(" % "))
      #expect(text.hasSuffix("\r\u{1b}[K"), "the bar is cleared at the end")
      for line in text.split(separator: "\r") { #expect(line.replacing("\u{1b}[K", with: "").count < 60) }
    }
  #endif
}

#if os(Linux)
  /// `F_OFD_SETLK`, which Glibc's module leaves out: a lock of the open file, not of the process.
  private let setLock: Int32 = 37
#endif

/// Whether `unshare -rm` may mount.
private let canMountPrivately: Bool = {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/bin/sh")
  process.arguments = ["-c", "unshare -rm mount -t tmpfs none /mnt"]
  process.standardError = FileHandle.nullDevice
  try? process.run()
  process.waitUntilExit()
  return process.terminationStatus == 0
}()
