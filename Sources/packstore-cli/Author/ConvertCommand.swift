public import ArgumentParser
import PackAuthoring
public import PackStore

struct Convert: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Convert a Steam depot build script to a manifest.",
    discussion: """
      Reads 'FileMapping', 'FileExclusion', 'ContentRoot' and 'DepotID' of a VDF file; from an app's script \
      ('AppBuild'), those of one depot. Content that a manifest cannot express is an error. A relative 'ContentRoot' \
      becomes 'sourceRoot': write the manifest to the folder of the script.

        packstore convert depot_build_1001.vdf -o Manifest.json \\
            --asset-pack-id Base --essential
      """
  )

  @Argument(help: "The script.", completion: .file(extensions: ["vdf"]))
  var script: String

  @OptionGroup var file: TextFileOptions

  @Option(
    help: .init("The pack's name (default: 'Depot-' and the depot's number).", valueName: "id"), transform: parsePackID)
  var assetPackID: PackID?

  @Option(
    help: .init("Number of the depot, if an app's script has several.", valueName: "number"))
  var depot: String?

  @Flag(help: "Install the pack together with the app.")
  var essential = false

  @Flag(help: "Download the pack in the background, beginning with the app's installation.")
  var prefetch = false

  @Flag(help: "Download the pack when the app requests it (the default).")
  var onDemand = false

  @Option(
    name: .customLong("installation-event-type"),
    help: .init(
      "With '--essential' and '--prefetch': firstInstallation or subsequentUpdate; repeatable (default: both).",
      valueName: "event"))
  var events: [InstallationEvent] = []

  @Option(
    name: .customLong("platform"),
    help: .init("Platform: iOS, macOS, tvOS or visionOS; repeatable (default: all).", valueName: "name"))
  var platforms: [Platform] = []

  @Option(
    name: .shortAndLong, help: .init("Language of the pack, as a BCP 47 tag.", valueName: "tag"),
    transform: parseLanguage)
  var language: LanguageTag?

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard [essential, prefetch, onDemand].count(where: \.self) < 2 else {
      throw ValidationError("--essential, --prefetch and --on-demand exclude each other")
    }
    guard essential || prefetch || events.isEmpty else {
      throw ValidationError("--installation-event-type needs '--essential' or '--prefetch'")
    }
  }

  func run() throws {
    let result = try DepotConversion(contentsOf: FilePath(script), options: options)
    if let manifest = result.manifest { try file.write(manifest, madeOf: script) }
    let output = Output()
    if report.json {
      try output.json(ConversionReport(result, path: file.written))
    } else if file.written == nil {
      try output.write((result.manifest ?? "").utf8)
    } else if let name = file.written, result.manifest != nil, report.isTalkative {
      try output.line("'\(escaped(name))' was written: \(formatCount(result.selectorCount, "selector"))")
    }
    try output.flush()
    if !report.json { show(result.problems, of: script, quiet: report.quiet) }
    try requireNoErrors(result.problems, "the script", script)
  }

  private var options: DepotConversion.Options {
    let events = Set(events.isEmpty ? InstallationEvent.all : events)
    let policy: DownloadPolicy =
      if essential { .essential(on: events) } else if prefetch { .prefetch(on: events) } else { .onDemand }
    return .init(
      assetPackID: assetPackID, downloadPolicy: policy, platforms: Set(platforms), language: language,
      depot: depot)
  }
}

extension InstallationEvent: ExpressibleByArgument {
  public init?(argument: String) {
    guard let event = Self.all.first(where: { $0.rawValue == argument }) else { return nil }
    self = event
  }
  public static var allValueStrings: [String] { all.map(\.rawValue) }
}

extension Platform: ExpressibleByArgument {
  public init?(argument: String) {
    guard let platform = Self.all.first(where: { $0.rawValue == argument }) else { return nil }
    self = platform
  }
  public static var allValueStrings: [String] { all.map(\.rawValue) }
}

private struct ConversionReport: Encodable {
  let pack: String?
  let selectors: Int
  let path, manifest: String?
  let problems: [ProblemReport]

  init(_ result: DepotConversion, path: String?) {
    pack = result.assetPackID?.name
    selectors = result.selectorCount
    self.path = result.manifest == nil ? nil : path
    manifest = path == nil ? result.manifest : nil
    problems = result.problems.map(ProblemReport.init)
  }
}
