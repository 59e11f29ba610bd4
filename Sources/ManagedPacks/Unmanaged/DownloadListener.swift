/// The receiver of the events of an app's downloads: the app's delegate, or its extension.
protocol DownloadListener: Sendable {
  func began(_ record: DownloadRecord) async
  func paused(_ record: DownloadRecord) async

  /// Bytes were received. Called on the thread that receives them, in order.
  func wrote(_ record: DownloadRecord, byteCount: Int, total: Int, expected: Int?)

  func challenge(_ record: DownloadRecord, _ challenge: FileChallenge) async -> FileChallengeReply

  /// Receives the end of a download: its file, or the error.
  func ended(_ record: DownloadRecord, _ end: DownloadEnd) async -> Hearing

  /// Called when no end remains to be reported.
  func fellSilent() async
}

enum DownloadEnd: Sendable {
  case finished(FilePath)
  case failed(any Error)
}

enum Hearing: Hashable, Sendable {
  /// The callback has returned.
  case heard
  /// No listener exists, or it is busy: the engine reports again after ``DownloadEngine/tellAgain()``.
  case unheard
  /// The listener crashed: the end is reported again, a few times.
  case crashed
}

extension DownloadRecord.Failure {
  /// The error that a callback receives.
  var error: any Error {
    if let code { return BAError(code, reason) }
    let known = delivery.flatMap { DeliveryError.Code.Known(rawValue: $0) } ?? .unreachable
    return DeliveryError(DeliveryError.Code(known), reason)
  }

  init(_ error: any Error) {
    let delivered = (error as? FileFault)?.error ?? (error as? DeliveryError)
    let text = (error as? BAError)?.reason ?? delivered.map { "\($0)" } ?? "\(error)"
    // An error of this machine must not be reported as a server's.
    let isLocal = error is PackStoreError || error is ManagedPacksError
    let known: DeliveryError.Code.Known? = delivered?.code.known ?? (isLocal ? .ioError : nil)
    self.init(
      code: (error as? BAError)?.code, delivery: known?.rawValue,
      reason: String(text.prefix(DownloadRecord.nameByteLimit)))
  }
}
