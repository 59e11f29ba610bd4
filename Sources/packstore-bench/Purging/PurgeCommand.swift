import ArgumentParser
import Foundation
import PackStore

struct PurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge",
    abstract: "Measure a purge, or the unlinking of a folder's files.",
    discussion: """
      Compares a purge by the store with 'unlink' of the same files by name. Excludes the start of the program and \
      the opening of the store. Prints an object with 'nanoseconds', 'freed_bytes' and 'files'.

        packstore-bench purge Packs --bytes 1000000000
        packstore-bench purge --folder ~/.cache/packstore
      """
  )

  @Argument(help: "The store's folder.", completion: .directory)
  var store: String?

  @Option(help: .init("Number of bytes to free.", valueName: "n"))
  var bytes = Int.max

  @Option(help: .init("Folder whose files are unlinked, all of them.", valueName: "folder"), completion: .directory)
  var folder: String?

  func validate() throws {
    guard (store == nil) != (folder == nil) else { throw ValidationError("name a store, or a folder with --folder") }
    guard bytes >= 0 else { throw ValidationError("invalid --bytes: use at least 0") }
  }

  func run() async throws {
    let result = if let store { try await purge(FilePath(store)) } else { try unlink(folder ?? "") }
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = .sortedKeys
    print(String(decoding: try encoder.encode(result), as: UTF8.self))
  }

  private struct Result: Encodable {
    let nanoseconds: UInt64
    let freedBytes: Int
    let files: Int
  }

  private func purge(_ path: FilePath) async throws -> Result {
    let store = try Store(at: path)
    let before = monotonicNanoseconds()
    let result = try await store.purge(bytes: bytes)
    let nanoseconds = monotonicNanoseconds() - before
    return Result(nanoseconds: nanoseconds, freedBytes: result.freedByteCount, files: result.fileCount)
  }

  /// Unlinks all files of a folder. The time excludes the search for the names, because a program has the names of its files.
  private func unlink(_ folder: String) throws -> Result {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    var files: [(path: String, byteCount: Int)] = []
    for path in names.map({ "\(folder)/\($0)" }) {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
      files.append((path, attributes[.size] as? Int ?? 0))
    }
    let before = monotonicNanoseconds()
    for file in files where Foundation.unlink(file.path) != 0 {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path])
    }
    let nanoseconds = monotonicNanoseconds() - before
    return Result(nanoseconds: nanoseconds, freedBytes: files.map(\.byteCount).reduce(0, +), files: files.count)
  }
}
