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

/// The folders that extraction writes to, and their remains after a failure.
@Suite struct FolderStackTests {
  /// After a folder that cannot be entered, the stack enters the right next folder: a fault here deleted files of the
  /// same name in another folder.
  @Test(arguments: ["", "a", "a/b", "c", "deep/1/2"]) func failuresLeadNowhere(next: String) throws {
    let folder = TemporaryFolder()
    try folder.makeFolder("target", ["a/b/file": "", "a/x": "a file", "c/file": ""])
    let target = try OutputFolder(making: .init(folder.path("target")))
    var stack = FolderStack(root: target.descriptor)
    let deep = "deep/" + (0..<FolderStack.openLimit + 8).map(String.init).joined(separator: "/")
    for before in ["", "a/b", "c", deep] {
      for failing in ["a/x/y", "a/b/file/z", deep + "/" + String(repeating: "n", count: 300)] {
        _ = try stack.enter(Array(before.utf8)[...])
        #expect(throws: PackStoreError.self) { try stack.enter(Array(failing.utf8)[...]) }
        let descriptor = try stack.enter(Array(next.utf8)[...])
        #expect(inode(of: descriptor) == inode(at: folder.path("target/\(next)")), "'\(next)' after '\(failing)'")
      }
    }
  }

  private func inode(of descriptor: CInt) -> UInt64? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  private func inode(at path: String) -> UInt64? {
    var status = stat()
    return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }
}
