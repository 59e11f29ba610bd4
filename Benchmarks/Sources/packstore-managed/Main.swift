import ArgumentParser
import Foundation

/// Times calls of the managed client, compared with the same question to a plain store.
@main struct ManagedCalls: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore-managed",
    abstract: "Time calls of the managed client, compared with plain stores.",
    discussion: """
      Publishes packs to sites in a folder, fetches them, and then times each call and the same question asked of the store, in \
      turns: a round has a batch of each. Nothing is fetched meanwhile. Prints JSON with the seconds of a call in each batch.
      """)

  @Option(help: "A folder for all that is made; it is left there.") var folder: String
  @Option(help: "Rounds of all calls.") var rounds = 15
  @Option(help: "Packs of the site whose manifest is read.") var packs = 1000
  @Option(help: "Assets of each of the two queried packs.") var assets = 500

  func validate() throws {
    guard rounds > 0, packs > 0, assets > 0 else { throw ValidationError("--rounds, --packs and --assets begin at 1") }
  }

  func run() async throws {
    let bench = try await Scene(folder: folder, packCount: packs, assetCount: assets)
    var samples = [[Double]](repeating: [], count: bench.calls.count)
    for round in 0..<rounds {
      for index in bench.calls.indices {
        // Another one begins in each round.
        let index = (index + round) % bench.calls.count
        samples[index].append(try await bench.calls[index].measure())
      }
    }
    let report = Report(
      packs: packs, assets: assets,
      calls: zip(bench.calls, samples).map {
        Report.Call(name: $0.name, question: $0.question, limit: $0.limit, seconds: $1)
      })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    print(String(decoding: try encoder.encode(report), as: UTF8.self))
  }
}

private struct Report: Encodable {
  struct Call: Encodable {
    let name: String
    let question: String
    /// In seconds; none for a plain store.
    let limit: Double?
    let seconds: [Double]
  }

  let packs: Int
  let assets: Int
  let calls: [Call]
}
