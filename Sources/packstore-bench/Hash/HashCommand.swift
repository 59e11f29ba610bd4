import ArgumentParser

struct HashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash",
    abstract: "Measure every supported implementation of SHA-256.",
    discussion: """
      Each implementation hashes messages of several lengths, one at a time and many at once, and mixed lengths like \
      those of chunks. The report contains the processor's name, whether it has instructions for SHA-256, and the \
      implementation that PackStore uses. Data options have no effect.

        packstore-bench hash --json hash.json
      """
  )

  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [Hash()]) }
}
