import ArgumentParser

/// Option for the maximum number of rows (chunks and extents) of a version.
struct RowOptions: ParsableArguments {
  @Option(
    help: .init(
      "Chunks and extents that a version may have, on top of 64 per KiB of its distinct pages (default: 4194304).",
      valueName: "n"))
  var maxRows: Int?

  func validate() throws {
    guard maxRows ?? 1 > 0 else { throw ValidationError("invalid --max-rows: use at least 1") }
  }
}
