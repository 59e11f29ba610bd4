extension ManagedConfiguration {
  /// The size limit of a property list, in bytes.
  public static let byteCountLimit = 65_536

  /// Parses a property list.
  ///
  /// - Parameters:
  ///   - data: XML, JSON, or the binary form; at most ``byteCountLimit`` bytes.
  ///   - name: the name of the list in errors.
  /// - Throws: ``ManagedPacksError``.
  public init(propertyList data: Data, name: String = "property list") throws {
    let list = try PropertyList(data, name: name)
    guard let group = try list.text("BAAppGroupID") else {
      throw list.error(
        "BAAppGroupID", "is missing", "set it to the apps' group, such as group.com.example.game")
    }
    let url = try list.text("BAManifestURL")
    // A list for packs hosted by Apple names no site. Its app gets packs from an override.
    guard try url != nil || list.value("BAUsesAppleHosting", Bool.self) ?? false else {
      throw list.error(
        "BAManifestURL", "is missing",
        "set it to the URL of the site with the packs, or set BAUsesAppleHosting to true and use packstore url-override"
      )
    }
    var sites = [Site]()
    if let url {
      sites.append(
        Site(
          url, channel: try list.channel("PackStoreChannel"), trustedKey: try list.key("PackStoreTrustedKey"),
          allowsUnsigned: try list.value("PackStoreAllowsUnsigned", Bool.self) ?? false))
    }
    for other in try list.lists("PackStoreSites") {
      guard let url = try other.text("URL") else { throw other.error("URL", "is missing", "set it to the site's URL") }
      sites.append(
        Site(
          url, channel: try other.channel("Channel"), trustedKey: try other.key("TrustedKey"),
          allowsUnsigned: try other.value("AllowsUnsigned", Bool.self) ?? false))
    }
    self.init(
      unchecked: try list.converted(group, "BAAppGroupID") { try PackID(validating: $0) }, sites: sites,
      appID: try list.text("CFBundleIdentifier") ?? programName(),
      appVersion: try list.text("CFBundleShortVersionString").map { text in
        try list.converted(text, "CFBundleShortVersionString") { try AppVersion($0) }
      },
      essentialByteCount: try list.essentialByteCount(),
      groupFolder: try list.text("PackStoreGroupFolder").map { FilePath($0) })
    downloaderExtension = try list.text("PackStoreExtension").map { FilePath($0) }
    hasManagedAssetPacks = try list.value("BAHasManagedAssetPacks", Bool.self) ?? !(url.map(list.isUnmanaged) ?? false)
    restrictions = try list.restrictions(ofPacks: hasManagedAssetPacks)
    maxInstallByteCount = try list.byteCount("BAMaxInstallSize")
    essentialMaxInstallByteCount = try list.byteCount("BAEssentialMaxInstallSize")
    if !hasManagedAssetPacks, url.flatMap(FileLocation.init) == nil {
      throw list.error(
        "BAManifestURL", "is not an https URL, which apps without BAHasManagedAssetPacks need",
        "set it to the manifest for the extension, or set BAHasManagedAssetPacks to true for a site with packs")
    }
  }
}

/// The typed values of a property list, by key.
private struct PropertyList {
  private let name: String
  private let values: [String: Any]

  init(_ data: Data, name: String) throws {
    self.name = name
    let first = data.first { !UInt8.isSpace($0) }, isJSON = first == UInt8(ascii: "{")
    guard data.count <= ManagedConfiguration.byteCountLimit else {
      throw ManagedPacksError(
        .noConfiguration, "the property list '\(name)' is too long",
        remedy: "shorten it to at most \(ManagedConfiguration.byteCountLimit) bytes")
    }
    let isBinary = BinaryPropertyList.isOne(data)
    // Foundation's XML reader recurses for each level.
    guard isBinary || isJSON || first == UInt8(ascii: "<"), isBinary || Self.nodeCount(data) <= Self.nodeLimit else {
      throw ManagedPacksError(
        .noConfiguration, "'\(name)' is not a valid property list",
        remedy: "use XML, a JSON object or the binary format")
    }
    let root: Any?
    if isBinary {
      root = BinaryPropertyList.value(of: data, limit: Self.nodeLimit)
    } else if isJSON {
      root = try? JSONSerialization.jsonObject(with: data)
    } else {
      root = try? PropertyListSerialization.propertyList(from: data, format: nil)
    }
    guard let root else {
      throw ManagedPacksError(
        .noConfiguration, "'\(name)' is not a property list",
        remedy: "use XML, a JSON object or the binary format")
    }
    guard let values = root as? [String: Any] else {
      throw ManagedPacksError(
        .noConfiguration, "the property list '\(name)' is not a dictionary",
        remedy: "give each value a key, such as BAAppGroupID")
    }
    self.values = values
  }

