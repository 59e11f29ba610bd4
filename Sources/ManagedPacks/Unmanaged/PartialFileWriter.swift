import Synchronization

/// Writes the received bytes of a download to `parts/ID`, and enforces limits on the server's answers.
///
/// The list records the validator of a version of the remote file before its first byte is written: bytes of two versions are never
/// mixed, wherever a process ends. After a power failure only the synced bytes are valid; the list records their number.
final class PartialFileWriter: FileSink {
  private struct State {
    /// The position in the file.
    var position = 0
    /// The size limit of the file; `nil` for none.
    var limit: Int?
    var syncedPosition = 0
    var expected: Int?
  }

  /// The number of bytes between two syncs.
  private static let syncInterval = 32 << 20

  /// The size limit of a manifest.
  private static let manifestLimit = 64 << 20

  private let folder: DownloadFolder
  private let record: DownloadRecord
  private let restrictions: InitialDownloadRestrictions?
  private let listener: any DownloadListener
  private let part: PartFile
  private let state: Mutex<State>

  init(
    _ record: DownloadRecord, in folder: DownloadFolder, _ restrictions: InitialDownloadRestrictions?,
    telling listener: any DownloadListener
  ) throws {
    self.record = record
    self.folder = folder
    self.restrictions = restrictions
    self.listener = listener
    part = try PartFile(folder.part(record.id))
    state = Mutex(State(position: try Self.usableByteCount(record, part)))
  }

  /// Returns the number of valid bytes of the partial file.
  private static func usableByteCount(_ record: DownloadRecord, _ part: PartFile) throws -> Int {
    guard record.validator != nil else { return 0 }
    let byteCount = try part.byteCount
    let isSameBoot = record.boot != nil && record.boot == bootID()
    return isSameBoot ? byteCount : min(byteCount, record.syncedByteCount)
  }

  /// The request for the rest of the file.
  var request: FileRequest {
    FileRequest(record.url, fields: record.fields, offset: position, validator: record.validator)
  }

  var position: Int { state.withLock { $0.position } }

  // MARK: - FileSink

  func permit(host: String) throws { try DownloadAllowance(restrictions, folder.list()).admit(host: host) }

  func answer(_ challenge: FileChallenge) async -> FileChallengeReply { await listener.challenge(record, challenge) }

  func begin(_ answer: FileAnswer) throws {
    if record.isEssential, let byteCount = answer.byteCount { try checkExact(byteCount) }
    let thrownAway = answer.offset == 0 ? try part.byteCount : 0
    let limit: Int? = try folder.update { list in
      guard var current = list[record.id], current.phase == .waiting else { throw CancellationError() }
      // The allowance for this download in total, and the rest after discarded bytes.
      let room = DownloadAllowance(restrictions, list).limit(of: current)
      current.lostByteCount = min(current.lostByteCount.addingClamped(thrownAway), DownloadRecord.sizeLimit)
      let left = room.map { $0.subtractingClamped(current.lostByteCount) }
      if let left, left < answer.byteCount ?? 0 { throw BAError(.sessionDownloadDisallowedByAllowance) }
      // Truncated before the list records another version of the remote file, which happens when this closure returns. A process
      // that ends in between leaves the earlier version, with fewer bytes.
      try part.cut(to: answer.offset)
      current.validator = answer.validator
      current.totalByteCount = answer.byteCount.map { min($0, DownloadRecord.sizeLimit) }
      current.boot = bootID()
      if answer.offset == 0 { current.syncedByteCount = 0 }
      list[record.id] = current
      return left
    }
    state.withLock { state in
      state = State(
        position: answer.offset, limit: limit, syncedPosition: answer.offset, expected: answer.byteCount)
    }
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws {
    let (position, limit, expected) = state.withLock { ($0.position, $0.limit, $0.expected) }
    let end = position.addingClamped(bytes.count)
    if let limit, end > limit { throw BAError(.sessionDownloadAllowanceExceeded) }
    guard end <= DownloadRecord.sizeLimit else { throw BAError(.downloadInvalid, "the file has more than 2^50 bytes") }
    if record.kind == .manifest, end > Self.manifestLimit {
      throw BAError(.downloadInvalid, "the manifest has more than \(Self.manifestLimit) bytes")
    }
    if record.isEssential, end > record.byteCount { try checkExact(end) }
    try part.write(bytes, at: position)
    state.withLock { $0.position = end }
    try syncNowAndThen(end)
    listener.wrote(record, byteCount: bytes.count, total: end, expected: expected)
  }

  private func checkExact(_ byteCount: Int) throws(BAError) {
    guard byteCount != record.byteCount else { return }
    throw BAError(
      .downloadInvalid,
      "the file has at least \(byteCount) bytes, but the essential download '\(record.name)' states \(record.byteCount); state the exact size"
    )
  }

  private func syncNowAndThen(_ end: Int) throws {
    let isDue = state.withLock { state in
      guard end - state.syncedPosition >= Self.syncInterval else { return false }
      state.syncedPosition = end
      return true
    }
    guard isDue else { return }
    try part.sync()
    try folder.update { $0[record.id]?.syncedByteCount = end }
  }

  // MARK: - The end

  /// Completes the download: moves the partial file to its final place durably, then updates the list.
  func finish() throws {
    let position = position
    if record.isEssential { try checkExact(position) }
    try part.cut(to: position)
    try part.sync()
    try renameFile(part.place, to: folder.ready(record.id))
    try syncFolder(folder.path.appending("ready"))
    try folder.update { list in
      guard list[record.id] != nil else { throw CancellationError() }
      list.end(record.id, byteCount: position, nil)
    }
  }
}

/// Returns an id of the current boot of the machine; `nil` if the system does not provide one.
func bootID() -> String? {
  #if os(Linux)
    let bytes = try? InputFile("boot_id", in: "/proc/sys/kernel/random").contents(limit: 64)
    return bytes.map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) }
  #else
    return nil
  #endif
}
