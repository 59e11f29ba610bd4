import ArgumentParser

struct HashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash",
    abstract: "Compute SHA-256 by every implementation that this processor supports.",
    discussion: """
      Each implementation computes messages of several lengths, one message at a time and many at once, and mixed lengths \
      as those of chunks. The report contains the processor's name, whether it has instructions for SHA-256, and the \
      implementation that PackStore uses. Data options have no effect.

        packstore-bench hash --json hash.json
      """
  )

  @OptionGroup var options: BenchmarkOptions

  func run() throws { try BenchmarkRun.run(options, [Hash()]) }
}
