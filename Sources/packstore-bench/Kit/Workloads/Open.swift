import ArgumentParser

struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open a store and find an asset: time, private memory.",
    discussion: "  packstore-bench open --counts 1000,1000000"
  )

  @OptionGroup var counts: AssetCounts
  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [Open(counts: counts.list(options))]) }
}

/// Measures the opening of a store.
struct Open: Workload {
  let title = "Opening"
  let counts: [Int]

  func measure(_ session: Session, _ report: (Comparison) -> Void) throws {
    for count in counts where session.hasTime("opening with \(grouped(count)) assets") {
      let dataSet = try session.dataSets.names(count)
      let paths = AssetPaths([dataSet.assets[count / 2].path])
      report(time(session, dataSet, paths))
      report(memory(session, dataSet, paths, reading: false))
      report(memory(session, dataSet, paths, reading: true))
    }
  }

  private func time(_ session: Session, _ dataSet: DataSet, _ paths: AssetPaths) -> Comparison {
    let opens = 20
    var comparison = Comparison(
      title: "Open, and find one asset",
      explanation: "\(opens) times in each repetition, with a warm page cache. Closing is not counted.",
      quantity: .timePerOperation, point: .init(series: "Open", axis: "assets", size: dataSet.assets.count))
    let forms = session.forms(of: dataSet, needing: [.open, .lookUp], &comparison)
    let turns = forms.map { form in
      Turn(name: form.contestant.name) {
        var readers: [any AssetReader] = []
        defer { for reader in readers { reader.close() } }
        return try Sample.each(Array(0..<opens)) { _ in
          let reader = try form.open(threadCount: 1)
          readers.append(reader)
          Sink.shared.take(try reader.lookUp(paths))
        }
      }
    }
    comparison.take(turns, session.repetitions)
    return comparison
  }

  private func memory(
    _ session: Session, _ dataSet: DataSet, _ paths: AssetPaths, reading: Bool
  ) -> Comparison {
    let title = reading ? "Private memory after one read" : "Private memory of an open store"
    var comparison = Comparison(
      title: title,
      explanation:
        "Growth of the process's anonymous pages from before opening until one asset was found"
        + "\(reading ? " and read" : ""). Mapped files are not included.",
      quantity: .held, point: .init(series: title, axis: "assets", size: dataSet.assets.count))
    let abilities: Abilities = reading ? [.open, .lookUp, .read] : [.open, .lookUp]
    let forms = session.forms(of: dataSet, needing: abilities, &comparison)
    let memory = Buffer(byteCount: dataSet.longest)
    let turns = forms.map { form in
      Turn(name: form.contestant.name) {
        let watch = Stopwatch()
        let heap = FilledHeap()
        defer { withExtendedLifetime(heap) {} }
        guard let before = ProcessMemory.anonymousByteCount() else {
          throw Unavailable("the system does not report private memory")
        }
        let reader = try form.open(threadCount: 1)
        defer { reader.close() }
        Sink.shared.take(try reader.lookUp(paths))
        if reading { Sink.shared.take(try reader.read(paths[0], into: memory.bytes)) }
        let after = ProcessMemory.anonymousByteCount() ?? before
        var sample = Sample(Timing(wall: watch.seconds, cpu: 0))
        sample.heldByteCount = max(after - before, 0)
        return sample
      }
    }
    comparison.take(turns, session.repetitions)
    return comparison
  }
}
