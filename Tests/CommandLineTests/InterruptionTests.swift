import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Interruptions: other writers, Ctrl-C, full disks; and the terminal's display during long commands.
@Suite struct InterruptionTests {
  let playground = try! Playground()

  #if os(Linux)
    /// Takes the writer's lock, until the returned descriptor is closed.
    private func holdWriterLock() throws -> Int32 {
      let lock = open("\(playground.path)/store/LOCK", O_RDWR | O_CLOEXEC)
      try #require(lock >= 0)
      var region = flock()
      region.l_type = Int16(F_WRLCK)
      region.l_whence = Int16(SEEK_SET)
      region.l_len = 1
      try #require(fcntl(lock, setLock, &region) == 0)
      return lock
    }

    @Test func noWaitFailsWhileAnotherWriterCommits() throws {
      try playground.write("x", to: "folder/a")
      try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
      try playground.write("y", to: "folder/a")
      let lock = try holdWriterLock()

      for arguments in [
        ["add", "store", "folder", "--pack", "A", "--no-wait"], ["remove", "store", "A", "--no-wait"],
      ] {
        let run = try playground.packstore(arguments)
        #expect(run.status == 6)
        #expect(run.errors.hasPrefix("packstore: "))
      }
      #expect(try playground.packstore("cat", "store", "a").output == "x", "readers do not wait")

      let waiting = try playground.start(
        ["add", "store", "folder", "--pack", "A", "-q"], output: .nullDevice, errors: .nullDevice)
      // After its run is staged, only the lock delays the commit.
      waitForChange(of: "\(playground.path)/store/tmp") {
        !waiting.isRunning || playground.tree("store/tmp").contains { $0.hasSuffix(".run") }
      }
      #expect(waiting.isRunning, "without --no-wait it waits")
      #expect(try playground.packstore("cat", "store", "a").output == "x", "nothing is committed without the lock")
      close(lock)
      waiting.waitUntilExit()
      #expect(waiting.terminationStatus == 0)
      #expect(try playground.packstore("cat", "store", "a").output == "y")
    }

    /// An interrupted wait ends with the expected status, and nothing is committed, neither then nor when the lock is
    /// released.
    @Test(arguments: [SIGINT, SIGTERM]) func aSignalEndsAWait(number: Int32) throws {
      try playground.write("x", to: "folder/a")
      try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
      try playground.write("y", to: "folder/a")
      let lock = try holdWriterLock()
      let waiting = try playground.start(
        ["add", "store", "folder", "--pack", "A", "-q"], output: .nullDevice, errors: .nullDevice)
      waitForChange(of: "\(playground.path)/store/tmp") {
        !waiting.isRunning || playground.tree("store/tmp").contains { $0.hasSuffix(".run") }
      }
      kill(waiting.processIdentifier, number)
      waiting.waitUntilExit()
      #expect(waiting.terminationReason == .exit && waiting.terminationStatus == 130)
      close(lock)
      #expect(try playground.packstore("cat", "store", "a").output == "x")
      #expect(playground.tree("store/tmp").isEmpty)
    }

