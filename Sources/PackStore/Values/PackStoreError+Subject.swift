import CPackStore

extension PackStoreError {
  /// The object that an error is about.
  public enum Subject: Hashable, Sendable {
    /// A store, by its path; `nil` for the store of the call.
    case store(String?)
    /// A site, by its path or URL.
    case site(String)
    case pack(PackID)
    /// A version of a pack, by its number.
    case version(PackID, UInt64)
    /// The path of an asset, of a folder of assets, or of an entry of an added folder.
    case path(String)
    /// A folder, by its path in the file system.
    case folder(String)
    /// A file, by its path in the file system, or by its URL.
    case file(String)
    /// A file of a store, by its path below the store's folder, such as `segments/3f2a`.
    case storeFile(String)
    /// A cache folder, or a file in it.
    case cacheFolder(String)
    case delta(String)
    /// A public key.
    case key(String)
    case channel(SiteChannel)
    /// The name of a product.
    case product(String)
    /// A pattern of paths.
    case pattern(String)
    /// A text that is not a valid value, such as an invalid name.
    case value(String)
    /// A parameter, by its name in the source or in a file.
    case parameter(String)
  }
}

extension PackStoreError.Subject {
  /// A stable word for the kind of object, such as `cache_folder`.
  public var type: String {
    switch self {
    case .store: "store"
    case .site: "site"
    case .pack: "pack"
    case .version: "version"
    case .path: "path"
    case .folder: "folder"
    case .file: "file"
    case .storeFile: "store_file"
    case .cacheFolder: "cache_folder"
    case .delta: "delta"
    case .key: "key"
    case .channel: "channel"
    case .product: "product"
    case .pattern: "pattern"
    case .value: "value"
    case .parameter: "parameter"
    }
  }

  /// The object's name; a version's as `Tutorial@3`. `nil` for the store of the call.
  public var name: String? {
    switch self {
    case .store(let path): path
    case .pack(let pack): pack.name
    case .version(let pack, let number): "\(pack)@\(number)"
    case .channel(let channel): channel.name
    case .site(let name), .path(let name), .folder(let name), .file(let name), .storeFile(let name),
      .cacheFolder(let name),
      .delta(let name), .key(let name), .product(let name), .pattern(let name), .value(let name), .parameter(let name):
      name
    }
  }

  /// The pack, or the pack of the version.
  public var pack: PackID? {
    switch self {
    case .pack(let pack), .version(let pack, _): pack
    default: nil
    }
  }

  /// The store, site, folder, file or asset; `nil` for objects without a path.
  public var path: String? {
    switch self {
    case .store, .site, .path, .folder, .file, .storeFile, .cacheFolder, .delta: name
    default: nil
    }
  }

  /// `nil` for a kind of a later version, and for a name that is not valid for the kind.
  private init?(type: String, name: String?) {
    let text = name ?? ""
    switch type {
    case "store": self = .store(name)
    case "site": self = .site(text)
    case "pack":
      guard let pack = try? PackID(validating: text) else { return nil }
      self = .pack(pack)
    case "version":
      guard let at = text.lastIndex(of: "@"), let pack = try? PackID(validating: String(text[..<at])),
        let number = UInt64(text[text.index(after: at)...])
      else { return nil }
      self = .version(pack, number)
    case "channel":
      guard let channel = try? SiteChannel(text) else { return nil }
      self = .channel(channel)
    case "path": self = .path(text)
    case "folder": self = .folder(text)
    case "file": self = .file(text)
    case "store_file": self = .storeFile(text)
    case "cache_folder": self = .cacheFolder(text)
    case "delta": self = .delta(text)
    case "key": self = .key(text)
    case "product": self = .product(text)
    case "pattern": self = .pattern(text)
    case "value": self = .value(text)
    case "parameter": self = .parameter(text)
    default: return nil
    }
  }

  /// The core's subject; `nil` for an error without one.
  init?(_ subject: pks_subject, name: String) {
    if subject == PKS_SUBJECT_STORE {
      self = .store(name.isEmpty ? nil : name)
    } else if name.isEmpty {
      return nil
    } else {
      // The core names packs as callers did: an invalid name is a value.
      self = Self(type: String(cString: pks_subject_name(subject)), name: name) ?? .value(name)
    }
  }
}

extension PackStoreError.Subject: Codable {
  private enum CodingKeys: String, CodingKey { case type, name }

  /// An unknown kind of a later version is decoded as a value.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let name = try values.decodeIfPresent(String.self, forKey: .name)
    self = Self(type: try values.decode(String.self, forKey: .type), name: name) ?? .value(name ?? "")
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(type, forKey: .type)
    try values.encodeIfPresent(name, forKey: .name)
  }
}

extension PackStoreError.Subject: CustomStringConvertible {
  /// The object as errors name it, such as `pack 'Tutorial'`.
  public var description: String {
    switch self {
    case .store(nil): "store"
    case .storeFile(let name), .parameter(let name): name
    case .store(let name?), .site(let name), .path(let name), .folder(let name), .file(let name), .delta(let name),
      .value(let name):
      "'\(name)'"
    case .pack(let pack): "pack '\(pack)'"
    case .version(let pack, let number): "version '\(pack)@\(number)'"
    case .cacheFolder(let name): "cache folder '\(name)'"
    case .key(let name): "key \(name)"
    case .channel(let channel): "channel '\(channel)'"
    case .product(let name): "product '\(name)'"
    case .pattern(let name): "pattern '\(name)'"
    }
  }
}
