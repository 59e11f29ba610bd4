import Foundation
import PackStore
import Testing

@testable import PackFormats

/// Root keys that sign together. Attackers have fewer keys than the threshold, or keys of a replaced set.
@Suite struct KeySetTests {
  static let a = seeded(1), b = seeded(2), c = seeded(3), d = seeded(4), e = seeded(5)
  private let release = seeded(9)

  /// A key with a seed of 32 equal bytes.
  static func seeded(_ byte: UInt8) -> SiteKey {
    let seed = Data(repeating: byte, count: 32).base64EncodedString()
    return SiteKey(fileText: "\(SiteKey.firstLine)\n\(seed)\n")!
  }

  static func set(_ number: UInt32 = 1, _ threshold: Int = 2, _ keys: [SiteKey] = [a, b, c]) throws -> KeySet {
    try KeySet(number: number, threshold: threshold, keys: keys.map(\.publicKey))
  }

  static func signatures(
    _ message: [UInt8], _ kind: SignedKind, by keys: [SiteKey]
  ) throws -> [SitePublicKey: [UInt8]] {
    try keys.reduce(into: [:]) { all, key in all[key.publicKey] = try key.signature(of: message, as: kind) }
  }

  static func rotation(_ chain: KeySetChain, to new: KeySet, by keys: [SiteKey]) throws -> KeySetRotation {
    let message = KeySetRotation.message(first: chain.firstID, old: chain.last.id, new: new)
    return try KeySetRotation(
      first: chain.firstID, old: chain.last, new: new, signatures: signatures(message, .setRotation, by: keys))
  }

  static func rotated(_ chain: KeySetChain, to new: KeySet, by keys: [SiteKey]) throws -> KeySetChain {
    try chain.appending(rotation(chain, to: new, by: keys))
  }

  static func delegation(
    _ chain: KeySetChain, to release: SiteKey, by keys: [SiteKey], serial: UInt64 = 9, revokedBelow: UInt64 = 0,
    channels: [SiteChannel] = [], id: SitePublicKey? = nil
  ) throws -> KeyDelegation {
    let terms = try DelegationTerms(
      serial: serial, revokedBelow: revokedBelow, madeAt: 5, endsAt: nil, rootKey: id ?? chain.last.id,
      releaseKey: release.publicKey, product: .standard, channels: channels)
    let message = KeyDelegation.message(terms, first: chain.firstID)
    return try KeyDelegation(
      terms, by: chain.last, first: chain.firstID, signatures: signatures(message, .setDelegation, by: keys))
  }

  private func decode(_ bytes: some Sequence<UInt8>) throws -> SigningAuthority {
    var reader = ByteReader(Array(bytes)[...], file: "")
    let authority = try SigningAuthority(from: &reader)
    try reader.end()
    return authority
  }

  private func code(_ bytes: some Sequence<UInt8>) -> PackStoreError.Code? { failure { _ = try decode(bytes) }?.code }

  // MARK: - Golden vectors, which Python made from FORMAT.md

