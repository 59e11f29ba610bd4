import ArgumentParser
import PackAuthoring
import PackPublishing
import PackStore

struct Strip: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "strip",
    abstract: "Copy a site without the data of its packs.",
    discussion: """
      A stripped copy lets a machine without space for the site publish to it. The copy contains catalogs, layouts, \
      the tables of all segments, and signed roots. 'packstore publish', 'packstore promote' and other commands for \
      publishers accept it. Reading assets, 'packstore repair', and deltas from versions without data do not work. \
      Upload the new files in the order that 'packstore publish --help' describes, and do not delete files on the \
      server that the copy never had.

        packstore site strip public/packs small
        packstore publish Packs small
        (cd small &&
         rsync -a segments frames versions attributes deltas changes server:packs/ &&
         rsync -a history server:packs/ &&
         rsync -a roots server:packs/ && rsync -a root server:packs/)
      """,
    // 'packstore site' describes it; the earlier name without 'site' still works.
    shouldDisplay: false
  )

  @Argument(help: "The site's folder.", completion: .directory)
  var site: String

  @Argument(help: "The new folder for the copy.", completion: .directory)
  var copy: String

  @Flag(help: "Report the size of the copy without creating it.")
  var dryRun = false

  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  func run() async throws {
    let result: Site.StripResult
    do {
      result = try await Site.strip(FilePath(site), to: FilePath(copy), isDryRun: dryRun)
    } catch let error as PackStoreError where error.code == .exists && error.subject == .folder(copy) {
      throw Failure(
        .exists, "'\(escaped(copy))': exists and is not empty", remedy: "name another folder", path: copy)
    }
    let output = Output()
    if report.json {
      try output.json(DryRunReport(result, isDryRun: dryRun))
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
