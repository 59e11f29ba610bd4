/// Who hears of an app's downloads: the app's delegate, or its extension.
protocol DownloadListener: Sendable {
  func began(_ record: DownloadRecord) async
  func paused(_ record: DownloadRecord) async

  /// Bytes came. Called on the thread that receives them, in order.
  func wrote(_ record: DownloadRecord, byteCount: Int, total: Int, expected: Int?)

  func challenge(_ record: DownloadRecord, _ challenge: FileChallenge) async -> FileChallengeReply

  /// Told of the end of a download: its file, or why there is none.
  func ended(_ record: DownloadRecord, _ end: DownloadEnd) async -> Hearing

  /// Nothing is to be told at the moment.
  func fellSilent() async
}

enum DownloadEnd: Sendable {
  case finished(FilePath)
  case failed(any Error)
}

enum Hearing: Hashable, Sendable {
  /// The callback has returned.
  case heard
  /// No one listens, or has time: the engine tells again when it is said that this may have changed.
  case unheard
  /// The listener crashed: the callback comes again, a few times.
  case crashed
}

extension DownloadRecord.Failure {
  /// As a callback gets it.
  var error: any Error {
    if let code { return BAError(code, reason) }
    let known = delivery.flatMap { DeliveryError.Code.Known(rawValue: $0) } ?? .unreachable
    return DeliveryError(DeliveryError.Code(known), reason)
  }

  init(_ error: any Error) {
    let delivered = (error as? FileFault)?.error ?? (error as? DeliveryError)
    let text = (error as? BAError)?.reason ?? delivered.map { "\($0)" } ?? "\(error)"
    // What went wrong on this machine is no server's fault.
    let isLocal = error is PackStoreError || error is ManagedPacksError
    let known: DeliveryError.Code.Known? = delivered?.code.known ?? (isLocal ? .ioError : nil)
    self.init(
      code: (error as? BAError)?.code, delivery: known?.rawValue,
      reason: String(text.prefix(DownloadRecord.nameByteLimit)))
  }
}