  /// The example of Docs/FORMAT.md.
  @Test func theExampleOfThePageIsRead() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Docs/FORMAT.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let begin = try #require(text.range(of: "ff ff ff ff                                      key sets"))
    let rows = text[begin.lowerBound...].prefix { $0 != "`" }.split(separator: "\n")
    let bytes = rows.flatMap { $0.prefix(48).split(separator: " ").compactMap { UInt8($0, radix: 16) } }
    let authority = try decode(bytes)
    let set = try Self.set()
    #expect(authority.sets?.last == set && authority.rootKeys == [set.id] && authority.firstKey == set.id)
    #expect(text.contains("in base64, is `\(set.id)`"))
    #expect(authority.releaseKey == Self.d.publicKey && authority.delegation.serial == 1_700_000_000_000)
    #expect(authority.delegation.revokedBelow == 0 && authority.delegation.channels.isEmpty)
    #expect(authority.bytes == bytes)
  }

  /// A single key was rotated, then replaced by a set, and the set by another one.
  private static let rotatedAuthority = [
    "/////wEAAABuehzdKbC3j9E69MVZj+/07yqXFm48pvLk+/zNgFBb8YqHX/8es4RRV3rNWv7kBUVlaN18ieCQhjoFV7x69J8X2gNe7KwvmFAT2RvBmf0V8oj3",
    "ltaqe/BphQ1FJNNnyCwKI3BxehuEiVtw6VCOZnFbrLrTh+jnxri24aiJvtQTAmSfSRXVM974M+yUytG7Fe9gGf584Pn65PKdrz5XUSZ6eOxUw4nWK+uoImNq",
    "jeDjCfCrsd74JOOArFreRiKn/gkCAAAAAQGKh1//HrOEUVd6zVr+5AVFZWjdfIngkIY6BVe8evSfFwIAAAADAAAAAgOBOXcOqH0XX1ajVGbDTH7My42KkbTu",
    "N6Jd9g9bj8mzlIqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c7UkoxijRwsbq6QM4kFmVYSlZJzpcY/k2NsFGFKyHN9EAcpEjOYuBhHUTOQ5yd1wT",
    "kB7cZ2/RhNXETe0YvAOUmjjcfLUId8yzhP8pU5sMH7b2g/EjhgDHIeJ4jcOu0qN7CgCbGavQ9SNXYdlresmiGNyWJfAVuKPoQNPncIHzyeskmoIEEWF9UdPt",
    "1SBnTWiFI8UJUu/UTzm+GGrD7CikSBwFASK8llCkCp/jD8m4PubltW8gYVTRpSsg3PWZOD2GFcJOi6/V7O9j0rLoEkMs6tq0x3zhUVXJGToLQpGghfcMYgoE",
    "AAAAAgOKiOPddAnxlf1S2y08ul1yymcJvx2UEhvzdIgBtA9vXMqTrBcFGHBx1nuDx/8O/oEI6OxFMFdddyaHkzPb2r587UkoxijRwsbq6QM4kFmVYSlZJzpc",
    "Y/k2NsFGFKyHN9EBoqrTZC2/KGKfQKncHWRFCZ0PdeQ03FnIk8Yc9n7+VEWKVIDMM0dgIAABnRiQ6HzSAfVMYqlkFHAb/26fktkCBwLxJXN/qODGqWU9DyKw",
    "RGtX9EvxPd/VNIfnm0dvQ6WajP1Q6YF1K3u3do5Lson7QtyAswUKTCmPfB7WlvxojqsOAKKq02Qtvyhin0Cp3B1kRQmdD3XkNNxZyJPGHPZ+/lRFilSAzDNH",
    "YCAAAZ0YkOh80gH1TGKpZBRwG/9un5LZAgcC8SVzf6jgxqllPQ8isERrV/RL8T3f1TSH55tHb0Olmoz9UOmBdSt7t3aOS7KJ+0LcgLMFCkwpj3we1pb8aI6r",
    "DgFo5c+LAQAAAWjlz4sBAAAAACo2/pyXFwAAAAAAAAAAFTW9S8cXTuh8iucPkj91c8YslL2JHIxds/JEznv0LDBuehzdKbC3j9E69MVZj+/07yqXFm48pvLk",
    "+/zNgFBb8QYAAABsZXZlbHMCAAAABAAAAGJldGEEAAAAbGl2ZQDKuOkbLGoBJq69bmKiqO+q5XGKqaYZ0yhCUtkd8k2WxXnvMQyWoEVAD/krokmdqhGDrsWQ",
    "EkoRI/08TkzOMEYAAUT2J1gG9tjvFrkQrAHWfmGRuHhdRWQbh0MMStt7w8eZ7QkX9qtMBJX0qNzRLoG8gts0PhPTyxFUN6OtHyVL1gw=",
  ].joined()

  @Test func rotationsOfKeysAndSetsAreRead() throws {
    let bytes = try Array(#require(Data(base64Encoded: Self.rotatedAuthority)))
    let authority = try decode(bytes)
    let first = Self.seeded(5).publicKey, second = Self.seeded(6).publicKey
    let sets = try [Self.set(3), Self.set(4, 2, [Self.a, Self.c, Self.d])]
    #expect(authority.rootKeys == [first, second] + sets.map(\.id))
    #expect(try authority.origin == .signed(first, Store.Product("levels")))
    #expect(authority.delegation.revokedBelow == authority.delegation.serial)
    #expect(authority.delegation.channels.map(\.name) == ["beta", "live"])
    #expect(authority.bytes == bytes)
    #if !canImport(CryptoKit)
      // The same bytes are made here.
      let root = try Self.seeded(6).following(Self.seeded(5))
      var chain = try KeySetChain(after: root.rotations, first: KeySet(number: 2, threshold: 1, keys: [second]))
      chain = try Self.rotated(chain, to: sets[0], by: [Self.seeded(6), Self.a, Self.b])
      chain = try Self.rotated(chain, to: sets[1], by: [Self.a, Self.c])
      #expect(chain.bytes == Array(bytes.prefix(chain.bytes.count)))
    #endif
  }

  // MARK: - Sets

  @Test func aSetOfOneKeyIsTheKey() throws {
    let set = try Self.set(1, 1, [Self.a])
    #expect(set.id == Self.a.publicKey)
    #expect(try Self.set(2, 1, [Self.a]).id == set.id, "the number is not part of the id")
    #expect(try Self.set(1, 1).id != Self.set(1, 2).id, "the threshold is")
    #expect(try Self.set().keys == Self.set(1, 2, [Self.c, Self.a, Self.b]).keys, "the order does not matter")
  }

  @Test func invalidSetsAreRefused() throws {
    let keys = [Self.a, Self.b].map(\.publicKey), many = (0..<17).map { Self.seeded(UInt8(100 + $0)).publicKey }
    let small = SitePublicKey([1] + [UInt8](repeating: 0, count: 31))!
    let noncanonical = SitePublicKey([0xee] + [UInt8](repeating: 0xff, count: 30) + [0x7f])!
    for (threshold, keys) in [
      (0, keys), (3, keys), (-1, keys), (1, []), (2, many), (2, keys + [keys[0]]), (1, keys + [small]),
      (1, [noncanonical]),
    ] {
      #expect(failure { _ = try KeySet(threshold: threshold, keys: keys) }?.code == .invalidArgument)
    }
    #expect(try KeySet(threshold: 16, keys: many.prefix(16)).keys.count == 16)
    for number: UInt32 in [0, 65, .max] {
      #expect(failure { _ = try KeySet(number: number, threshold: 1, keys: keys) }?.code == .invalidArgument)
    }
  }

  @Test func setsHaveOneEncoding() throws {
    var writer = ByteWriter()
    try Self.set().encode(to: &writer)
    let bytes = writer.bytes, key = 6..<38, next = 38..<70
    func code(_ bytes: [UInt8]) -> PackStoreError.Code? {
      failure {
        var reader = ByteReader(bytes[...], file: "")
        _ = try KeySet(from: &reader)
        try reader.end()
      }?.code
    }
    #expect(code(bytes) == nil)
    let swapped = Array(bytes[..<6] + bytes[next] + bytes[key] + bytes[70...])
    let twice = Array(bytes[..<6] + bytes[key] + bytes[key] + bytes[70...])
    let small = Array(bytes[..<6] + [1] + [UInt8](repeating: 0, count: 31) + bytes[next] + bytes[70...])
    let zero = Array(bytes[..<6] + [UInt8](repeating: 0, count: 32) + bytes[next] + bytes[70...])
    for bad in [
      swapped, twice, small, zero, bytes.putting(0 as UInt8, at: 4), bytes.putting(4 as UInt8, at: 4),
      bytes.putting(0 as UInt8, at: 5), bytes.putting(17 as UInt8, at: 5), bytes.putting(0 as UInt32, at: 0),
      bytes.putting(65 as UInt32, at: 0),
    ] { #expect(code(bad) == .corrupt) }
  }

  // MARK: - Attacks

  @Test func fewerKeysThanTheThresholdSignNothing() throws {
    let chain = try KeySetChain(first: Self.set()), next = try Self.set(2, 2, [Self.a, Self.d, Self.e])
    for thief in [[], [Self.a], [Self.a, Self.d]] {
      #expect(failure { _ = try Self.delegation(chain, to: release, by: thief) }?.code == .untrusted)
    }
    for thieves in [[Self.a], [Self.b, Self.d, Self.e], [Self.a, Self.b], [Self.d, Self.e]] {
      #expect(failure { _ = try Self.rotation(chain, to: next, by: thieves) }?.code == .untrusted, "too few of one set")
    }
    _ = try Self.rotation(chain, to: next, by: [Self.a, Self.b, Self.d])
  }

  /// A thief with one key edits the bytes: the key twice, indices that fall, or that the set lacks.
  @Test func indicesRise() throws {
    let chain = try KeySetChain(first: Self.set())
    let delegation = try Self.delegation(chain, to: release, by: [Self.a, Self.b, Self.c])
    let bytes = try SigningAuthority(sets: chain, delegation: delegation).bytes
    let second = bytes.count - 65, first = second - 65
    #expect(code(bytes) == nil)
    #expect(bytes[first] == 0 && bytes[second] == 1)
    let row = bytes[first..<second]
    #expect(code(bytes[..<second] + row) == .corrupt, "a key twice")
    #expect(code(bytes[..<first] + bytes[second...] + row) == .corrupt, "indices fall")
    #expect(code(bytes.putting(2 as UInt8, at: second)) == .untrusted, "the signature of another key")
    for index: UInt8 in [0, 3, 16, 255] { #expect(code(bytes.putting(index, at: second)) == .corrupt) }
    #expect(code(bytes[..<second]) == .corrupt, "one too few")
    #expect(code(bytes + row) == .corrupt, "one too many")
  }

  @Test func everyByteOfAnAuthorityCounts() throws {
    let root = try Self.seeded(6).following(Self.seeded(5))
    var chain = try KeySetChain(
      after: root.rotations, first: KeySet(number: 2, threshold: 1, keys: [root.publicKey]))
    chain = try Self.rotated(chain, to: Self.set(3), by: [root, Self.a, Self.b])
    let delegation = try Self.delegation(chain, to: release, by: [Self.a, Self.c], channels: [.live])
    let bytes = try SigningAuthority(sets: chain, delegation: delegation).bytes
    #expect(code(bytes) == nil)
    for index in bytes.indices {
      let found = code(bytes.putting(bytes[index] ^ 1, at: index))
      #expect(found == .untrusted || found == .corrupt, "byte \(index)")
    }
    for count in stride(from: 0, to: bytes.count, by: 7) { #expect(code(bytes.prefix(count)) != nil) }
  }

  @Test func setsAreNumberedInOrderAndUsedOnce() throws {
    let chain = try KeySetChain(first: Self.set()), next = [Self.a, Self.d, Self.e]
    for number: UInt32 in [1, 3, 64] {
      let wrong = try Self.set(number, 2, next)
      #expect(
        failure { _ = try Self.rotated(chain, to: wrong, by: [Self.a, Self.b, Self.d]) }?.code == .invalidArgument)
    }
    // The first set again, with a later number.
    let second = try Self.rotated(chain, to: Self.set(2, 2, next), by: [Self.a, Self.b, Self.d])
    let again = try Self.set(3)
    #expect(
      failure { _ = try Self.rotated(second, to: again, by: [Self.a, Self.b, Self.d, Self.e]) }?.code
        == .invalidArgument)
    // The same in bytes.
    let rotation = try Self.rotation(second, to: again, by: [Self.a, Self.b, Self.d, Self.e])
    var writer = ByteWriter()
    rotation.encode(to: &writer)
    let count = second.bytes.count
    var tail = ByteWriter()
    second.rotations[0].encode(to: &tail)
    let place = count - tail.bytes.count - 4
    let forged = second.bytes.putting(2 as UInt32, at: place) + writer.bytes
    #expect(
      failure {
        var reader = ByteReader(forged[...], file: "")
        _ = try KeySetChain(from: &reader)
      }?.code == .corrupt)
  }

  /// A rotation and a delegation are signed for one publisher and one present set.
  @Test func signaturesAreForOnePublisherAndSet() throws {
    let chain = try KeySetChain(first: Self.set()), next = try Self.set(2, 2, [Self.a, Self.b, Self.d])
    // The same three keys continue another publisher's single key.
    let other = try Self.rotated(
      KeySetChain(first: KeySet(threshold: 1, keys: [Self.e.publicKey])), to: Self.set(2), by: [Self.e, Self.a, Self.b])
    let rotated = try Self.rotated(chain, to: next, by: [Self.a, Self.b])
    func replay(_ delegation: KeyDelegation, on chain: KeySetChain) -> PackStoreError.Code? {
      var writer = ByteWriter()
      chain.encode(to: &writer)
      delegation.encode(to: &writer)
      return code(writer.bytes)
    }
    let signers = [Self.a, Self.b]
    #expect(try replay(Self.delegation(chain, to: release, by: signers), on: chain) == nil)
    #expect(other.last.id == chain.last.id)
    #expect(
      try replay(Self.delegation(other, to: release, by: signers), on: chain) == .untrusted, "of another publisher")
    #expect(try replay(Self.delegation(chain, to: release, by: signers), on: rotated) == .corrupt, "by a replaced set")
    #expect(
      failure { _ = try Self.delegation(rotated, to: release, by: signers, id: chain.last.id) }?.code
        == .invalidArgument)
    // The rotation of one publisher, in the chain of the other.
    var bytes = ByteWriter()
    try Self.rotation(other, to: Self.set(3, 2, [Self.a, Self.b, Self.d]), by: signers).encode(to: &bytes)
    let place = chain.bytes.count - 4
    let forged = chain.bytes.putting(1 as UInt32, at: place) + bytes.bytes.putting(2 as UInt32, at: 0)
    #expect(
      failure {
        var reader = ByteReader(forged[...], file: "")
        _ = try KeySetChain(from: &reader)
      }?.code == .untrusted)
    // Signatures of single keys are of another kind.
    let single = try Self.a.signature(of: KeyDelegation.message(terms(chain), first: chain.firstID), as: .delegation)
    #expect(
      failure {
        _ = try KeyDelegation(
          terms(chain), by: chain.last, first: chain.firstID,
          signatures: [Self.a.publicKey: single, Self.b.publicKey: single])
      }?.code == .untrusted)
  }

  private func terms(_ chain: KeySetChain) throws -> DelegationTerms {
    try DelegationTerms(
      serial: 9, madeAt: 5, endsAt: nil, rootKey: chain.last.id, releaseKey: release.publicKey, product: .standard,
      channels: [])
  }

  /// Publishers with one key keep their format.
  @Test func singleKeysHaveTheirOwnForm() throws {
    let chain = try KeySetChain(first: Self.set(1, 1, [Self.a]))
    let delegation = try Self.delegation(chain, to: release, by: [Self.a])
    #expect(failure { _ = try SigningAuthority(sets: chain, delegation: delegation) }?.code == .invalidArgument)
    var writer = ByteWriter()
    chain.encode(to: &writer)
    delegation.encode(to: &writer)
    #expect(code(writer.bytes) == .corrupt)
    let rotated = try Self.rotated(chain, to: Self.set(2, 1, [Self.b]), by: [Self.a, Self.b])
    #expect(rotated.hasSingleKeys)
    let back = try Self.rotated(
      KeySetChain(first: Self.set()), to: Self.set(2, 1, [Self.d]), by: [Self.a, Self.b, Self.d])
    #expect(!back.hasSingleKeys && back.last.id == Self.d.publicKey, "a set may become a single key")
  }

  @Test func anAuthorityOfTheLargestSetsFits() throws {
    let keys = (1...170).map { Self.seeded(UInt8($0)) }
    let known = Dictionary(uniqueKeysWithValues: keys.map { ($0.publicKey, $0) })
    var chain = try KeySetChain(first: Self.set(1, 16, Array(keys[..<16])))
    for number: UInt32 in 2...64 {
      // Two halves take turns; a key of its own gives each set another id.
      let begin = number % 2 == 0 ? 16 : 0
      let new = Array(keys[begin..<begin + 15]) + [keys[100 + Int(number)]]
      let old = chain.last.keys.compactMap { known[$0] }
      chain = try Self.rotated(chain, to: Self.set(number, 16, new), by: old + new)
    }
    let channels = try (0..<64).map { try SiteChannel("c\($0)") }, last = chain.last.keys.compactMap { known[$0] }
    let delegation = try Self.delegation(chain, to: release, by: last, channels: channels)
    let bytes = try SigningAuthority(sets: chain, delegation: delegation).bytes
    #expect(bytes.count < SigningAuthority.byteCountLimit)
    #expect(try decode(bytes).rootKeys.count == 64)
    #expect(failure { _ = try chain.requireNext(Self.set(64)) }?.code == .invalidArgument)
    #expect(failure { _ = try Self.set(65) }?.code == .invalidArgument)
  }

  // MARK: - Key files and roots

  private func releaseKey(_ by: [SiteKey] = [a, c]) throws -> SiteKey {
    let chain = try KeySetChain(first: Self.set())
    return try release.delegated(by: chain, Self.delegation(chain, to: release, by: by))
  }

  @Test func releaseKeysOfSetsAreReadAsTheyWereWritten() throws {
    let key = try releaseKey(), set = try Self.set()
    let read = try #require(SiteKey(fileText: key.fileText))
    #expect(read.fileText == key.fileText && read.rootKey == set.id && read.firstKey == set.id)
    #expect(try read.authority(for: .standard, .live) == key.authority(for: .standard, .live))
    let lines = key.fileText.split(separator: "\n").map(String.init)
    for bad in [
      [lines[0], lines[1], lines[2]], [lines[0], lines[1], lines[3]], [lines[0], lines[1], lines[3], lines[2]],
      lines + ["serial 3"], lines + [lines[3]], [lines[0], lines[1], lines[2], lines[2], lines[3]],
    ] { #expect(SiteKey(fileText: bad.map { $0 + "\n" }.joined()) == nil) }
  }

  @Test func rootsOfSetsAreReadAsTheyWereWritten() throws {
    let key = try releaseKey(), bytes = try SiteFormatSamples.root.encode(signedBy: key)
    let signed = try SignedSiteRoot(decoding: bytes, file: "root")
    #expect(try signed.root == SiteFormatSamples.root && signed.rootKey == Self.set().id)
    #expect(try SignedSiteRoot.namedKey(in: bytes).map { Array($0) } == Self.set().id.bytes)
    // The format of the root matches the kind of its authority; a reader of single keys reports a later version.
    #expect(bytes[8...].starts(with: [1, 0, 11, 0]))
    let single = try SiteFormatSamples.root.encode(signedBy: Self.a)
    for (bytes, format) in [(bytes, SiteFormat.current), (single, SiteFormat.keySets)] {
      #expect(
        failure { _ = try SignedSiteRoot(decoding: bytes.putting(format, at: 8), file: "root") }?.code == .corrupt)
    }
    let unsigned = try SiteFormatSamples.root.encode(signedBy: nil).putting(SiteFormat.keySets, at: 8)
    #expect(failure { _ = try SignedSiteRoot(decoding: unsigned, file: "root") }?.code == .corrupt)
    #expect(failure { try SiteFormat.check(SiteFormat.keySets, file: nil) }?.code == .newerFormat)
    for index in [8, 12, 16, 200, bytes.count - 1] {
      #expect(
        failure { _ = try SignedSiteRoot(decoding: bytes.putting(bytes[index] ^ 1, at: index), file: "root") } != nil)
    }
  }

  @Test func deltasOfSetsAreReadAsTheyWereWritten() throws {
    let header = Digest256(hashing: [1])
    let signature = try DeltaSignature(of: header, by: releaseKey(), product: .standard, sequence: 7)
    let read = try #require(DeltaSignature(signature.bytes, of: header))
    #expect(try read == signature && read.authority.rootKey == Self.set().id)
  }

  /// The reader in Python verifies the same roots, and refuses the same attacks.
  @Test func theIndependentReaderAgrees() throws {
    let key = try releaseKey(), bytes = try SiteFormatSamples.root.encode(signedBy: key)
    let single = try SiteFormatSamples.root.encode(signedBy: Self.b.following(Self.a))
    let set = try Self.set().id.bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    #expect(try read(bytes).contains("root keys \(set) release key"))
    #expect(try read(single).hasPrefix("root keys "))
    for (bytes, index) in [(bytes, 8), (bytes, 12 + 60), (bytes, 300), (bytes, bytes.count - 80), (single, 120)] {
      let changed = bytes.putting(bytes[index] ^ 1, at: index)
      #expect(try read(changed).hasPrefix("refused: "), "byte \(index)")
      #expect(failure { _ = try SignedSiteRoot(decoding: changed, file: "root") } != nil)
    }
  }

  private func read(_ root: [UInt8]) throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "root-\(UInt64.random(in: 0 ... .max))")
    try Data(root).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let process = Process(), output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", tests.appending(path: "Reader/site_reader.py").path, "--root", file.path]
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
