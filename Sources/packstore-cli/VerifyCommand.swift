import ArgumentParser
import PackStore

struct Verify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check a store for damage.",
    discussion: """
      Reads every file of the store and compares checksums. Faults are errors: the exit status is 1.

        packstore verify Packs --deep
      """
  )

  @OptionGroup var store: StoreArgument

  @Flag(help: "Also decompress everything and compare the SHA-256 of every chunk. Slower.")
  var deep = false

  @OptionGroup var report: ReportOptions

  func run() async throws {
    let store = try store.openForReading()
    let bar = ProgressBar(enabled: report.isTalkative)
    defer { bar.finish() }
    let result = try await store.verify(deep: deep) {
      bar.update(Progress(activity: "verifying", bytesDone: $0.byteCount, bytesTotal: $0.totalByteCount))
    }

    bar.finish()
    if !report.json {
      for fault in result.faults { complain(escaped(fault.finding)) }
    }
    let output = Output()
    if report.json {
      try output.json(VerifyReport(result))
    } else if report.isTalkative {
      try output.line(summary(result))
    }
    try output.flush()
    if !result.isSound { throw ExitCode.failure }
  }

  private func summary(_ result: VerifyResult) -> String {
    let faults = result.isSound ? "no faults" : formatCount(result.faultCount, "fault")
    let chunks = deep ? ", \(formatCount(result.chunkCount, "chunk"))" : ""
    return "\(faults) in \(formatCount(result.fileCount, "file")), \(formatCount(result.frameCount, "frame"))\(chunks):"
      + " \(formatBytes(result.byteCount)) checked"
  }
}

private struct VerifyReport: Encodable {
  struct Fault: Encodable {
    let code, reason: String
    let file: String?
    let offset: UInt64?
  }

  let sound: Bool
  let files, frames, chunks, bytes, faultCount: Int
  let faults: [Fault]

  init(_ result: VerifyResult) {
    sound = result.isSound
    files = result.fileCount
    frames = result.frameCount
    chunks = result.chunkCount
    bytes = result.byteCount
    faultCount = result.faultCount
    faults = result.faults.map { Fault(code: $0.code.description, reason: $0.reason, file: $0.file, offset: $0.offset) }
  }
}