    /// A user with read permission only can lock the folder, and take a shared lock of each readable file.
    @Test func readersStopNoWriter() throws {
      try playground.write("x", to: "folder/a")
      try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
      try playground.packstore("publish", "store", "site", "--key", "key", "-q")
      try playground.packstore("pull", "client", "site", "-q")
      try playground.write("y", to: "folder/a")
      try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
      // A descriptor for reading is enough to lock, so others can lock all files that they can read.
      let open = try playground.shell("chmod go+rx . && find store site client -perm /044 | sort").lines
      #expect(Set(["store", "site", "client", "client/READERS", "site/READERS"]).isSubset(of: open))
      #expect(open.allSatisfy { !$0.hasSuffix("/LOCK") && !$0.hasSuffix(".lock") && !$0.hasSuffix("/journal") })
      let holder = "exec 9<\"$0\"; flock -s 9; echo; read wait"
      var held: [(Process, Pipe)] = []
      defer { for (process, _) in held { process.terminate() } }
      for path in open {
        let process = Process(), input = Pipe(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", holder, "\(playground.path)/\(path)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        #expect(output.fileHandleForReading.availableData.count == 1, "\(path)")
        held.append((process, input))
      }
      for command in [
        ["publish", "store", "site", "--key", "key", "-q", "--no-wait"], ["pull", "client", "site", "-q", "--no-wait"],
        ["add", "store", "folder", "--pack", "B", "-q", "--no-wait"],
      ] {
        let run = try playground.packstore(command)
        #expect(run.status == 0, "\(command): \(run.errors)")
      }
      #expect(try playground.packstore("cat", "client", "a").output == "y")
    }

    /// As another user, where this one may become one: reading works, and `LOCK` cannot be opened.
    @Test(.enabled(if: getuid() == 0, "takes the rights of another user")) func anotherUser() throws {
      try playground.write("x", to: "folder/a")
      try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
      try #require(playground.shell("chmod 755 . store").status == 0)
      let drop = "setpriv --reuid=65534 --regid=65534 --clear-groups"
      #expect(try playground.shell("\(drop) flock -n -s store/READERS true").status == 0)
      #expect(try playground.shell("\(drop) flock -n -s store/LOCK true").status != 0)
      #expect(try playground.shell("flock -n -s store/LOCK true").status == 0, "its owner can")
    }
  #endif

  /// Many files: `add` checks for a signal between them.
  private func writeManyFiles() throws {
    var content = noise(20_000)
    for number in 0..<300 {
      withUnsafeBytes(of: number) { content.replaceSubrange(0..<8, with: $0) }
      try playground.write(content, to: "many/\(number % 50)/\(number)")
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func signalsCancel(number: Int32) throws {
    try writeManyFiles()
    try playground.write("x", to: "folder/a")
    try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
    #if os(Linux)
      // The lock delays the commit until the signal arrives.
      let lock = try holdWriterLock()
    #endif
    let errors = Pipe()
    // The tests may run with ignored signals, which the program inherits.
    let earlier = signal(number, SIG_DFL)
    let process = try playground.start(
      ["add", "store", "many", "--pack", "Many", "--level", "15"], output: .nullDevice,
      errors: errors.fileHandleForWriting)
    signal(number, earlier)
    try errors.fileHandleForWriting.close()
    waitForChange(of: "\(playground.path)/store/tmp") { !process.isRunning || !playground.tree("store/tmp").isEmpty }
    kill(process.processIdentifier, number)
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 130)
    #expect(text == "packstore: cancelled\n")
    #if os(Linux)
      close(lock)
    #endif

    try playground.write("y", to: "folder/a")
    #expect(try playground.packstore("add", "store", "folder", "--pack", "A", "-q").status == 0)
    #expect(playground.tree("store/tmp").isEmpty)
    #expect(try playground.packstore("log", "store", "Many").status == 1)
    #expect(try playground.packstore("verify", "store", "--deep", "-q").status == 0)
  }

  /// A reader that does not read its pipe blocks the program's output. One signal ends the program even so, also when
  /// errors go to the same pipe.
  @Test(
    arguments: [SIGINT, SIGTERM],
    [["cat", "store", "large"], ["ls", "store", "-R", "--json"], ["ls", "store", "-Rl"]])
  func aSignalEndsAWriteThatWaits(number: Int32, arguments: [String]) throws {
    try playground.write(noise(4_000_000), to: "folder/large")
    let name = String(repeating: "name", count: 50)
    for number in 0..<800 { try playground.write("", to: "folder/\(number)-\(name)") }
    try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
    for mergesErrors in [false, true] {
      let pipe = Pipe()
      let process = try playground.start(
        arguments, output: pipe.fileHandleForWriting, errors: mergesErrors ? pipe.fileHandleForWriting : .nullDevice)
      // Until nothing more fits: then the program waits, or is about to.
      var state = pollfd(fd: pipe.fileHandleForWriting.fileDescriptor, events: Int16(POLLOUT), revents: 0)
      while process.isRunning, poll(&state, 1, 0) == 1 { sched_yield() }
      #expect(process.isRunning)
      kill(process.processIdentifier, number)
      process.waitUntilExit()
      #expect(process.terminationReason == .exit && process.terminationStatus == 130)
      withExtendedLifetime(pipe) {}
    }
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
    #expect(run.output == "5\nx")
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
