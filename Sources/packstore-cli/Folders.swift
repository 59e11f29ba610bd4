/// Folders outside of stores.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Fails unless there is a folder at `path`, or a link to one.
func requireFolder(_ path: String) throws {
  var info = stat()
  guard stat(path, &info) == 0 else { throw Failure("cannot read the folder '\(escaped(path))': \(systemErrorText())") }
  guard info.st_mode & S_IFMT == S_IFDIR else { throw Failure("'\(escaped(path))' is not a folder: name the folder it lies in") }
}

/// An empty folder where temporary files go. Whoever makes it removes it.
struct TemporaryFolder {
  let path: String

  init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/packstore.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw Failure("cannot make a folder in '\(escaped(parent))': \(systemErrorText()): set TMPDIR to a folder with room")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
