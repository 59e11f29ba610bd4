import PackStore

/// Parses a manifest and reports all faults.
struct ManifestReader {
  private let document: JSONDocument
  private var reading = ManifestReading()

  private var assetPackID: PackID?
  private var downloadPolicy: DownloadPolicy?
  private var language: LanguageTag?
  private var userInfo: UserInfo?
  private var extras = Extras()

  /// The members of `packstore`.
  private struct Extras {
    var placement = Placement.durable
    var priority: Int32 = 0
    var level: Int32?
    var layout: Store.InstallOptions.Layout?
    var appVersions: AppVersionRange?
    var label: VersionLabel?
    var note: VersionNote?
  }

  private static let keys = [
    "assetPackID", "downloadPolicy", "fileSelectors", "platforms", "sourceRoot", "language", "userInfo", "packstore",
  ]
  /// Members of Apple's archives that have no meaning here.
  private static let ignoredKeys = ["toolsVersion"]
  private static let extraKeys = ["placement", "priority", "map", "level", "layout", "appVersions", "label", "note"]

  static func read(_ text: [UInt8]) -> ManifestReading {
    var reader = Self(document: JSONReader.read(text, options: .init(allowsComments: true)))
    reader.read()
    return reader.reading
  }

  private init(document: JSONDocument) { self.document = document }

  private mutating func read() {
    for fault in document.faults { reading.problems.error(fault.position, fault.finding, remedy: fault.remedy) }
    guard let root = document.root else { return }
    guard let members = root.object else {
      return reading.problems.error(
        root.position, "a manifest must be an object, not \(root.kind)", remedy: "'packstore template' prints one")
    }
    for member in members { take(member) }
    for key in ["assetPackID", "downloadPolicy", "fileSelectors"] where !members.contains(where: { $0.name == key }) {
      reading.problems.error(root.position, "'\(key)' is missing", remedy: "add it; 'packstore template' shows how")
    }
    finish(root)
  }

  private mutating func take(_ member: JSONMember) {
    let value = member.value
    switch member.name {
    case "assetPackID": readID(value)
    case "downloadPolicy": readPolicy(value)
    case "fileSelectors":
      var reader = FileSelectorReader(problems: reading.problems)
      reader.read(value)
      (reading.selectors, reading.problems) = (reader.selectors, reader.problems)
    case "platforms": readPlatforms(value)
    case "sourceRoot": readSourceRoot(value)
    case "language": readLanguage(value)
    case "userInfo": readUserInfo(value)
    case "packstore": readExtras(value)
    default:
      if !Self.ignoredKeys.contains(member.name) { reportUnknown(member) }
    }
  }

