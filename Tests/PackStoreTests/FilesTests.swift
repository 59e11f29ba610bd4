import Foundation
import Testing

@testable import PackStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The one place where Swift opens files: anything that an intruder plants instead of an expected file is refused at
/// once, and its target is not touched.
@Suite(.timeLimit(.minutes(40))) final class FilesTests {
  let folder = TemporaryFolder()
  var root: FilePath { FilePath(folder.path) }

  enum Planted: CaseIterable { case link, danglingLink, pipe, folder, socket }

  private func plant(_ planted: Planted, at name: String) throws {
    let path = "\(folder.path)/\(name)"
    switch planted {
    case .link: #expect(symlink("\(folder.path)/victim", path) == 0)
    case .danglingLink: #expect(symlink("\(folder.path)/nothing", path) == 0)
    case .pipe: #expect(mkfifo(path, 0o600) == 0)
    case .folder: #expect(mkdir(path, 0o700) == 0)
    case .socket: #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
    }
  }

  private func makeVictim() throws { try Data("safe".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/victim")) }

  private func expectSafe() throws {
    #expect(try String(contentsOfFile: "\(folder.path)/victim", encoding: .utf8) == "safe")
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/nothing"))
  }

  private func code(_ body: () throws -> Void) -> PackStoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? PackStoreError)?.code
    }
  }

  @Test(arguments: Planted.allCases) func whatIsReadIsAFile(_ planted: Planted) throws {
    try makeVictim()
    try plant(planted, at: "planted")
    #expect(code { _ = try InputFile("planted", in: root) } == .wrongKind)
    let named = code { _ = try InputFile(root.appending("planted")) }
    let expected: PackStoreError.Code? =
      switch planted {
      case .link: nil  // a link that a person named leads where it leads
      case .danglingLink: .notFound
      default: .wrongKind
      }
    #expect(named == expected)
  }

  @Test(arguments: Planted.allCases) func aDraftIsAlwaysNew(_ planted: Planted) throws {
    try makeVictim()
    try plant(planted, at: "draft")
    let failure = code {
      try replaceFile("final", in: root, by: Array("new".utf8), draft: "draft")
    }
    try expectSafe()
    guard planted != .folder else {
      #expect(failure != nil)
      return
    }
    #expect(failure == nil)
    #expect(try InputFile("final", in: root).contents(limit: 10) == Array("new".utf8))
  }

  @Test(arguments: Planted.allCases) func aLockIsAFile(_ planted: Planted) throws {
    try makeVictim()
    try plant(planted, at: "lock")
    let failure = code {
      _ = try FileLock(FilePlace("lock", in: root), waits: true, reason: "busy")
    }
    #expect(failure == .wrongKind)
    try expectSafe()
  }

  /// A folder of a site or a store that is a link leads nowhere, for reading as for writing.
  @Test func foldersBelowAreNoLinks() throws {
    try makeVictim()
    try folder.makeFolder("elsewhere", ["a": "kept"])
    #expect(symlink("\(folder.path)/elsewhere", "\(folder.path)/inside") == 0)
    #expect(code { _ = try InputFile("inside/a", in: root) } == .wrongKind)
    #expect(code { _ = try NewFile(FilePlace("inside/b", in: root)) } == .wrongKind)
    #expect(code { try removeFile(FilePlace("inside/a", in: root)) } == .wrongKind)
    #expect(code { _ = try namesInFolder(FilePlace("inside", in: root)) } == .wrongKind)
    // The folder that was named may be a link.
    #expect(try InputFile("a", in: root.appending("inside")).contents(limit: 10) == Array("kept".utf8))
    removeTree(root.appending("inside"))
    #expect(try InputFile("elsewhere/a", in: root).contents(limit: 10) == Array("kept".utf8))
  }

  @Test func aTreeIsRemovedWithoutWhatItsLinksLeadTo() throws {
    try folder.makeFolder("kept", ["a": "kept"])
    try folder.makeFolder("tree/deep/deeper", ["b": "gone"])
    #expect(symlink("\(folder.path)/kept", "\(folder.path)/tree/deep/link") == 0)
    removeTree(root.appending("tree"))
    #expect(!pathExists(root.appending("tree")))
    #expect(pathExists(root.appending("kept").appending("a")))
    for name in [".", ".."] { removeTree(root.appending("kept").appending(name)) }
    #expect(pathExists(root.appending("kept").appending("a")))
  }

  @Test func aFolderIsNoFileToRemove() throws {
    try folder.makeFolder("kept", ["a": "kept"])
    #expect(code { try removeFile(FilePlace("kept", in: root)) } == .wrongKind)
    #expect(pathExists(root.appending("kept").appending("a")))
  }

  // MARK: - Locks

  private func mode(_ name: String) throws -> mode_t {
    var status = stat()
    try #require(stat("\(folder.path)/\(name)", &status) == 0)
    return status.st_mode & 0o777
  }

  /// Who may not write to the folder must not be able to open the file, for opening is all that it takes to lock it.
  @Test(arguments: [0o700, 0o755, 0o750, 0o775, 0o777] as [mode_t]) func onlyWritersCanOpenALock(_ open: mode_t) throws
  {
    try folder.makeFolder("shared", [:] as [String: String])
    #expect(chmod("\(folder.path)/shared", open) == 0)
    let shared = root.appending("shared")
    for isOld in [false, true] {
      if isOld {
        try Data().write(to: URL(fileURLWithPath: "\(folder.path)/shared/lock"))
        #expect(chmod("\(folder.path)/shared/lock", 0o644) == 0)
      }
      _ = try FileLock(FilePlace("lock", in: shared), waits: false, reason: "busy")
      let mode = try mode("shared/lock")
      #expect(mode & 0o600 == 0o600)
      for (writes, bits) in [(open & 0o020 != 0, 0o060), (open & 0o002 != 0, 0o006)] as [(Bool, mode_t)] {
        #expect(mode & bits == 0 || (writes && mode & bits == bits), "\(String(mode, radix: 8))")
      }
      try removeFile(FilePlace("lock", in: shared))
    }
  }

  #if os(Linux)
    /// Linux refuses `O_CREAT` for a file of another user in a world-writable folder, if a setting requires it. Only a
    /// process that may change owners can make the other user's file.
    private static var refusesToCreateOverOthers: Bool {
      let limit = try? String(contentsOfFile: "/proc/sys/fs/protected_regular", encoding: .utf8)
      return getuid() == 0 && (limit?.hasPrefix("1") == true || limit?.hasPrefix("2") == true)
    }

    @Test(.enabled(if: refusesToCreateOverOthers)) func aLockOfAnotherUser() throws {
      try folder.makeFolder("shared", ["lock": ""])
      #expect(chmod("\(folder.path)/shared", 0o1777) == 0 && chmod("\(folder.path)/shared/lock", 0o666) == 0)
      #expect(chown("\(folder.path)/shared/lock", 12_345, 12_345) == 0)
      _ = try FileLock(FilePlace("lock", in: root.appending("shared")), waits: false, reason: "busy")
    }
  #endif

  /// One of the first processes makes the file, and it is deleted while they use it.
  @Test func aLockThatComesAndGoes() async throws {
    let place = FilePlace("lock", in: root)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<200 {
            _ = try FileLock(place, waits: true, reason: "busy")
            try removeFile(place)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(!pathExists(place.path))
  }

  @Test func aTakenLockIsBusyOrWaitedForUntilTheTaskIsCancelled() async throws {
    let place = FilePlace("lock", in: root)
    let held = try FileLock(place, waits: false, reason: "busy")
    #expect(code { _ = try FileLock(place, waits: false, reason: "busy") } == .busy)
    let waiting = Task {
      try await BlockingExecutor.run {
        _ = try FileLock(place, waits: true, reason: "busy")
      }
    }
    waiting.cancel()
    let result = await waiting.result
    #expect(throws: CancellationError.self) { try result.get() }
    withExtendedLifetime(held) {}
  }

  /// An entry of a folder that ends where the memory ends: its type declares room for 256 bytes of a name.
  @Test func entriesAreAsLongAsTheirNames() throws {
    let page = sysconf(CInt(_SC_PAGESIZE))
    let pages = try #require(mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(pages, 2 * page) }
    try #require(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0)
    let offset = try #require(MemoryLayout<dirent>.offset(of: \.d_name))
    let text = Array("a\u{e9}".utf8) + [0]
    let begin = pages + (page - (offset + text.count + 7) / 8 * 8)
    for (index, byte) in text.enumerated() { begin.storeBytes(of: byte, toByteOffset: offset + index, as: UInt8.self) }
    #expect(nameBytes(of: begin.assumingMemoryBound(to: dirent.self)) == text.dropLast())
  }
}
