import PackDelivery
package import PackStore

/// The credentials of a publisher for a storage. Never shown in errors or logs.
package struct Credentials: Sendable {
  package let accessKeyID: String
  let secretAccessKey: String

  /// For credentials that expire after some hours.
  let sessionToken: String?

  package init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
  }

  /// Whether they may be part of a header: visible ASCII characters only.
  var areText: Bool {
    [accessKeyID, secretAccessKey, sessionToken ?? ""].allSatisfy { $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } }
  }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "credentials" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The credentials, region and endpoint in the environment and in the user's AWS configuration files.
package struct StorageProfile: Sendable {
  package var credentials: Credentials?
  package var region: String?
  package var endpoint: String?

  /// The place where credentials are searched, for errors.
  package let name: String

  private static let fileByteLimit = 1 << 20

  /// - Parameter read: returns the text of a file; `nil` if it does not exist.
  /// - Throws: `invalidLocation` if a specified file does not exist, or a profile is in none of the files.
  package init(
    environment: [String: String], read: (FilePath) throws -> String? = StorageProfile.textOfFile
  ) throws {
    // Pasted secrets, and files with other line ends, often contain spaces and line ends.
    func variable(_ name: String) -> String? {
      environment[name].flatMap { text in
        let value = INIFile.trimmed(text[...])
        return value.isEmpty ? nil : String(value)
      }
    }
    let chosen = variable("AWS_PROFILE") ?? variable("AWS_DEFAULT_PROFILE")
    name = chosen ?? "default"
    let home = variable("HOME").map { FilePath($0) }
    let settings = try Self.settings(
      name, isChosen: chosen != nil,
      credentials: variable("AWS_SHARED_CREDENTIALS_FILE").map { FilePath($0) } ?? home?.appending(".aws/credentials"),
      config: variable("AWS_CONFIG_FILE").map { FilePath($0) } ?? home?.appending(".aws/config"), read)
    region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? settings["region"]
    endpoint = variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL") ?? settings["endpoint_url"]
    // One variable alone is ignored: combined with a value from a file, it would mix two users' credentials.
    if let id = variable("AWS_ACCESS_KEY_ID"), let secret = variable("AWS_SECRET_ACCESS_KEY") {
      credentials = Credentials(
        accessKeyID: id, secretAccessKey: secret, sessionToken: variable("AWS_SESSION_TOKEN"))
    } else if let id = settings["aws_access_key_id"], let secret = settings["aws_secret_access_key"] {
      credentials = Credentials(
        accessKeyID: id, secretAccessKey: secret, sessionToken: settings["aws_session_token"])
    }
  }

  /// Returns the settings of a profile in both files; the credentials file takes precedence.
  private static func settings(
    _ profile: String, isChosen: Bool, credentials: FilePath?, config: FilePath?, _ read: (FilePath) throws -> String?
  ) throws -> [String: String] {
    let first = try credentials.flatMap(read).map(INIFile.init)?.sections[profile]
    let sections = try config.flatMap(read).map(INIFile.init)?.sections
    let second = sections?["profile \(profile)"] ?? (profile == "default" ? sections?["default"] : nil)
    guard !isChosen || first != nil || second != nil else {
      var error = DeliveryError(.invalidLocation, "the profile '\(profile)' does not exist")
      error.specificRemedy = "set AWS_PROFILE to a profile of ~/.aws/credentials or ~/.aws/config"
      throw error
    }
    return (second ?? [:]).merging(first ?? [:]) { _, first in first }
  }

  /// Ignores paths that are not files: `/dev/null` is a common value.
  package static func textOfFile(_ path: FilePath) throws -> String? {
    do {
      return String(decoding: try InputFile(path).contents(limit: fileByteLimit), as: UTF8.self)
    } catch let error as PackStoreError where [.notFound, .wrongKind].contains(error.code) {
      return nil
    }
  }

  /// - Throws: `denied` without credentials.
  package func requireCredentials() throws -> Credentials {
    if let credentials {
      guard credentials.areText else {
        var error = DeliveryError(.denied, "the credentials for object storage contain invalid characters")
        error.specificRemedy = "check the variables or the file for truncated or joined values"
        throw error
      }
      return credentials
    }
    var error = DeliveryError(.denied, "credentials for object storage are missing")
    error.specificRemedy =
      "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to the profile '\(name)' of ~/.aws/credentials;"
      + " for SSO and machine roles, use the output of 'aws configure export-credentials --format env'"
    throw error
  }
}

/// A file of sections with settings: `[name]`, and lines `key = value`. Lines that are neither, and settings below a setting, are
/// skipped.
struct INIFile {
  private(set) var sections: [String: [String: String]] = [:]

  init(_ text: String) {
    var section: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let isIndented = line.first?.isWhitespace == true
      let line = Self.trimmed(line)
      guard let first = line.first, first != "#", first != ";" else { continue }
      if first == "[" {
        section = line.last == "]" ? String(Self.trimmed(line.dropFirst().dropLast())) : nil
        if let section { sections[section, default: [:]].merge([:]) { old, _ in old } }
      } else if let section, !isIndented, let equals = line.firstIndex(of: "=") {
        let key = Self.trimmed(line[..<equals]).lowercased()
        sections[section, default: [:]][key] = String(Self.trimmed(line[line.index(after: equals)...]))
      }
    }
  }

  fileprivate static func trimmed(_ text: Substring) -> Substring {
    let front = text.drop { $0.isWhitespace }
    return front.lastIndex { !$0.isWhitespace }.map { front[...$0] } ?? ""
  }
}
