import Foundation
import Testing

@testable import packstore_compare

struct ProgramTests {
  private let shell = Program("sh")

  @Test func saysWhyItCannotBeUsed() {
    #expect(shell.unavailability == nil)
    #expect(Program("no-such-program").unavailability == "no-such-program is not installed")
    #expect(throws: Unavailable.self) { try Program("no-such-program").run([]) }
  }

  @Test func runsInAFolderAndHandsOverOutput() throws {
    let folder = try TemporaryFolder(in: nil)
    try shell.run(["-c", "echo \"$GREETING\" > file"], in: folder.path, environment: ["GREETING": "hello"])
    let memory = Buffer(byteCount: 100)
    let length = try Program("cat").run([folder.path + "/file"], into: memory.bytes)
    #expect(String(decoding: memory.bytes[..<length], as: UTF8.self) == "hello\n")
  }

  @Test func failureIsTheLastComplaintWithoutPaths() {
    let error = #expect(throws: ProgramFailure.self) {
      try shell.run(["-c", "echo first >&2; echo 'cannot open /some/where/file' >&2; exit 3"])
    }
    #expect(error?.description == "sh: cannot open .../file")
  }
}
