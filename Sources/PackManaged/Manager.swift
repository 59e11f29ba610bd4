import Synchronization

/// The object behind a `pkm_manager` pointer.
final class ManagerBox: Sendable {
  let manager: AssetPackManager
  let listener = Mutex<Listener?>(nil)

  init(_ manager: AssetPackManager) { self.manager = manager }

  /// Returns the object of a pointer, without taking ownership.
  static func of(_ pointer: OpaquePointer) -> ManagerBox {
    Unmanaged<ManagerBox>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
  }
}

@c(pkm_manager_open)
public func openManager(
  _ out: UnsafeMutablePointer<OpaquePointer?>, _ propertyList: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  status(error) {
    let configuration = try propertyList.map { try ManagedConfiguration(contentsOf: FilePath(platformString: $0)) }
    let manager = try AssetPackManager(configuration: configuration ?? .main())
    out.pointee = OpaquePointer(Unmanaged.passRetained(ManagerBox(manager)).toOpaque())
  }
}

@c(pkm_manager_close)
public func closeManager(_ manager: OpaquePointer?) {
  guard let manager else { return }
  setDelegate(manager, nil)
  Unmanaged<ManagerBox>.fromOpaque(UnsafeRawPointer(manager)).release()
}
