import ArgumentParser
import PackDelivery
import PackPublishing
import PackStore

/// The options of `verify` for a bucket or a site on a web server.
struct SiteVerificationOptions: ParsableArguments {
  @Option(
    help: .init("File with the paths that were found intact, to continue from.", valueName: "file"),
    completion: .file())
  var record: String?

  @Option(help: .downloadRate, transform: parseByteCount)
  var limitRate: Int?

  @OptionGroup var place: SitePlaceOptions

  /// - Throws: `ValidationError` for options that stores do not have.
  func requireNone() throws {
    guard record == nil, limitRate == nil, place.channel.isEmpty else {
      throw ValidationError("--record, --limit-rate and --channel are for buckets and web servers")
    }
  }

  func verify(_ site: String, isDeep: Bool, _ report: ReportOptions) async throws {
    guard isDeep || (record == nil && limitRate == nil) else {
      throw ValidationError("--record and --limit-rate need --deep")
    }
    var options = SiteVerification.Options()
    options.isDeep = isDeep
    options.byteRateLimit = limitRate
    options.record = record.map { FilePath($0) }
    let place = try place.place(of: site), bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let outcome: Result<SiteVerification.Result, any Error>
    do {
      outcome = .success(
        try await SiteVerification(place, options: options).run { done, _ in
          bar.update(Progress(activity: "verifying", filesDone: done))
        })
    } catch { outcome = .failure(error) }
    await place.close()
    let result = try outcome.get()
    bar.finish()
    try show(result, report)
    guard result.isSound else {
      throw Failure(
        .siteCorrupt, "'\(escaped(withoutSecrets(site)))': files are missing or damaged",
        remedy: "restore them from a backup or a mirror, or publish the versions again", path: withoutSecrets(site))
    }
  }

  private func show(_ result: SiteVerification.Result, _ report: ReportOptions) throws {
    for channel in result.damagedChannels { complain("the root of \(channel): damaged") }
    for fault in result.faults { complain("\(escaped(fault.path)): \(fault.kind.words)") }
    let output = Output()
    if report.json {
      try output.json(VerifyReport(result))
    } else if report.isTalkative {
      let skipped = result.skippedCount == 0 ? "" : ", \(result.skippedCount) of them by the record"
      try output.line(
        "\(formatCount(result.faults.count + result.damagedChannels.count, "fault")) in"
          + " \(formatCount(result.fileCount, "file"))\(skipped): \(formatBytes(Int(clamping: result.readByteCount))) read"
      )
    }
    try output.flush()
  }
}
