#if Hosting
  import Foundation
  import PackStore
  import Testing

  @testable import PackHosting

  /// `Docs/HostingContract.md` lists exactly the operations of the route table, refusals that happen, and tests that exist.
  @Suite struct ContractTableTests {
    private struct Row {
      let method, path, answer: String
      let tests: [String]
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")

    private func rows() throws -> [Row] {
      let page = Self.root.appending(path: "Docs/HostingContract.md")
      return try String(contentsOf: page, encoding: .utf8).split(separator: "\n").compactMap { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 3, let match = cells[0].wholeMatch(of: /`([A-Z]+) (\/\S+)`/) else { return nil }
        return Row(
          method: String(match.1), path: String(match.2), answer: cells[1],
          tests: cells[2].matches(of: /`([A-Za-z0-9.]+)`/).map { String($0.1) })
      }
    }

    @Test func everyOperationHasARow() async throws {
      let host = try await TestHost()
      let routes = HostAPI(context: host.context, signer: host.signer).routes.map { "\($0.method.rawValue) \($0.path)" }
      let listed = try rows().filter { !$0.answer.hasPrefix("refused") }.map { "\($0.method) \($0.path)" }
      #expect(Set(listed) == Set(routes), "\(Set(listed).symmetricDifference(routes).sorted())")
      #expect(listed.count == routes.count, "an operation has two rows")
    }

    @Test func refusedOperationsAreRefused() async throws {
      let host = try await TestHost(), key = TestKey()
      try await key.register(in: host)
      let refused = try rows().filter { $0.answer.hasPrefix("refused") }
      #expect(refused.count > 20)
      try await TestServer.run(host, key) { server async throws in
        for row in refused {
          let fault = try #require(row.answer.firstMatch(of: /`([0-9]{3} [A-Z_.]+)`/)?.1)
          let answer = try await server.send(
            row.method, row.path.replacing("{id}", with: "1"), row.method == "GET" ? nil : "{}")
          #expect(answer.fault == String(fault), "\(row.method) \(row.path)")
        }
      }
    }

    @Test func namedTestsExist() throws {
      let folder = Self.root.appending(path: "Tests/PackHostingTests")
      let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      var text = ""
      for case let file as URL in files where file.pathExtension == "swift" {
        text += try String(contentsOf: file, encoding: .utf8)
      }
      for row in try rows() {
        #expect(!row.tests.isEmpty, "\(row.method) \(row.path)")
        for test in row.tests {
          let parts = test.split(separator: ".")
          #expect(text.contains("struct \(parts[0]) "), "\(test)")
          if parts.count == 2 { #expect(text.contains("func \(parts[1])("), "\(test)") }
        }
      }
    }
  }
#endif
