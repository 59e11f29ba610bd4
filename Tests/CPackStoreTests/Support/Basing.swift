import CPackStore
import CPackStoreTesting

extension Store {
  @discardableResult
  func adoptBase() throws -> pks_base_result {
    var result = pks_base_result()
    try attempt { pks_store_adopt_base(&result, raw, $0) }
    return result
  }

  /// The store on the disk over a base, whose packs are taken over.
  static func over(_ base: String?, _ disk: Disk) throws -> Store {
    let store = try Store(disk, create: true, base: base)
    try store.adoptBase()
    return store
  }
}

extension Folder {
  /// The paths of files that hold anything.
  var filesWithBytes: Set<String> {
    Set(filter { if case .file(let bytes, _) = $0.value { !bytes.isEmpty } else { false } }.keys)
  }
}

extension Disk {
  /// Over which base `Store(disk)` opens the store unless it is said; none on a new disk. It lasts through crashes.
  var base: String? {
    get { read("/over").map { String(decoding: $0, as: UTF8.self) } }
    set {
      guard let newValue else { return _ = sim_remove(raw, "/over") }
      write(Array(newValue.utf8), to: "/over")
    }
  }

  /// Makes a store that is to be a base.
  func makeBase(_ path: String, _ change: (Transaction) throws -> Void) throws {
    try Store(path, vfs: vfs, create: true, home: self).commit { try change($0) }
  }

  /// Moves all files below a folder.
  func move(_ from: String, to: String) {
    for path in list(from) {
      guard let bytes = read("\(from)/\(path)") else { continue }
      write(bytes, to: "\(to)/\(path)")
      _ = sim_remove(raw, "\(from)/\(path)")
    }
  }
}
