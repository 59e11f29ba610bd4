public import PackFormats
public import PackStore
import Synchronization

/// Signs on another machine: a first run writes the bytes to sign to a request file and ends. A second run gets the signature of exactly
/// these bytes. If a command signs several roots, each needs one more run; the file keeps the earlier signatures.
///
/// The file also has the time of the request, which is the date of the roots, so that the runs sign the same bytes.
public final class SigningRequest: RootSigner {
  public let publicKey: SitePublicKey

  /// The date of everything that is signed, in nanoseconds since 1970.
  public let signingTime: Int64?

  private let file: FilePath
  private let state: Mutex<State>

  private struct State {
    var entries: [Entry]

    /// Whether the latest signature was used in this run.
    var usedLatest: Bool
  }

  private struct Entry {
    let purpose: String
    let bytes: [UInt8]
    var signature: [UInt8]?
  }

  /// Begins or continues a request.
  ///
  /// - Parameters:
  ///   - publicKey: the key that signs.
  ///   - file: the request file, which is created if it is missing.
  ///   - signature: the file with the signature of the bytes in the request: 64 bytes, base64 or hexadecimal digits; `nil` to begin.
  /// - Throws: `exists` if the file exists and no signature is given; `notFound` if a file is missing; `untrusted` if the file is for
  ///   another key, or the signature is not of the bytes in the request; `corrupt`, `ioError`.
  public convenience init(_ publicKey: SitePublicKey, file: FilePath, signature: FilePath? = nil) throws {
    try self.init(publicKey, file: file, signature: signature, now: nanosecondsSince1970())
  }

  init(_ publicKey: SitePublicKey, file: FilePath, signature: FilePath?, now: Int64) throws {
    self.publicKey = publicKey
    self.file = file
    guard let signature else {
      guard !pathExists(file) else { throw SiteKey.fileExists(file) }
      signingTime = now
      state = Mutex(State(entries: [], usedLatest: true))
      return
    }
    let (time, read) = try Self.read(file, for: publicKey)
    var entries = read
    guard let last = entries.indices.last, entries[last].signature == nil else {
      throw PackStoreError(.corrupt, "contains no bytes to sign", file: file.string)
    }
    let bytes = try InputFile(signature).contents(limit: 1024)
    guard let decoded = SignatureText.decode(bytes) else {
      throw PackStoreError(
        .untrusted, "not a signature", file: signature.string,
        remedy: "write 64 bytes, base64 or hexadecimal digits to it")
    }
    guard publicKey.verifies(decoded, ofSigned: entries[last].bytes) else {
      throw PackStoreError(
        .untrusted, "not a signature of the bytes in '\(file)' by the key \(publicKey)", file: signature.string,
        remedy: "sign the bytes of the line 'sign' with that key")
    }
    entries[last].signature = decoded
    signingTime = time
    state = Mutex(State(entries: entries, usedLatest: false))
  }

  /// - Throws: `untrusted` if a signature is needed, after writing the request; or if the command would sign other bytes than the
  ///   signed ones.
  public func signature(of message: SigningMessage) throws -> [UInt8] {
    try state.withLock { state in
      if let index = state.entries.firstIndex(where: { $0.bytes == message.bytes }),
        let signature = state.entries[index].signature
      {
        if index == state.entries.count - 1 { state.usedLatest = true }
        return signature
      }
      guard state.usedLatest else {
        throw PackStoreError(
          .untrusted, "the signature is of other bytes than the command signs now", file: file.string,
          remedy:
            "repeat the command as it was, or remove the file and begin again: the content to sign changed since then")
      }
      if state.entries.last?.signature != nil || state.entries.isEmpty {
        state.entries.append(Entry(purpose: message.purpose, bytes: message.bytes))
        try KeySetText.write(text(state.entries), to: file, replaces: true)
      }
      throw PackStoreError(
        .untrusted, "a signature by the key \(publicKey) is needed", file: file.string,
        remedy: "sign the bytes of the line 'sign' in it, and repeat the command with --signature")
    }
  }

  // MARK: - As text

  private static let firstLine = "packstore signing request 1"
  private static let entryLimit = 1000

  /// The first line, `key BASE64`, `time NANOSECONDS`, then for each message `signed PURPOSE HEX BASE64`, and at last `sign PURPOSE HEX`.
  private func text(_ entries: [Entry]) -> String {
    let rows = entries.map { entry in
      let row = "\(entry.purpose.replacing(" ", with: "-")) \(SignatureText.hex(entry.bytes))"
      return entry.signature.map { "signed \(row) \(Data($0).base64EncodedString())" } ?? "sign \(row)"
    }
    let lines = [Self.firstLine, "key \(publicKey)", "time \(signingTime ?? 0)"] + rows
    return lines.map { $0 + "\n" }.joined()
  }

  private static func read(_ file: FilePath, for key: SitePublicKey) throws -> (time: Int64, entries: [Entry]) {
    let bytes = try InputFile(file).contents(limit: 1 << 20)
    var lines = try KeySetText(String(decoding: bytes, as: UTF8.self), firstLine: firstLine, file: file.string)
    guard try lines.word("key") == key.description else {
      throw PackStoreError(.untrusted, "is a request to another key than \(key)", file: file.string)
    }
    guard let time = Int64(try lines.word("time")), time > 0 else { throw lines.damage }
    var entries: [Entry] = []
    while entries.count < entryLimit, let row = lines.optionalWord("signed") {
      guard let entry = entry(row, isSigned: true) else { throw lines.damage }
      entries.append(entry)
    }
    if let row = lines.optionalWord("sign") {
      guard let entry = entry(row, isSigned: false) else { throw lines.damage }
      entries.append(entry)
    }
    try lines.end()
    return (time, entries)
  }

  private static func entry(_ row: String, isSigned: Bool) -> Entry? {
    let words = row.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count == (isSigned ? 3 : 2), let bytes = SignatureText.hexBytes(words[1]), !bytes.isEmpty else {
      return nil
    }
    guard isSigned else { return Entry(purpose: words[0], bytes: bytes) }
    guard let signature = SignatureText.decode(Array(words[2].utf8)) else { return nil }
    return Entry(purpose: words[0], bytes: bytes, signature: signature)
  }
}
