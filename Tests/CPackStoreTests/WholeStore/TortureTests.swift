import Foundation
import Testing

extension Core {
  /// The real kernel: `packstore-torture` starts processes that write and read, and kills them. `make torture` runs it at
  /// length.
  @Suite struct TortureTests {
    /// A process that commits is killed at each of its calls, and within its writes; what it left is whole, and the next
    /// commit leaves nothing behind.
    @Test func killsAtEveryCall() throws {
      let report = try Self.torture("kills", "--recoveries", "0")
      let kills = try #require(report["kills"] as? Int), old = try #require(report["old"] as? Int)
      let new = try #require(report["new"] as? Int)
      let scenarios = try #require(report["scenarios"] as? [[String: Any]])
      #expect(old + new == kills)
      #expect(old > 0 && new > 0)
      #expect(scenarios.count == 7)
      for scenario in scenarios {
        let calls = try #require(scenario["calls"] as? Int), killed = try #require(scenario["kills"] as? Int)
        #expect(calls > 40 && killed > calls, "\(scenario)")
      }
    }

    /// The commit that follows a kill is killed at each of its calls as well, and another one follows that.
    @Test func killsAtEveryCallOfARecovery() throws {
      let report = try Self.torture("kills", "--scenario", "first-add", "--recoveries", "2")
      let scenarios = try #require(report["scenarios"] as? [[String: Any]])
      #expect(try #require(scenarios.first?["recoveryKills"] as? Int) > 100)
    }

    /// One process swaps versions, eight read, all are killed at random: no reader sees a wrong byte, a mixture, a file that is
    /// gone or a signal, and nothing is left over at the end.
    @Test func stormOfProcesses() throws {
      let report = try Self.torture("storm", "--swaps", "300", "--seconds", "60")
      for figure in ["wrong", "missingFiles", "signals", "leftovers", "unplanned"] {
        #expect(report[figure] as? Int == 0, "\(figure)")
      }
      for figure in ["swaps", "durableSwaps", "snapshots", "reads", "readerKills"] {
        #expect(try #require(report[figure] as? Int) > 0, "\(figure)")
      }
    }

    /// Runs the program to its end, which must be a good one, and returns its report.
    private static func torture(_ arguments: String...) throws -> [String: Any] {
      let process = Process(), output = Pipe(), errors = Pipe()
      process.executableURL = program
      process.arguments = arguments + ["--seed", "\(Campaign.seed)", "--json"]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = errors
      try process.run()
      let report = try output.fileHandleForReading.readToEnd() ?? Data()
      let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      try #require(process.terminationReason == .exit && process.terminationStatus == 0, "\(arguments): \(said)")
      return try #require(JSONSerialization.jsonObject(with: report) as? [String: Any])
    }

    /// Built with the tests, beside them.
    private static let program: URL = {
      #if os(macOS)
        let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }!.bundleURL
      #else
        let tests = URL(filePath: CommandLine.arguments[0])
      #endif
      return tests.deletingLastPathComponent().appending(path: "packstore-torture")
    }()
  }
}
