import ArgumentParser

struct LookUpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lookup",
    abstract: "Find assets by path without reading them.",
    discussion: """
      Each store contains as many assets as --counts lists; paths are looked up in random order, in PackStore through \
      C and through Swift. Finally, names chosen to make look-ups slow are compared with other names.

        packstore-bench lookup --counts 1000,100000
      """
  )

  @OptionGroup var counts: AssetCounts
  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [LookUp(counts: counts.list(options)), HostileNames(options)]) }
}

/// Measures look-ups of assets by path.
struct LookUp: Workload {
  let title = "Look-up"
  let counts: [Int]

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    for count in counts where session.hasTime("look-up among \(grouped(count)) assets") {
      report(try measure(session, count))
    }
  }

  private func measure(_ session: Session, _ count: Int) throws -> Comparison {
    let dataSet = try session.dataSets.names(count)
    let batchCount = session.options.quick ? 20_000 : 200_000
    var generator = SeededGenerator(seed: session.options.seed)
    let order = (0..<batchCount).map { _ in Int.random(in: 0..<count, using: &generator) }
    let paths = AssetPaths(order.map { dataSet.assets[$0].path })
    let expected = order.reduce(0) { $0 + dataSet.assets[$1].byteCount }

    var comparison = Comparison(
      title: "Look-up",
      explanation: "\(grouped(batchCount)) look-ups of a length by path, in random order. No asset is read.",
      quantity: .timePerOperation, point: .init(series: "Look-up", axis: "assets", size: count))
    let forms = session.forms(of: dataSet, needing: .lookUp, &comparison)
    let machine = LookUpLimit(count: count)
    let limit = Turn(name: "XXH3 and two dependent reads", isLimit: true) {
      Sample.of(operationCount: batchCount) {
        Sink.shared.take(machine.lookUp(paths))
        return 0
      }
    }
    comparison.limit = limit.name
    let turns = forms.map { form in
      Turn(name: form.contestant.name, check: { try check(form, paths, expected) }) {
        let reader = try form.open(threadCount: 1)
        defer { reader.close() }
        // The first look-up in a page also verifies the page; the workload `Open` measures this cost.
        _ = try reader.lookUp(paths)
        return try Sample.of(operationCount: batchCount) { try reader.lookUp(paths) }
      }
    }
    comparison.take(turns + [limit], session.repetitions)
    return comparison
  }

  private func check(_ form: Form, _ paths: AssetPaths, _ expected: Int) throws {
    let reader = try form.open(threadCount: 1)
    defer { reader.close() }
    guard try reader.lookUp(paths) == expected else { throw WrongBytes(path: "sum of lengths") }
  }
}

/// Option for the numbers of assets in the measured stores.
struct AssetCounts: ParsableArguments {
  @Option(
    help: .init(
      "Numbers of assets, separated by commas (default: 1000,100000,1000000; with --quick 1000,20000).",
      valueName: "list"))
  var counts: NumberList?

  func list(_ options: BenchmarkOptions) -> [Int] { counts?.numbers ?? Self.defaults(options) }

  static func defaults(_ options: BenchmarkOptions) -> [Int] {
    options.quick ? [1_000, 20_000] : [1_000, 100_000, 1_000_000]
  }
}

/// A list of positive numbers, such as `1000,100000`.
struct NumberList: ExpressibleByArgument {
  let numbers: [Int]

  init?(argument: String) {
    let numbers = argument.split(separator: ",").map { Int($0) ?? 0 }
    guard !numbers.isEmpty, numbers.allSatisfy({ $0 >= 1 }) else { return nil }
    self.numbers = numbers
  }
}