  private mutating func reportUnknown(_ member: JSONMember) {
    let message = "unknown key '\(member.name)'"
    if Self.extraKeys.contains(member.name) {
      reading.problems.error(member.position, message, remedy: #"move it into the object of "packstore""#)
    } else if DownloadPolicy.names.contains(member.name) || member.name == "installationEventTypes" {
      reading.problems.error(member.position, message, remedy: #"move it into the object of "downloadPolicy""#)
    } else if FileSelectorReader.keys.contains(member.name) {
      reading.problems.error(member.position, message, remedy: #"move it into an object of the list "fileSelectors""#)
    } else {
      reportUnknown(member, message, among: Self.keys)
    }
  }

  private mutating func reportUnknown(_ member: JSONMember, _ message: String, among keys: [String]) {
    let nearest = nearestNames(to: member.name, among: keys)
    reading.problems.error(
      member.position, message, remedy: nearest.isEmpty ? "remove it" : nil, suggestions: nearest)
  }

  /// Creates the manifest if no errors were found.
  private mutating func finish(_ root: JSONValue) {
    guard !reading.problems.hasErrors, let assetPackID, let downloadPolicy else { return }
    do {
      let attributes = try Attributes(
        downloadPolicy: downloadPolicy, platforms: reading.platforms, language: language, userInfo: userInfo,
        placement: extras.placement, priority: extras.priority, mappedPaths: reading.mappedPaths.map(\.pattern.text),
        appVersions: extras.appVersions, label: extras.label)
      reading.manifest = Manifest(
        assetPackID: assetPackID, attributes: attributes, fileSelectors: reading.selectors,
        sourceRoot: reading.sourceRoot, level: extras.level, layout: extras.layout, note: extras.note)
    } catch {
      report(error, root)
    }
  }

  // MARK: - Values

  private mutating func report(_ error: any Error, _ value: JSONValue) {
    let error = error as? PackStoreError
    reading.problems.error(value.position, error?.finding ?? "invalid value", remedy: error?.specificRemedy)
  }

  /// Returns the value's content if it has the right type.
  private mutating func expect<Content>(
    _ content: Content?, _ value: JSONValue, _ name: String, _ kind: String, remedy: String? = nil
  ) -> Content? {
    if content == nil {
      reading.problems.error(value.position, "'\(name)' must be \(kind), not \(value.kind)", remedy: remedy)
    }
    return content
  }

  /// Returns a text that is not a placeholder.
  private mutating func text(_ value: JSONValue, _ name: String) -> String? {
    guard let text = expect(value.string, value, name, "a string") else { return nil }
    guard !isPlaceholder(text) else {
      reading.problems.error(
        value.position, "'\(text)' is a placeholder", remedy: "replace it with your \(name)")
      return nil
    }
    return text
  }

  /// Returns the texts of a list, each with its value. A duplicate is a warning.
  private mutating func texts(_ value: JSONValue, _ name: String) -> [(text: String, value: JSONValue)] {
    guard let items = expect(value.array, value, name, "a list") else { return [] }
    var seen: Set<ExactText> = []
    var texts: [(String, JSONValue)] = []
    for item in items {
      guard let text = expect(item.string, item, "an entry of \(name)", "a string") else { continue }
      if seen.insert(ExactText(text)).inserted {
        texts.append((text, item))
      } else {
        reading.problems.warn(item.position, "'\(text)' is in '\(name)' twice", remedy: "keep one of them")
      }
    }
    return texts
  }

  // MARK: - Apple's keys

  private mutating func readID(_ value: JSONValue) {
    guard let name = text(value, "assetPackID") else { return }
    do {
      assetPackID = try PackID(validating: name)
      if name.utf8.contains(where: { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") }) {
        reading.problems.warn(
          value.position, "App Store Connect does not accept '_' and '.' in the name of a pack",
          remedy: "for App Store Connect, use letters, digits and hyphens")
      }
    } catch {
      let error = error as? PackStoreError
      reading.problems.error(
        value.position, "'\(name.prefix(200))': invalid name of a pack", remedy: error?.specificRemedy)
    }
  }

  private mutating func readPolicy(_ value: JSONValue) {
    let remedy = #"write { "onDemand": {} }, or another policy in place of onDemand"#
    guard let members = expect(value.object, value, "downloadPolicy", "an object", remedy: remedy) else { return }
    for member in members where !DownloadPolicy.names.contains(member.name) {
      let nearest = nearestNames(to: member.name, among: DownloadPolicy.names)
      reading.problems.error(
        member.position, "unknown download policy '\(member.name)'",
        remedy: nearest.isEmpty ? "use essential, prefetch or onDemand" : nil, suggestions: nearest)
    }
    let policies = members.filter { DownloadPolicy.names.contains($0.name) }
    if members.isEmpty {
      reading.problems.error(
        value.position, "'downloadPolicy' is empty", remedy: "use essential, prefetch or onDemand")
    }
    for member in policies.dropFirst() {
      reading.problems.error(member.position, "a second download policy", remedy: "keep one of them")
    }
    guard let policy = policies.first else { return }
    if policy.name == "onDemand" {
      readOnDemand(policy.value)
    } else if let events = readEvents(policy) {
      downloadPolicy = policy.name == "essential" ? .essential(on: events) : .prefetch(on: events)
    }
  }

  private mutating func readOnDemand(_ value: JSONValue) {
    guard let members = expect(value.object, value, "onDemand", "an empty object", remedy: "write {}") else { return }
    if let member = members.first {
      reading.problems.error(
        member.position, "'onDemand' must be an empty object",
        remedy: "remove '\(member.name)', or use another policy")
    }
    downloadPolicy = .onDemand
  }

  private mutating func readEvents(_ policy: JSONMember) -> Set<InstallationEvent>? {
    let key = "installationEventTypes"
    let remedy = #"write { "installationEventTypes": [ "firstInstallation", "subsequentUpdate" ] }"#
    guard let members = expect(policy.value.object, policy.value, policy.name, "an object", remedy: remedy) else {
      return nil
    }
    for member in members where member.name != key {
      reportUnknown(member, "unknown key '\(member.name)' in '\(policy.name)'", among: [key])
    }
    guard let list = members.first(where: { $0.name == key })?.value else {
      reading.problems.error(policy.value.position, "'\(policy.name)' lacks '\(key)'", remedy: remedy)
      return nil
    }
    let names = texts(list, key)
    if list.array?.isEmpty == true {
      reading.problems.error(
        list.position, "'\(key)' is empty", remedy: "add firstInstallation or subsequentUpdate, or use onDemand"
      )
    }
    var events: Set<InstallationEvent> = []
    for (name, value) in names {
      if let event = InstallationEvent.all.first(where: { $0.rawValue == name }) {
        events.insert(event)
      } else {
        let nearest = nearestNames(to: name, among: InstallationEvent.all.map(\.rawValue))
        reading.problems.error(
          value.position, "unknown installation event '\(name)'",
          remedy: nearest.isEmpty ? "use firstInstallation or subsequentUpdate" : nil, suggestions: nearest)
      }
    }
    return events.isEmpty ? nil : events
  }

  private mutating func readPlatforms(_ value: JSONValue) {
    for (name, value) in texts(value, "platforms") {
      if let platform = Platform.all.first(where: { $0.rawValue == name }) {
        reading.platforms.insert(platform)
        continue
      }
      let message = "unknown platform '\(name)'"
      switch name.lowercased() {
      case "ipados": reading.problems.error(value.position, message, remedy: "use iOS for iPads", suggestions: ["iOS"])
      case "watchos": reading.problems.error(value.position, message, remedy: "remove it: watches do not support packs")
      default:
        let nearest = nearestNames(to: name, among: Platform.all.map(\.rawValue))
        reading.problems.error(
          value.position, message,
          remedy: nearest.isEmpty ? "use iOS, macOS, tvOS or visionOS, or an empty list for all" : nil,
          suggestions: nearest)
      }
    }
  }

  private mutating func readSourceRoot(_ value: JSONValue) {
    guard let path = text(value, "sourceRoot") else { return }
    let fault: String? =
      if path.isEmpty { "'sourceRoot' is empty" } else if isAbsolutePath(path) {
        "'sourceRoot' is an absolute path"
      } else if path.utf8.contains(0) { "'sourceRoot' contains a NUL" } else { nil }
    if let fault {
      return reading.problems.error(value.position, fault, remedy: "write it relative to the folder of the manifest")
    }
    reading.sourceRoot = path
    reading.sourceRootPosition = value.position
  }

  private mutating func readLanguage(_ value: JSONValue) {
    guard let tag = text(value, "language") else { return }
    do { language = try LanguageTag(tag) } catch { report(error, value) }
  }

  private mutating func readUserInfo(_ value: JSONValue) {
    if case .null = value.content { return }
    do { userInfo = try UserInfo(value, in: document) } catch { report(error, value) }
  }

  // MARK: - Our keys

  private mutating func readExtras(_ value: JSONValue) {
    for member in expect(value.object, value, "packstore", "an object") ?? [] {
      let value = member.value
      switch member.name {
      case "placement": extras.placement = choice(value, "placement", Placement.allCases) ?? .durable
      case "layout": extras.layout = choice(value, "layout", Store.InstallOptions.Layout.allCases)
      case "priority":
        extras.priority = expect(value.integer(), value, "priority", "an integer from -2147483648 to 2147483647") ?? 0
      case "level":
        guard let level = value.integer(Int32.self), Store.CompressionLevel.exists(level) else {
          reading.problems.error(
            value.position, "'level' must be an integer \(Store.CompressionLevel.range)",
            remedy: "1 is fast, 22 is small, -7 is fast to read")
          continue
        }
        extras.level = level
      case "map": readMap(value)
      case "label":
        guard let label = text(value, "label") else { continue }
        do { extras.label = try VersionLabel(label) } catch { report(error, value) }
      case "note":
        guard let note = text(value, "note") else { continue }
        do { extras.note = try VersionNote(note) } catch { report(error, value) }
      case "appVersions":
        guard let range = text(value, "appVersions") else { continue }
        do { extras.appVersions = try AppVersionRange(range) } catch { report(error, value) }
      default:
        let message = "unknown key '\(member.name)' in 'packstore'"
        if Self.keys.contains(member.name) {
          reading.problems.error(member.position, message, remedy: "move it next to 'packstore', not into it")
        } else {
          reportUnknown(member, message, among: Self.extraKeys)
        }
      }
    }
  }

  private mutating func choice<Choice: RawRepresentable<String>>(
    _ value: JSONValue, _ name: String, _ choices: [Choice]
  ) -> Choice? {
    guard let text = text(value, name) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let names = choices.map(\.rawValue), nearest = nearestNames(to: text, among: names)
    reading.problems.error(
      value.position, "unknown \(name) '\(text)'",
      remedy: nearest.isEmpty ? "use \(names.joined(separator: " or "))" : nil,
      suggestions: nearest)
    return nil
  }

  private mutating func readMap(_ value: JSONValue) {
    for (text, value) in texts(value, "map") {
      do { reading.mappedPaths.append((try PathPattern(text), value.position)) } catch { report(error, value) }
    }
  }
}

/// Whether a text is a placeholder of the template, such as `[Path to File]`.
func isPlaceholder(_ text: String) -> Bool {
  text == "[Asset-Pack ID]" || text.wholeMatch(of: /\[Path (to|Pattern)[A-Za-z -]*\]/) != nil
}
