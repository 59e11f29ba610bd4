import CPackStore
import CPackStoreTesting
import Foundation

/// What a repair said.
struct RepairReport {
  struct Note: Hashable, CustomStringConvertible {
    var isLost: Bool
    var pack: String
    var version: UInt64
    var asset: String?
    var unnamed: UInt64
    var origin: String

    var description: String {
      "\(isLost ? "lost" : "healed") \(pack)@\(version) \(asset ?? "\(unnamed)") \(origin)"
    }
  }

  var totals = pks_repair_totals()
  var notes: [Note] = []
  var faults: [Fault] = []

  var lost: [Note] { notes.filter(\.isLost) }
  var healed: [Note] { notes.filter { !$0.isLost } }
}

extension Disk {
  /// Repairs the store at a path, with others as donors.
  @discardableResult
  func repair(
    _ path: String = "/store", from donors: [String] = [], dryRun: Bool = false, publication: Bool = false,
    seam: Seam? = nil, base: String? = nil, hashing: Hashing = .batches
  ) throws -> RepairReport {
    final class Box { var report = RepairReport() }
    let box = Box()
    var options = pks_options(), request = pks_repair_request()
    options.sha256 = hashing.one
    options.sha256_many = hashing.many
    options.thread_count = 1
    options.vfs = seam?.vfs ?? vfs
    let beneath = base.flatMap { strdup($0) }
    defer { free(beneath) }
    options.base = UnsafePointer(beneath)
    request.dry_run = dryRun
    request.publication = publication
    request.context = Unmanaged.passUnretained(box).toOpaque()
    request.fault = { context, fault in
      Unmanaged<Box>.fromOpaque(context!).takeUnretainedValue().report.faults.append(Fault(fault.pointee))
    }
    request.note = { context, note in
      let note = note.pointee
      Unmanaged<Box>.fromOpaque(context!).takeUnretainedValue().report.notes.append(
        RepairReport.Note(
          isLost: note.lost, pack: String(cString: note.pack), version: note.version,
          asset: note.asset.map {
            String(decoding: UnsafeRawBufferPointer(start: $0, count: note.asset_length), as: UTF8.self)
          }, unnamed: note.unnamed_count, origin: note.origin.map { String(cString: $0) } ?? ""))
    }
    let texts = donors.map { Array($0.utf8CString) }
    let pointers = texts.map { text in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
      copy.initialize(from: text, count: text.count)
      return UnsafePointer(copy)
    }
    defer { for pointer in pointers { UnsafeMutablePointer(mutating: pointer).deallocate() } }
    var totals = pks_repair_totals()
    try pointers.withUnsafeBufferPointer { pointers in
      request.donors = pointers.baseAddress
      request.donor_count = UInt32(pointers.count)
      try attempt { pks_store_repair(path, &options, &request, &totals, $0) }
    }
    box.report.totals = totals
    return box.report
  }
}
