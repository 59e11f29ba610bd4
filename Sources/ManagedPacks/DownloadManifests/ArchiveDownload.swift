import PackArchives
import PackFormats
import Synchronization

/// Receives the archive of one pack into the group's folder `archives/PACK/`. The received bytes outlive the process: the next
/// download of the same archive continues after them.
///
/// | name | content |
/// |---|---|
/// | `HASH.part` | the received bytes; the hash covers URL, version and size |
/// | `HASH.state` | the validator of the remote file, and the boot of the machine during which the bytes were written |
/// | `lock` | held by the process that downloads or installs the archive |
///
/// The state is written before the first byte of its file, so that bytes of two states of a file are never mixed. Bytes of an
/// earlier boot are discarded, because a power failure may have lost them.
final class ArchiveDownload: FileSink {
  private struct State {
    var position: Int
    var validator: String?
    /// The first bytes, until they determine the kind of the archive.
    var start: [UInt8] = []
    var isChecked = false
  }

  /// The number of first bytes that determine the kind of an archive.
  private static let startByteCount = 512

  /// The archive with its kind.
  enum Kind: Hashable, Sendable {
    /// An archive of PackStore, which may be signed.
    case pack
    /// An asset pack in Apple's format, which has no signature.
    case appleArchive
  }

  private let folder: FilePath
  private let name: String
  private let archive: ListedArchive
  private let part: PartFile
  private let permit: @Sendable (String) throws -> Void
  /// Called when the kind is known, before the archive is received completely.
  private let accept: @Sendable (Kind) throws -> Void
  private let record: @Sendable (_ byteCount: Int, _ total: Int) -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - folder: the folder of the pack; the caller has its lock.
  ///   - permit: throws if a host may not be contacted.
  ///   - accept: throws if archives of this kind are refused.
  ///   - record: receives the number of received bytes, and the number that the server states. Called before a wrong number is an
  ///     error.
  init(
    of archive: ListedArchive, in folder: FilePath, permit: @escaping @Sendable (String) throws -> Void,
    accept: @escaping @Sendable (Kind) throws -> Void,
    record: @escaping @Sendable (_ byteCount: Int, _ total: Int) -> Void
  ) throws {
    self.folder = folder
    self.archive = archive
    self.permit = permit
    self.accept = accept
    self.record = record
    let identity = "\(archive.url ?? "")\0\(archive.version)\0\(archive.byteCount)"
    name = String(Digest256(hashing: Array(identity.utf8)).hex.prefix(32))
    for other in try namesInFolder(folder) where other != Self.lockName && !other.hasPrefix(name) {
      let path = folder.appending(other)
      if isFolder(path) { removeTree(path) } else { try? removeFile(FilePlace(other, in: folder)) }
    }
    part = try PartFile(FilePlace("\(name).part", in: folder))
    let validator = Self.validator(FilePlace("\(name).state", in: folder))
    state = Mutex(State(position: validator == nil ? 0 : try part.byteCount, validator: validator))
  }

  static let lockName = "lock"

  var path: FilePath { part.place.path }

  private var stateFile: FilePlace { FilePlace("\(name).state", in: folder) }

  /// The request for the missing bytes.
  ///
  /// - Parameter fields: header fields besides the transport's own fields.
  func request(_ url: String, fields: [String: String]) -> FileRequest {
    let (position, validator) = state.withLock { ($0.position, $0.validator) }
    return FileRequest(url, fields: fields, offset: position, validator: validator)
  }

  /// Whether all bytes were received earlier.
  var isComplete: Bool { state.withLock { $0.position == archive.byteCount && $0.validator != nil } }

  // MARK: - FileSink

  func permit(host: String) throws { try permit(host) }

  func answer(_ challenge: FileChallenge) async -> FileChallengeReply { .none }

