import ArgumentParser
import PackDelivery
import PackPublishing
import PackStore

struct CheckBucket: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "check-bucket",
    abstract: "Check whether object storage can host a site.",
    discussion: """
      Tests the operations that publishing needs, with small temporary objects below the ledger's prefix: conditional \
      writes, also by several writers at once, reads of written data, and checksums. If an operation is missing, \
      reports the safe alternative.

        packstore check-bucket s3://assets/packs --region eu-central-1
        packstore check-bucket s3://assets/packs \\
            --endpoint https://storage.example.com
      """
  )

  @Argument(help: "Location of the site, which need not exist: s3://bucket/prefix.")
  var site: String

  @OptionGroup var storage: StorageOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  func run() async throws {
    let location = try S3Location(site)
    #if Delivery
      let result = try await BucketCheck(location, options: try storage.options()).run()
      let output = Output()
      if report.json {
        try output.json(CheckReport(result))
      } else if report.isTalkative {
        try output.lines(lines(result))
      }
      try output.flush()
      guard result.isSafe else {
        throw Failure(
          .refused, "the storage lacks a function that publishing needs",
          remedy: result.findings.first { $0.isFailed }?.consequence,
          path: site)
      }
    #else
      throw DeliveryError(.noHTTP, "this program was built without HTTP", at: location.description)
    #endif
  }

  private func lines(_ result: BucketCheck.Result) -> [String] {
    result.findings.flatMap { finding in
      guard let fault = finding.fault else { return ["works    \(finding.subject)"] }
      return [
        "\(finding.isNeeded ? "FAILS  " : "missing")  \(finding.subject): \(fault)",
        "         instead: \(finding.consequence)",
      ]
    } + [result.isSafe ? "sites can be published there" : "sites cannot be published there"]
  }
}

extension BucketCheck.Finding {
  fileprivate var isFailed: Bool { fault != nil && isNeeded }
}

private struct CheckReport: Encodable {
  struct Finding: Encodable {
    let check: String
    let works, needed: Bool
    let fault: String?
    let instead: String
  }

  let location: String
  let safe: Bool
  let checks: [Finding]

  init(_ result: BucketCheck.Result) {
    location = result.location
    safe = result.isSafe
    checks = result.findings.map {
      Finding(
        check: $0.subject, works: $0.fault == nil, needed: $0.isNeeded, fault: $0.fault, instead: $0.consequence)
    }
  }
}
