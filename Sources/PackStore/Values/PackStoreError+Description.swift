extension PackStoreError: CustomStringConvertible {
  /// One line, `object: fault; remedy`.
  public var description: String { remedy.map { "\(finding); \($0)" } ?? finding }

  /// The object, the fault, and why the system refused.
  public var finding: String {
    let fault = systemError.map { "\(reason): \($0)" } ?? reason
    return object.map { "\($0): \(fault)" } ?? fault
  }

  /// The object with the place in it, such as `segments/3f2a, byte 4096, asset 'music/theme'`; `nil` for none.
  package var object: String? {
    guard let subject else { return nil }
    let place = [offset.map { "byte \($0)" }, asset.map { "asset '\($0)'" }].compactMap(\.self)
    return (["\(subject)"] + place).joined(separator: ", ")
  }

  /// What to do about it, in terms of this library; `nil` if the finding is enough.
  public var remedy: String? {
    if let specificRemedy { return specificRemedy }
    return switch code {
    case .ioError where detail == .noLocks || systemError == .noLocks:
      "mount the file system with locks, or keep the store on a local disk"
    case .readOnly where detail == .notWritable || systemError != nil: "check who owns it and how its disk is mounted"
    case .readOnly: "open the store for writing"
    case .busy: holder.map { "wait for process \($0)" } ?? "wait for the other process"
    case .noSpace: neededByteCount.map { "make room for \(formatBytes(Int(clamping: $0)))" } ?? "make room on the disk"
    case .refused: notices.first.map { "\($0)" }
    case .sourceChanged: "try again when no program writes to it"
    case .notContiguous: "read a copy, by contents() or read(into:range:)"
    case .conflict: "stage the change again, as Store.change does"
    case .held: "unpin the pack to allow other versions"
    case .hostileNames: "check who published the pack, which was not added"
    case .tooManyRows: "if you trust the publisher, raise the option rowLimit"
    case .otherOrigin: "set the option adopts to change the pack's origin"
    case .downgrade: "set the option allowsDowngrade to accept it"
    case .stale: "try again later"
    case .isSite: "call Site.publish or Site.unpublish; if the site is damaged, call Site.repair"
    case .corrupt: "call Store.verify, then Store.repair"
    case .newerFormat: "update PackStore"
    case .otherDraft:
      "no data is damaged; add the folders to a new store, publish to a new site, or use the version of PackStore that wrote it"
    case .purged: "pull or install the pack again, which restores its data"
    default: nil
    }
  }
}
