#if Hosting
  import Foundation
  import Synchronization

  @testable import PackHosting

  /// Records answers for `make conformance`: a line of JSON for each, in the file that `PACKSTORE_RECORDED_ANSWERS` names.
  enum AnswerRecord {
    private static let file = Mutex(open())

    private static func open() -> FileHandle? {
      guard let path = ProcessInfo.processInfo.environment["PACKSTORE_RECORDED_ANSWERS"] else { return nil }
      _ = FileManager.default.createFile(atPath: path, contents: nil)
      return FileHandle(forWritingAtPath: path)
    }

    static func add(_ method: String, _ path: String, _ answer: TestAnswer) {
      file.withLock { file in
        let line: JSONOutput = [
          "method": .string(method), "path": .string(path), "status": .integer(Int64(answer.status)),
          "body": .string(String(decoding: answer.body, as: UTF8.self)),
        ]
        file?.write(Data(line.bytes + [UInt8(ascii: "\n")]))
      }
    }
  }
#endif
