import ArgumentParser
import Foundation
import PackDelivery
import PackPublishing
import PackStore

struct Upload: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Upload an archive to packstore-host.",
    discussion: """
      Creates the next version of a pack from an archive of 'packstore export' or 'packstore package', or from an \
      Apple Archive. Sends only the ranges of a pack archive that the host lacks: archives from one store share the \
      data that did not change. If the command was interrupted, the same command continues.

        packstore upload City.pack --host https://packs.example.com --wait

      With --wait, fails if the host rejects the archive, with the reason.
      """)

  @Argument(help: "The archive.", completion: .file())
  var archive: String

  @Option(help: .init("Public base URL of the host.", valueName: "url"))
  var host: String

  @Option(help: .init("Bundle id of the app (default: the only app that the token permits).", valueName: "id"))
  var app: String?

  @Option(
    help: .init(
      "Identifier of the pack; created if it does not exist (default: the pack in the archive).", valueName: "name"))
  var pack: String?

  @Option(
    help: .init(
      "File with a token for build jobs, or - for standard input (default: the variable PACKSTORE_TOKEN).",
      valueName: "file"), completion: .file())
  var tokenFile: String?

  @Option(
    help: .init(
      "PEM file with the trusted certificates, in place of the system's; overrides SSL_CERT_FILE.", valueName: "file"),
    completion: .file())
  var ca: String?

  @Flag(help: "Wait until the host has processed the version.")
  var wait = false

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard !host.isEmpty else { throw ValidationError("--host needs a URL") }
    guard tokenFile?.isEmpty != true, ca?.isEmpty != true else {
      throw ValidationError("--token-file and --ca need the name of a file")
    }
  }

  var subject: Failure.Facts { .init(path: archive) }

  func run() async throws {
    #if Delivery
      var environment = ProcessInfo.processInfo.environment
      if let ca { environment["SSL_CERT_FILE"] = ca }
      let client = try HostClient(host, token: try token(environment), environment: environment)
      let result: HostUpload.Result
      do { result = try await upload(client) } catch {
        await client.close()
        throw error
      }
      await client.close()
      try write(result)
    #else
      throw DeliveryError(.noHTTP, "this program was built without HTTP", at: host)
    #endif
  }

  private func token(_ environment: [String: String]) throws -> String {
    let text = try tokenFile.map(readSecret) ?? environment["PACKSTORE_TOKEN"] ?? ""
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw Failure(
        .invalidArgument, "no valid token for the host",
        remedy: "create one with 'packstore-host token create', and pass it by '--token-file' or PACKSTORE_TOKEN")
    }
    return token
  }

  #if Delivery
    private func upload(_ client: HostClient) async throws -> HostUpload.Result {
      var options = HostUpload.Options()
      (options.app, options.pack, options.waits) = (app, pack, wait)
      let bar = ProgressBar(report.progressForm)
      defer { bar.finish() }
      return try await HostUpload(FilePath(archive), to: client, options: options).run { sent, total in
        bar.update(
          Progress(activity: "uploading", bytesDone: Int(clamping: sent), bytesTotal: Int(clamping: total)))
      }
    }

    private func write(_ result: HostUpload.Result) throws {
      let output = Output()
      if report.json {
        try output.json(UploadReport(result))
      } else if report.isTalkative {
        try output.line(
          """
          \(result.pack)@\(result.version)  \(result.state)  sent \(formatBytes(Int(clamping: result.sentByteCount))) of \
          \(formatBytes(Int(clamping: result.byteCount)))
          """)
      }
      try output.flush()
      guard result.state != "FAILED" else {
        throw Failure(
          .refused, "the host rejected the archive (\(escaped(result.errors.joined(separator: "; "))))",
          remedy: "correct the cause, and upload again", path: archive)
      }
    }
  #endif
}

#if Delivery
  private struct UploadReport: Encodable {
    let pack: String
    let version: UInt64
    let id, state: String
    let errors: [String]
    let bytes, sentBytes: UInt64

    init(_ result: HostUpload.Result) {
      (pack, version, id, state) = (result.pack, result.version, result.id, result.state)
      (errors, bytes, sentBytes) = (result.errors, result.byteCount, result.sentByteCount)
    }
  }
#endif
