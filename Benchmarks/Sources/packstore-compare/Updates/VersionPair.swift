import ArgumentParser
import Foundation

/// Two versions of a folder.
struct VersionPair: Equatable {
  let name: String
  /// The change between the versions, for the report.
  var explanation = ""
  /// The folders; never in a report.
  let from: String
  let to: String
  /// Limits of this pair, in addition to the limits of all pairs.
  var limits: [UpdateGoal.ByteLimit] = []
}

extension VersionPair {
  /// `NAME=A,B`.
  ///
  /// - Throws: `ValidationError`.
  init(argument: String) throws {
    let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
    let folders = parts.last?.split(separator: ",", maxSplits: 1).map(String.init) ?? []
    guard parts.count == 2, folders.count == 2 else { throw ValidationError("'\(argument)' is not NAME=A,B") }
    try self.init(named: parts[0], from: folders[0], to: folders[1])
  }

  /// - Throws: `ValidationError` unless both are folders, and the name can stand in a table.
  init(named name: String, from: String, to: String) throws {
    guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || "-_. ".contains($0) }) else {
      throw ValidationError("'\(name)' is no name: letters, digits, '-', '_', '.' and spaces are")
    }
    for folder in [from, to] {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
        throw ValidationError("there is no folder '\(folder)'")
      }
    }
    self.init(name: name, from: Self.absolute(from), to: Self.absolute(to))
  }

  /// Programs run in folders of their own.
  private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
