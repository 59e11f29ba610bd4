import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Catalogs that are rebuilt from what is left.
  @Suite struct CatalogRebuildTests {
    /// Records of a hostile run once reached the draft as they were: a target of 9000 bytes, or no path, tripped an
    /// assertion of the tree's writer, and a path that no store may have made a catalog that no reader could read.
    @Test func recordsThatNoCatalogMayHave() throws {
      func put(_ path: String, _ kind: pks__record_kind, targetLength: Int = 0) throws -> pks_status {
        try status { try attempt { drafted_record(sha256, path, path.utf8.count, kind.rawValue, targetLength, $0) } }
      }
      for path in ["", "..", "a//b", "/a", "a/", "a/../b", "a\u{0}b"] {
        #expect(try put(path, PKS__RECORD_FOLDER) == PKS_CORRUPT, "\(path.debugDescription)")
      }
      for length in [0, 4_096, 9_000] {
        #expect(try put("link", PKS__RECORD_LINK, targetLength: length) == PKS_CORRUPT, "\(length)")
      }
      #expect(try put("gone", PKS__RECORD_ABSENT) == PKS_CORRUPT)
      #expect(try put("folder", PKS__RECORD_FOLDER) == PKS_OK)
      #expect(try put("link", PKS__RECORD_LINK, targetLength: 4_095) == PKS_OK)
    }
  }
}
