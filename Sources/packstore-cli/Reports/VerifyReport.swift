import PackPublishing
import PackStore

struct VerifyReport: Encodable {
  struct Fault: Encodable {
    let number: Int
    let code, reason: String
    let file: String?
    let offset: UInt64?
    let bytes: Int?
    let pack: String?
    let version: UInt64?
    let asset: String?
  }

  let sound, mayHideCommit: Bool
  let damagedCopies: Int
  let files, frames, chunks, bytes, faultCount, hurtAssets: Int
  let faults: [Fault]

  init(_ result: Store.VerifyResult) {
    sound = result.isSound
    mayHideCommit = result.mayHideCommit
    damagedCopies = result.damagedCopyCount
    files = result.fileCount
    frames = result.frameCount
    chunks = result.chunkCount
    bytes = result.byteCount
    faultCount = result.faultCount
    hurtAssets = result.hurtAssetCount
    faults = result.faults.map {
      Fault(
        number: $0.number, code: FailureCode($0.code).rawValue, reason: $0.reason, file: $0.file, offset: $0.offset,
        bytes: $0.byteCount, pack: $0.pack?.name, version: $0.version, asset: $0.asset)
    }
  }

  /// A bucket or a served site.
  init(_ result: SiteVerification.Result) {
    sound = result.isSound
    mayHideCommit = false
    (damagedCopies, frames, chunks, hurtAssets) = (0, 0, 0, 0)
    files = result.fileCount
    bytes = Int(clamping: result.readByteCount)
    let roots = result.damagedChannels.map { channel in
      Fault(
        number: 0, code: FailureCode.corrupt.rawValue, reason: "the root of the channel '\(channel)' is damaged",
        file: nil,
        offset: nil, bytes: nil, pack: nil, version: nil, asset: nil)
    }
    let objects = result.faults.map { fault in
      Fault(
        number: 0, code: (fault.kind == .missing ? FailureCode.notFound : .siteCorrupt).rawValue,
        reason: fault.kind.words, file: fault.path, offset: nil, bytes: Int(clamping: fault.byteCount), pack: nil,
        version: nil, asset: nil)
    }
    faults = roots + objects
    faultCount = faults.count
  }
}

extension SiteVerification.FaultKind {
  var words: String {
    switch self {
    case .missing: "missing, or of another length"
    case .content: "has other content than its publisher signed, or its frame table is damaged"
    }
  }
}
