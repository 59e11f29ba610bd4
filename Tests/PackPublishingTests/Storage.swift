import Foundation
import Testing

/// The scripts of `Tests/Storage`, and the Python environment that `Tests/Storage/setup` makes in the build folder.
enum Storage {
  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../..").standardizedFileURL

  /// Nil: it could not be made.
  static let python: String? = {
    let path = package.appendingPathComponent(".build/storage/bin/python").path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }()

  static func script(_ name: String) -> String { package.appendingPathComponent("Tests/Storage/\(name)").path }

  /// Runs a script to its end, and returns its output.
  static func run(_ arguments: [String]) throws -> Data {
    let process = Process(), pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: try #require(python))
    process.arguments = [script(arguments[0])] + arguments.dropFirst()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return output
  }
}
