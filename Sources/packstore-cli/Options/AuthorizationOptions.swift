import ArgumentParser
import PackDelivery
import PackStore

/// Options for the authorization that requests to a site's server contain.
struct AuthorizationOptions: ParsableArguments {
  @Option(
    help: .init(
      """
      File with a token for the site's server, or - for standard input; sent as 'Authorization: Bearer TOKEN' \
      (default: the variable PACKSTORE_TOKEN, or the name and password for the host in ~/.netrc or the file named by \
      NETRC).
      """,
      valueName: "file"), completion: .file())
  var tokenFile: String?

  @Option(
    help: .init(
      "File with header fields for the site's server, or - for standard input: 'Name: value', one per line.",
      valueName: "file"), completion: .file())
  var headerFile: String?

  func validate() throws {
    guard tokenFile == nil || headerFile == nil else {
      throw ValidationError("--token-file and --header-file exclude each other; write the token as a header field")
    }
    guard tokenFile?.isEmpty != true, headerFile?.isEmpty != true else {
      throw ValidationError("--token-file and --header-file need the name of a file")
    }
  }

  /// Returns the authorizations for all sites that the command may read from. Warns about secret files that other users can read.
  func authorizations(for sites: [String]) throws -> SiteAuthorizations {
    let authorizations = try SiteAuthorizations(
      given(), for: sites, environment: ProcessInfo.processInfo.environment)
    for warning in authorizations.warnings { warn(.authorization, escaped(warning)) }
    return authorizations
  }

  private func given() throws -> SiteAuthorizations.Given? {
    if let tokenFile { return .token(try readSecret(tokenFile), source: "the file '\(tokenFile)'") }
    return try headerFile.map { .headerLines(try readSecret($0), source: "the file '\($0)'") }
  }
}

/// The maximum size of a token file or a file with header fields, in bytes.
private let secretByteCountLimit = 64 << 10

/// Reads a file with a secret, or standard input for -. Warns if others can read the file.
func readSecret(_ name: String) throws -> String {
  guard name != "-" else { return try readStandardInput() }
  let file = try InputFile(FilePath(name))
  let bytes = try file.contents(limit: secretByteCountLimit)
  if try file.isOpenToOthers { warn(.authorization, escaped(SiteAuthorizations.openToOthers(name))) }
  return String(decoding: bytes, as: UTF8.self)
}

private func readStandardInput() throws -> String {
  var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 4096)
  while bytes.count <= secretByteCountLimit {
    let count: Int
    do {
      count = try buffer.withUnsafeMutableBytes { try FileDescriptor.standardInput.read(into: $0) }
    } catch let error as Errno {
      throw Failure(
        FailureCode(systemError: error.rawValue), "standard input: cannot read: \(error)",
        remedy: "pass the token or the header fields on standard input, or name a file")
    }
    guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
    bytes += buffer[..<count]
  }
  throw Failure(
    .invalidArgument, "standard input: too long for a token or header fields",
    remedy: "pass only the token or the header fields")
}
