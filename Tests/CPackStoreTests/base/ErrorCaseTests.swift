import CPackStore
import CPackStoreTesting
import Testing

/// Errors name their object by its kind, and their case by a stable detail.
@Suite struct ErrorCaseTests {
  struct Expected: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var status: pks_status
    var detail: pks_detail
    var subject: pks_subject
    var name: String
    var act: @Sendable (Store, Disk) throws -> Void
  }

  private static func began(_ store: Store, _ body: (Transaction) throws -> Void) throws {
    let transaction = try store.begin()
    defer { transaction.abort() }
    try body(transaction)
  }

  static let cases: [Expected] = [
    Expected(
      testDescription: "missing asset", status: PKS_NOT_FOUND, detail: PKS_DETAIL_NO_ASSET, subject: PKS_SUBJECT_PATH,
      name: "missing"
    ) { store, _ in _ = try store.snapshot().size(of: "missing") },
    Expected(
      testDescription: "missing pack", status: PKS_NOT_FOUND, detail: PKS_DETAIL_NO_PACK, subject: PKS_SUBJECT_PACK,
      name: "q"
    ) { store, _ in try began(store) { try $0.remove("q") } },
    Expected(
      testDescription: "no earlier version", status: PKS_NOT_FOUND, detail: PKS_DETAIL_NO_EARLIER_VERSION,
      subject: PKS_SUBJECT_PACK, name: "p"
    ) { store, _ in try began(store) { try $0.rollBack("p", to: 0) } },
    Expected(
      testDescription: "missing version", status: PKS_NOT_FOUND, detail: PKS_DETAIL_NO_VERSION,
      subject: PKS_SUBJECT_PACK,
      name: "p"
    ) { store, _ in try began(store) { try $0.rollBack("p", to: 9) } },
    Expected(
      testDescription: "no cache folder", status: PKS_INVALID_ARGUMENT, detail: PKS_DETAIL_NO_CACHE_FOLDER,
      subject: PKS_SUBJECT_STORE, name: ""
    ) { store, _ in try began(store) { _ = try $0.place("p", PKS_PLACE_PURGEABLE) } },
    Expected(
      testDescription: "no directory", status: PKS_NOT_A_STORE, detail: PKS_DETAIL_NO_DIRECTORY,
      subject: PKS_SUBJECT_STORE,
      name: "/nowhere"
    ) { _, disk in _ = try Store("/nowhere", vfs: disk.vfs, home: disk) },
    Expected(
      testDescription: "pack removed since then", status: PKS_CONFLICT, detail: PKS_DETAIL_PACK_REMOVED,
      subject: PKS_SUBJECT_PACK, name: "p"
    ) { store, _ in
      let late = try store.begin()
      defer { late.abort() }
      try late.pin("p", 1)
      try store.commit { try $0.remove("p") }
      _ = try late.commit()
    },
  ]

  @Test(arguments: cases) func errorsNameTheirCase(_ expected: Expected) throws {
    let disk = Disk(seed: 1)
    let store = try Store(disk, create: true)
    disk.put(["a": .file("content")], at: "/folder")
    try store.commit { try $0.add("p", "/folder") }
    let failure = try #require(throws: Failure.self) { try expected.act(store, disk) }
    #expect(failure.status == expected.status && failure.detail == expected.detail, "\(failure)")
    #expect(failure.subject == expected.subject && failure.file == expected.name, "\(failure)")
  }

  /// Every code with a name has a text, and codes of later versions have one, too.
  @Test func codesAreDescribed() {
    func text(_ status: pks_status, _ detail: pks_detail = PKS_DETAIL_NONE) -> String {
      String(cString: pks_error_describe(status, detail))
    }
    for value in 0..<400 as Range<UInt32> {
      let status = pks_status(rawValue: value), isKnown = String(cString: pks_status_name(status)) != "unknown"
      #expect((text(status) != "unknown error") == isKnown, "status \(value)")
      let detail = pks_detail(rawValue: value), name = String(cString: pks_detail_name(detail))
      let hasText = text(PKS_CORRUPT, detail) != text(PKS_CORRUPT)
      #expect(hasText == (name != "unknown" && name != "none"), "detail \(value)")
    }
    #expect(text(PKS_NOT_FOUND, PKS_DETAIL_NO_VERSION) == "the version is not kept")
    #expect(text(PKS_OK, PKS_DETAIL_NO_PACK) == "success")
  }

  /// The words are part of the interface: programs compare them in JSON.
  @Test func wordsAreUnique() {
    let subjects = (0..<200).map { String(cString: pks_subject_name(pks_subject(rawValue: $0))) }
    let details = (0..<200).map { String(cString: pks_detail_name(pks_detail(rawValue: $0))) }
    for words in [subjects, details] {
      let known = words.filter { $0 != "unknown" }
      #expect(known.first == "none" && Set(known).count == known.count && words.last == "unknown")
    }
    #expect(String(cString: pks_detail_name(PKS_DETAIL_NO_PACK)) == "no_pack")
  }
}
