/// Checks whether a download may be scheduled, based on its own values and the app's other downloads.
struct DownloadAdmission {
  let group: String
  let restrictions: InitialDownloadRestrictions?

  /// - Throws: ``BAError``.
  func check(_ record: DownloadRecord, _ list: DownloadList) throws(BAError) {
    guard record.kind == .file, record.phase == .created else { throw BAError(.downloadInvalid) }
    if let fault = record.fault(inGroup: group) { throw fault }
    guard !list.downloads.contains(where: { $0.id == record.id || $0.name == record.name && $0.phase == .waiting })
    else {
      throw BAError(
        .downloadAlreadyScheduled, "the app has an open download '\(record.name)'; see currentDownloads")
    }
    try DownloadAllowance(restrictions, list).admit(record)
  }
}
