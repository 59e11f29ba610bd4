import BenchmarkKit

/// Measures PackStore beside plain files. `Benchmarks/Peers` has the same commands with more contestants.
@main
enum Main {
  static func main() { Benchmark.main() }
}
