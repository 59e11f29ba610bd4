import CPackStore

extension Store {
  /// A fault in a store, and the asset it damages.
  ///
  /// A fault that damages several assets appears once for each, with the same ``number``.
  public struct Fault: Hashable, Codable, Sendable {
    /// The number of the fault in its verification, from 1.
    public let number: Int

    /// `corrupt`; `purged` if a file is missing; `ioError` if it cannot be read; `newerFormat`.
    public let code: PackStoreError.Code

    /// Whether data in the cache folder is damaged, rather than missing: ``code`` is `purged` in both cases.
    public let isCachedDamage: Bool

    /// Whether data of a purgeable pack is gone from the cache folder, which is not damage. A file that is gone as a whole has no
    /// ``offset``.
    public var isPurgedData: Bool { code == .purged && offset != nil && !isCachedDamage }

    /// The fault, in a few English words that follow the name of the file.
    public let reason: String

    /// The store's file, such as `segments/3f2a`.
    public let file: String?

    /// The byte offset in ``file``.
    public let offset: UInt64?

    /// The number of bytes from there that contain the damage, if known.
    public let byteCount: Int?

    /// The system's error, if a file could not be read.
    public let systemError: Errno?

    /// The damaged pack; `nil` if none is, or if it is unknown.
    public let pack: PackID?

    /// The damaged version of ``pack``.
    public let version: UInt64?

    /// The path of the damaged asset; `nil` if none is, or the whole version.
    public let asset: String?

    init(_ fault: pks_fault) {
      number = Int(clamping: fault.number)
      code = PackStoreError.Code(fault.status)
      isCachedDamage = fault.is_cached_damage
      reason = String(cString: fault.text)
      let file = String(cString: fault.file)
      self.file = file.isEmpty ? nil : file
      offset = fault.offset == UInt64.max ? nil : fault.offset
      byteCount = fault.length == 0 ? nil : Int(clamping: fault.length)
      systemError = fault.system_error == 0 ? nil : Errno(rawValue: fault.system_error)
      pack = fault.pack.map { PackID(trusted: $0) }
      version = fault.pack == nil ? nil : fault.version
      asset = fault.asset.map { String(copying: $0, count: fault.asset_length) }
    }
  }
}

extension Store.Fault: CustomStringConvertible {
  /// One line: the damaged asset, the place and the fault.
  ///
  ///     Tutorial@3 Videos/intro.m4v: segments/3f2a, byte 4096: checksum mismatch
  public var description: String { victim.map { "\($0): \(finding)" } ?? finding }

  private var victim: String? {
    guard let pack, let version else { return nil }
    return "\(pack)@\(version)" + (asset.map { " \($0)" } ?? "")
  }

  private var finding: String {
    let place = file.map { $0 + (offset.map { ", byte \($0)" } ?? "") + ": " } ?? ""
    return place + reason + (systemError.map { ": \($0)" } ?? "")
  }
}
