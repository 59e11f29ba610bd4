import Foundation
import Testing

/// `Docs/Features.md` and `Docs/TUF.md` name a test for each row: all of them exist.
@Suite struct FeaturesPageTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The functions of each suite.
  private static let suites: [String: Set<String>] = {
    var suites: [String: Set<String>] = [:]
    let tests = root.appendingPathComponent("Tests").path
    for name in FileManager.default.enumerator(atPath: tests)?.compactMap({ $0 as? String }) ?? []
    where name.hasSuffix(".swift") {
      guard let text = try? String(contentsOfFile: "\(tests)/\(name)", encoding: .utf8) else { continue }
      let functions = text.matches(of: /func (\w+)/).map { String($0.1) }
      for suite in text.matches(of: /(?:struct|class|extension) (\w+Tests)\b/) {
        suites[String(suite.1), default: []].formUnion(functions)
      }
    }
    return suites
  }()

  private static func rows(_ name: String = "Features.md") throws -> [(id: String, evidence: String)] {
    let page = try String(contentsOf: root.appendingPathComponent("Docs/\(name)"), encoding: .utf8)
    return page.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return (cells.first ?? "", cells.last ?? "")
    }
  }

  @Test func everyTestExists() throws {
    var count = 0
    for (id, evidence) in try Self.rows() + Self.rows("TUF.md") {
      var suite = ""
      for name in evidence.matches(of: /`([^`]+)`/).map({ String($0.1) }) {
        if let whole = name.wholeMatch(of: /(\w+Tests)(?:\.(\w+))?/) {
          suite = String(whole.1)
          #expect(Self.suites[suite] != nil, "\(id): \(name)")
          if let test = whole.2 { #expect(Self.suites[suite]?.contains(String(test)) == true, "\(id): \(name)") }
          count += 1
        } else if !suite.isEmpty, name.wholeMatch(of: /[a-z]\w+/) != nil {
          #expect(Self.suites[suite]?.contains(name) == true, "\(id): \(suite).\(name)")
        }
      }
    }
    #expect(count > 60)
  }

  /// All rows of Apple's system and of the additions.
  @Test func everyRowIsThere() throws {
    let ids = Set(try Self.rows().map(\.id))
    let parts = [("A", 10), ("S", 3), ("H", 5), ("C", 16), ("U", 4), ("X", 11)]
    for (part, count) in parts {
      for number in 1...count { #expect(ids.contains("\(part)\(number)"), "\(part)\(number)") }
    }
  }
}