  private init(name: String, values: [String: Any]) {
    self.name = name
    self.values = values
  }

  private static let nodeLimit = 512

  /// Returns an upper bound of the nesting depth.
  private static func nodeCount(_ data: Data) -> Int {
    data.count { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } + data.split(separator: Array("<dict".utf8)).count
      + data.split(separator: Array("<array".utf8)).count
  }

  func error(_ key: String, _ fault: String, _ remedy: String) -> ManagedPacksError {
    ManagedPacksError(.invalidConfiguration, "\(key) \(fault) in '\(name)'", remedy: remedy)
  }

  /// Returns `nil` if the key is missing.
  func value<Value>(_ key: String, _: Value.Type) throws -> Value? {
    guard let value = values[key] else { return nil }
    guard let value = value as? Value else {
      let kind =
        switch Value.self {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Int.Type: "an integer"
        case is [String].Type: "a list of strings"
        case is [String: Any].Type: "a dictionary"
        default: "a list of dictionaries"
        }
      throw error(key, "has a value of the wrong type", "use \(kind)")
    }
    return value
  }

  func text(_ key: String) throws -> String? {
    guard let text = try value(key, String.self) else { return nil }
    guard !text.isEmpty else { throw error(key, "is empty", "set a value, or remove the key") }
    return text
  }

  func converted<Value>(_ text: String, _ key: String, _ convert: (String) throws -> Value?) throws -> Value {
    do {
      if let value = try convert(text) { return value }
    } catch let fault as PackStoreError {
      throw error(key, "is invalid (\(fault.finding))", fault.remedy ?? "correct it")
    }
    throw error(key, "is invalid", "correct it")
  }

  func channel(_ key: String) throws -> SiteChannel? {
    try text(key).map { text in try converted(text, key) { try SiteChannel($0) } }
  }

  func key(_ key: String) throws -> SitePublicKey? {
    guard let text = try text(key) else { return nil }
    guard let value = SitePublicKey(text) else {
      throw error(key, "is not a public key", "use the 44 base64 characters that 'packstore keygen' prints")
    }
    return value
  }

  func lists(_ key: String) throws -> [PropertyList] {
    let items = try value(key, [[String: Any]].self) ?? []
    return items.enumerated().map { PropertyList(name: "\(name), \(key)[\($0)]", values: $1) }
  }

  /// Returns whether an app without the key `BAHasManagedAssetPacks` has downloads of its own. A site may be at an `http` URL of
  /// this machine.
  func isUnmanaged(_ url: String) -> Bool {
    let ofSites = ["PackStoreChannel", "PackStoreTrustedKey", "PackStoreAllowsUnsigned", "PackStoreSites"]
    return FileLocation(url) != nil && url.lowercased().hasPrefix("https:") && !ofSites.contains { values[$0] != nil }
  }

  func byteCount(_ key: String) throws -> Int? {
    let count = try value(key, Int.self)
    guard count ?? 0 >= 0 else { throw error(key, "is negative", "use a number of bytes") }
    return count
  }

  func essentialByteCount() throws -> Int? {
    try byteCount("BAEssentialMaxInstallSize")
      ?? nested("BAInitialDownloadRestrictions")?.byteCount("BAEssentialDownloadAllowance")
  }

  private func nested(_ key: String) throws -> PropertyList? {
    try value(key, [String: Any].self).map { PropertyList(name: "\(name), \(key)", values: $0) }
  }

  /// Returns `nil` if the key is missing.
  ///
  /// - Parameter ofPacks: whether a missing number or list means no limit; otherwise it is 0 or empty.
  func restrictions(ofPacks: Bool) throws -> InitialDownloadRestrictions? {
    guard let nested = try nested("BAInitialDownloadRestrictions") else { return nil }
    let list = "BADownloadDomainAllowList", named = try nested.texts(list), domains = named ?? []
    guard domains.count <= InitialDownloadRestrictions.domainLimit else {
      throw nested.error(list, "has too many domains", "list at most \(InitialDownloadRestrictions.domainLimit)")
    }
    if let wrong = domains.first(where: { !InitialDownloadRestrictions.isDomain($0) }) {
      throw nested.error(list, "contains the invalid domain '\(wrong)'", "use example.com or *.example.com")
    }
    let missing = ofPacks ? Int.max : 0
    var restrictions = InitialDownloadRestrictions(
      byteCount: try nested.byteCount("BADownloadAllowance") ?? missing,
      essentialByteCount: try nested.byteCount("BAEssentialDownloadAllowance") ?? missing, domains: domains)
    restrictions.allowsAnyDomain = ofPacks && named == nil
    return restrictions
  }

  private func texts(_ key: String) throws -> [String]? { try value(key, [String].self) }
}

extension UInt8 {
  fileprivate static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
