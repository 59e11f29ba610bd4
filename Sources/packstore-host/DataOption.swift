#if Hosting
  import ArgumentParser
  import Foundation
  import PackHosting

  struct DataOption: ParsableArguments {
    @Option(help: "Data folder of the host; created if it does not exist.", completion: .directory)
    var data: String

    func administration() throws -> Administration { try Administration(folder: data) }

    /// - Throws: `ValidationError` if the folder does not exist. A check of a mistyped folder must not succeed.
    func existingAdministration() throws -> Administration {
      guard FileManager.default.fileExists(atPath: data) else {
        throw ValidationError("'\(data)': the folder does not exist; name the data folder of the service")
      }
      return try administration()
    }
  }

  struct JSONOption: ParsableArguments {
    @Flag(help: "Write JSON.")
    var json = false

    /// Writes a result: as JSON, or as lines.
    func write(_ result: some Encodable, _ lines: [String]) throws {
      guard json else { return print(lines.joined(separator: "\n")) }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(result), as: UTF8.self))
    }
  }
#endif
