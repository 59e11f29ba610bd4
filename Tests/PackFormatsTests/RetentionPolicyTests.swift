import Foundation
import PackStore
import Testing

@testable import PackFormats

/// The retention policy in the root of `live`, as bytes.
@Suite struct RetentionPolicyTests {
  private func root(_ policy: RetentionPolicy?, others: [SiteRoot.Extension] = []) throws -> SiteRoot {
    var root = SiteRoot(
      sequence: 7, madeAt: 5, expiresAfter: nil, site: SiteID(ID128(copying: [UInt8](repeating: 1, count: 16))),
      product: .standard, packs: [])
    root.otherExtensions = others
    root.setRetentionPolicy(policy)
    return root
  }

  @Test func policyIsReadAsItWasWritten() throws {
    let key = SiteKey()
    let policy = try RetentionPolicy(
      offeredVersionCount: 9, buildCount: 0, graceSeconds: 0, purgeableGraceSeconds: 1,
      pins: [.init("b", 2), .init("a", 7), .init("b", 1), .init("a", 7)])
    #expect(policy.pins == [.init("a", 7), .init("b", 1), .init("b", 2)])
    let others = [SiteRoot.Extension(type: 2, bytes: [1]), SiteRoot.Extension(type: 0x40, bytes: [])]
    for policy in [policy, .standard, nil] {
      let bytes = try root(policy, others: others).encode(signedBy: key)
      let decoded = try SignedSiteRoot(decoding: bytes, file: "root").root
      #expect(try decoded.retentionPolicy() == policy)
      #expect(decoded.otherExtensions.filter { $0.type != 0x10 } == others)
    }
    var changed = try root(policy)
    changed.setRetentionPolicy(nil)
    #expect(try changed.retentionPolicy() == nil && changed.otherExtensions.isEmpty)
  }

  /// Clients accept the root, and publishers refuse to guess.
  @Test func damagedPolicyIsAnErrorForPublishersOnly() throws {
    let valid = try RetentionPolicy(pins: [.init("a", 1), .init("b", 2)]).extensionBytes
    var wrong = (0..<valid.count).map { Array(valid.prefix($0)) } + [valid + [0]]
    for (offset, byte) in [(0, UInt8(0)), (1, 255), (5, 255), (15, 255), (23, 255), (24, 3), (25, 255)] {
      var bytes = valid
      bytes[offset] = byte
      wrong.append(bytes)
    }
    var swapped = valid
    swapped[32] = UInt8(ascii: "z")
    wrong.append(swapped)
    for bytes in wrong {
      var root = try root(nil)
      root.otherExtensions = [.init(type: RetentionPolicy.extensionType, bytes: bytes)]
      let decoded = try SignedSiteRoot(decoding: try root.encode(signedBy: SiteKey()), file: "root").root
      #expect(throws: PackStoreError.self, "\(bytes)") { try decoded.retentionPolicy() }
    }
  }

  @Test func jsonOutOfRangeIsRefused() throws {
    let policy = try RetentionPolicy(offeredVersionCount: 4, pins: [.init("a", 1), .init("b", 2)])
    let text = String(decoding: try JSONEncoder().encode(policy), as: UTF8.self)
    #expect(try JSONDecoder().decode(RetentionPolicy.self, from: Data(text.utf8)) == policy)
    let wrong = text.replacingOccurrences(of: "\"offeredVersionCount\":4", with: "\"offeredVersionCount\":0")
    #expect(wrong != text)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(RetentionPolicy.self, from: Data(wrong.utf8)) }
  }

  @Test func valuesOutOfRangeAreRefused() {
    let ten = RetentionPolicy.longestGraceSeconds
    #expect(throws: PackStoreError.self) { try RetentionPolicy(offeredVersionCount: 0) }
    #expect(throws: PackStoreError.self) { try RetentionPolicy(offeredVersionCount: 1_001) }
    #expect(throws: PackStoreError.self) { try RetentionPolicy(buildCount: -1) }
    #expect(throws: PackStoreError.self) { try RetentionPolicy(graceSeconds: ten + 1) }
    #expect(throws: PackStoreError.self) { try RetentionPolicy(purgeableGraceSeconds: .max) }
    #expect(throws: PackStoreError.self) { try RetentionPolicy(pins: [.init("a", 0)]) }
    #expect(throws: PackStoreError.self) { try RetentionPolicy(pins: (1...10_001).map { .init("a", $0) }) }
  }
}