  func begin(_ answer: FileAnswer) throws {
    record(answer.offset, answer.byteCount ?? archive.byteCount)
    if let byteCount = answer.byteCount { try requireSize(byteCount) }
    try part.cut(to: answer.offset)
    try writeState(answer.validator)
    state.withLock { $0 = State(position: answer.offset, validator: answer.validator, isChecked: answer.offset > 0) }
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws {
    let position = state.withLock { $0.position }, end = position.addingClamped(bytes.count)
    guard end <= archive.byteCount else {
      record(end, archive.byteCount)
      throw wrongSize("more")
    }
    try checkStart(bytes)
    try part.write(bytes, at: position)
    state.withLock { $0.position = end }
    record(end, archive.byteCount)
  }

  /// Refuses an archive by its first bytes, before the rest is received.
  private func checkStart(_ bytes: UnsafeRawBufferPointer) throws {
    let start: [UInt8]? = state.withLock { state in
      guard !state.isChecked else { return nil }
      state.start += bytes.prefix(Self.startByteCount - state.start.count)
      guard state.start.count >= min(Self.startByteCount, archive.byteCount) else { return nil }
      state.isChecked = true
      return state.start
    }
    if let start { try accept(kind(start)) }
  }

  private func kind(_ start: [UInt8]) throws -> Kind {
    switch PackFileKind(start: start) {
    case .archive: return .pack
    case .delta:
      throw PackStoreError(
        .wrongKind, "a delta, not an archive of a pack", file: shownURL, remedy: "list an archive in the manifest")
    case .other:
      try ForeignArchive.checkStart(start, name: shownURL)
      return .appleArchive
    }
  }

  // MARK: - The end

  /// Checks the complete file, and returns its kind.
  func finish() throws -> Kind {
    let position = state.withLock { $0.position }
    try requireSize(position)
    try part.cut(to: position)
    let file = try InputFile(part.place.path)
    if let expected = archive.digest, try Self.digest(of: file) != expected {
      discard()
      throw DeliveryError(.corrupt, "the SHA-256 differs from the SHA-256 in the download manifest", at: archive.url)
    }
    let kind = try kind(file.bytes(upTo: Self.startByteCount))
    try accept(kind)
    return kind
  }

  /// Deletes the received bytes: after an installation, or if they are unusable.
  func discard() {
    for place in [part.place, stateFile] { try? removeFile(place) }
    state.withLock { $0 = State(position: 0, validator: nil) }
  }

  private static func digest(of file: InputFile) throws -> Digest256 {
    var digest = DigestBuilder()
    var offset: UInt64 = 0
    while case let bytes = try file.bytes(at: offset, upTo: 1 << 20), !bytes.isEmpty {
      try Task.checkCancellation()
      bytes.withUnsafeBytes { digest.update($0) }
      offset += UInt64(bytes.count)
    }
    return digest.finish()
  }

  private func requireSize(_ byteCount: Int) throws {
    guard byteCount != archive.byteCount else { return }
    throw wrongSize("\(byteCount)")
  }

  private func wrongSize(_ byteCount: String) -> DeliveryError {
    var error = DeliveryError(
      .badResponse, "the archive has \(byteCount) bytes, and the download manifest states \(archive.byteCount)",
      at: archive.url)
    error.specificRemedy = "try again later; the publisher may be replacing the archive"
    return error
  }

  private var shownURL: String { withoutSecrets(archive.url ?? archive.id.name) }

  // MARK: - State

  private static let stateByteCountLimit = 4096

  private func writeState(_ validator: String?) throws {
    guard let validator else { return try removeState() }
    let bytes = canonicalJSONObject([("boot", canonicalJSON(bootID() ?? "")), ("validator", canonicalJSON(validator))])
    try replaceFile("\(name).state", in: folder, by: bytes, draft: "\(name).draft")
  }

  private func removeState() throws {
    do { try removeFile(stateFile) } catch let error as PackStoreError where error.code == .notFound {}
  }

  /// Returns the validator of the received bytes; `nil` if they are unusable.
  private static func validator(_ place: FilePlace) -> String? {
    guard let bytes = try? InputFile(place.path).contents(limit: stateByteCountLimit),
      let members = JSONReader.read(bytes).root?.object
    else { return nil }
    func text(_ name: String) -> String? { members.first { $0.name == name }?.value.string }
    guard let boot = text("boot"), !boot.isEmpty, boot == bootID() else { return nil }
    return text("validator")
  }
}
