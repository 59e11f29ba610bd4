import ArgumentParser
import PackAuthoring
import PackStore

struct Strip: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    abstract: "Copy a site without the data of its packs, to publish from a machine that has no room for it.",
    discussion: """
      The copy has all that publishing needs to know: catalogs, layouts, the tables of all segments, signed roots. 'publish', \
      'promote' and the other commands of publishers work on it as on the site; reading assets, deltas from versions that it \
      has no data of, and 'repair' do not. Copy what is new in it to the server, folder by folder as 'packstore publish' \
      says, and remove nothing there that the copy never had.

        packstore strip public/packs small
        packstore publish Packs small
        (cd small && rsync -a segments frames versions attributes deltas changes server:packs/ &&
         rsync -a roots server:packs/ && rsync -a root server:packs/)
      """
  )

  @Argument(help: "The site's folder.", completion: .directory)
  var site: String

  @Argument(help: "The folder of the copy, which is made.", completion: .directory)
  var copy: String

  @Flag(help: "Say how large the copy would be, and make none.")
  var dryRun = false

  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  func run() async throws {
    let result: Site.StripResult
    do {
      result = try await Site.strip(FilePath(site), to: FilePath(copy), isDryRun: dryRun)
    } catch let error as PackStoreError where error.code == .exists && error.file == copy {
      throw Failure(
        .exists, "'\(escaped(copy))' is there already, and not empty", remedy: "name another folder", path: copy)
    }
    let output = Output()
    if report.json {
      try output.json(StripReport(result, isDryRun: dryRun))
    } else if report.isTalkative {
      try output.lines([
        "'\(escaped(copy))' \(dryRun ? "would be" : "is") a copy of the site '\(escaped(site))' without its data",
        "  size      \(formatBytes(result.byteCount))",
        "  left out  \(formatBytes(result.remoteByteCount)) in \(formatCount(result.remoteSegmentCount, "segment"))",
      ])
    }
    try output.flush()
  }
}

private struct StripReport: Encodable {
  let dryRun: Bool
  let bytes, remoteBytes, remoteSegments: Int

  init(_ result: Site.StripResult, isDryRun: Bool) {
    dryRun = isDryRun
    bytes = result.byteCount
    remoteBytes = result.remoteByteCount
    remoteSegments = result.remoteSegmentCount
  }
}
