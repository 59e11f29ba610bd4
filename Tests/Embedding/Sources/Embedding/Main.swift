import Foundation
import PackStore

/// Installs a folder and reads an asset back.
///
///     embedding install STORE FOLDER PACK
///     embedding read STORE PATH
@main
enum Main {
  static func main() async {
    do {
      try await run()
    } catch {
      FileHandle.standardError.write(Data("embedding: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case ("install", 4):
      let store = try Store(at: FilePath(arguments[1]))
      let result = try await store.install(folder: FilePath(arguments[2]), as: PackID(validating: arguments[3]))
      print("\(result.version): \(result.version.fileCount) files, \(result.newChunkCount) new chunks")
    case ("read", 3):
      let store = try Store(at: FilePath(arguments[1]), options: .readOnly)
      FileHandle.standardOutput.write(try store.contents(of: arguments[2]))
    default:
      print("usage: embedding install STORE FOLDER PACK | embedding read STORE PATH")
      exit(2)
    }
  }
}
