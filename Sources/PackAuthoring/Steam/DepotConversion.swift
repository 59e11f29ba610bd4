public import PackStore

/// The conversion of a Steam depot build script, or of a depot in an app build script, into a manifest.
public struct DepotConversion: Sendable {
  /// Settings that the script does not contain.
  public struct Options: Sendable {
    /// The pack's name; `nil` for `Depot-` and the depot's number.
    public var assetPackID: PackID?
    public var downloadPolicy: DownloadPolicy
    public var platforms: Set<Platform>
    public var language: LanguageTag?

    /// The number of the depot, for an app script with several depots; `nil` for the only depot.
    public var depot: String?

    public init(
      assetPackID: PackID? = nil, downloadPolicy: DownloadPolicy = .onDemand, platforms: Set<Platform> = [],
      language: LanguageTag? = nil, depot: String? = nil
    ) {
      self.depot = depot
      self.assetPackID = assetPackID
      self.downloadPolicy = downloadPolicy
      self.platforms = platforms
      self.language = language
    }
  }

  /// The text of the manifest; `nil` if a manifest cannot express a part of the script.
  public let manifest: String?

  /// The name of the pack.
  public let assetPackID: PackID?
  public let selectorCount: Int

  /// The problems, in the order of the script.
  public let problems: [ManifestProblem]

  /// The maximum size of a script in bytes.
  public static let byteCountLimit = 1 << 20

  /// - Throws: `notFound`, `wrongKind` or `ioError` if the script cannot be read, `refused` if it is longer than
  ///   ``byteCountLimit``; faults in the script are part of the result.
  public init(contentsOf path: FilePath, options: Options = .init()) throws {
    let file = try InputFile(path)
    guard try file.byteCount <= UInt64(Self.byteCountLimit) else {
      throw PackStoreError(.refused, "has more than 1 MiB", file: path.string)
    }
    self.init(try file.contents(limit: Self.byteCountLimit), options: options)
  }

  init(_ text: [UInt8], options: Options = .init()) {
    var reader = DepotReader()
    reader.read(text, depot: options.depot)
    let id = options.assetPackID ?? reader.depotID.flatMap { try? PackID(validating: "Depot-\($0)") }
    if id == nil, !reader.problems.hasErrors {
      reader.problems.error(
        .init(offset: 0, line: 1, column: 1), "the script lacks 'DepotID', so the pack has no name",
        remedy: "set the pack's name")
    }
    let text = reader.problems.hasErrors ? nil : id.map { Self.text($0, reader, options) }
    // Reports faults of the manifest as faults of the script, for example a name that is too long.
    for problem in text.map({ ManifestReader.read(Array($0.utf8)).problems.sorted }) ?? []
    where problem.severity == .error {
      reader.problems.error(
        .init(offset: 0, line: 1, column: 1), "the manifest would be wrong: \(problem.message)", remedy: problem.remedy)
    }
    assetPackID = id
    selectorCount = reader.selectors.count
    problems = reader.problems.sorted
    manifest = reader.problems.hasErrors ? nil : text
  }

  private static func text(_ id: PackID, _ reader: DepotReader, _ options: Options) -> String {
    func json(_ text: String) -> String { String(decoding: canonicalJSON(text), as: UTF8.self) }
    let events = options.downloadPolicy.events.sorted().map { json($0.rawValue) }.joined(separator: ", ")
    let policy = options.downloadPolicy == .onDemand ? "{}" : #"{ "installationEventTypes": [\#(events)] }"#
    let selectors = reader.selectors.map { selector in
      "    { " + selector.map { "\(json($0.key)): \(json($0.value))" }.joined(separator: ", ") + " }"
    }
    var members = [
      #""assetPackID": \#(json(id.name))"#, #""downloadPolicy": { "\#(options.downloadPolicy.name)": \#(policy) }"#,
      "\"fileSelectors\": [\n\(selectors.joined(separator: ",\n"))\n  ]",
      #""platforms": [\#(options.platforms.sorted().map { json($0.rawValue) }.joined(separator: ", "))]"#,
    ]
    if let root = reader.sourceRoot { members.append(#""sourceRoot": \#(json(root))"#) }
    if let language = options.language { members.append(#""language": \#(json(language.text))"#) }
    return "{\n" + members.map { "  \($0)" }.joined(separator: ",\n") + "\n}\n"
  }
}
