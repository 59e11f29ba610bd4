import Testing

@testable import PackFormats
@testable import PackStore

@Suite struct SiteKeyTests {
  /// The first test vector of RFC 8032, section 7.1.
  private let file = "packstore secret key 1\nnWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=\n"
  private let publicText = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="

  @Test func textIsReadAsItWasWritten() throws {
    let key = try #require(SiteKey(fileText: file))
    #expect(key.fileText == file)
    #expect(key.publicKey.description == publicText)
    #expect(SitePublicKey(publicText) == key.publicKey)
  }

  @Test func newKeysDiffer() {
    let key = SiteKey()
    #expect(key.publicKey != SiteKey().publicKey)
    #expect(SiteKey(fileText: key.fileText)?.publicKey == key.publicKey)
  }

  @Test(arguments: [
    "", "packstore secret key 1\n", "packstore secret key 1\nAAAA\n",
    "packstore secret key 2\nnWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=\n",
    "packstore secret key 1\nnWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=",
    "packstore secret key 1\nnWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2B=\n",
    "packstore secret key 1\nnWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=\n\n",
  ])
  func whatIsNoKeyFile(_ text: String) { #expect(SiteKey(fileText: text) == nil) }

  @Test(arguments: [
    "", "x", "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo", "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURp=",
    " 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AAAA",
  ])
  func whatIsNoPublicKey(_ text: String) { #expect(SitePublicKey(text) == nil) }

  @Test func signs() throws {
    let key = SiteKey()
    let signature = try key.signature(of: [1, 2, 3], as: .root)
    #expect(signature.count == 64)
    #expect(key.publicKey.verifies(signature, of: [1, 2, 3], as: .root))
    #expect(!key.publicKey.verifies(signature, of: [1, 2, 4], as: .root))
    #expect(!key.publicKey.verifies(signature.dropLast(), of: [1, 2, 3], as: .root))
    #expect(!SiteKey().publicKey.verifies(signature, of: [1, 2, 3], as: .root))
  }

  // MARK: - Root keys and release keys

  private let beta = try! SiteChannel("beta")

  @Test func aRootKeySignsForItself() throws {
    let key = SiteKey(), product = try Store.Product("levels")
    let authority = try key.authority(for: product, beta)
    #expect(authority.rootKeys == [key.publicKey] && authority.releaseKey == key.publicKey)
    #expect(authority.delegation.serial == KeyDelegation.ownSerial && authority.delegation.endsAt == nil)
    #expect(authority.origin == .signed(key.publicKey, product))
    #expect(try key.authority(for: product, beta).bytes == authority.bytes, "it is always the same")
  }

  @Test func releaseKeysAreReadAsTheyWereWritten() throws {
    let first = SiteKey(), second = try SiteKey().following(first), third = try SiteKey().following(second)
    let release = try SiteKey().delegated(
      by: third, serial: 9, madeAt: 5, endsAt: nil, product: .standard, channels: [beta, .live, beta])
    for key in [first, second, third, release] {
      let read = try #require(SiteKey(fileText: key.fileText))
      #expect(read.fileText == key.fileText && read.rootKey == key.rootKey && read.firstKey == first.publicKey)
    }
    #expect(third.fileText.split(separator: "\n").map { $0.prefix(9) }.dropFirst(2) == ["rotation ", "rotation "])
    let authority = try release.authority(for: .standard, beta)
    #expect(authority.rootKeys == [first, second, third].map(\.publicKey))
    #expect(authority.delegation.channels == [beta, .live])
    var reader = ByteReader(authority.bytes[...], file: "")
    #expect(try SigningAuthority(from: &reader) == authority && reader.remaining == 0)
  }

  @Test func aRootKeyKnowsTheHighestSerialThatItGave() throws {
    let root = SiteKey().noting(7).noting(5)
    #expect(root.highestSerial == 7 && root.fileText.hasSuffix("=\nserial 7\n"))
    #expect(SiteKey(fileText: root.fileText)?.highestSerial == 7)
    let next = try SiteKey().following(root)
    let read = try #require(SiteKey(fileText: next.fileText))
    #expect(read.highestSerial == 7 && read.fileText == next.fileText, "clients count on, whatever root key it is")
    let release = try SiteKey().delegated(by: root, serial: 9, madeAt: 5, endsAt: nil, product: .standard, channels: [])
    #expect(!release.fileText.contains("serial"))
  }

  @Test func revocationsAreRecordedForEachProduct() throws {
    let a = try Store.Product("a"), b = try Store.Product("b")
    let key = SiteKey().noting(9, revokedBelow: 9, of: b).noting(10, revokedBelow: 7, of: a).noting(
      11, revokedBelow: 5, of: a)
    let records = "serial 11\nrevoked 7 a\nrevoked 9 b\n"
    #expect(key.fileText.hasSuffix("=\n" + records))
    let read = try #require(SiteKey(fileText: key.fileText)), next = try SiteKey().following(read)
    for key in [key, read, next, try SiteKey().following(next)] {
      #expect([a, b, .standard].map(key.revocations.serial) == [7, 9, 0])
    }
    // Earlier versions recorded no product: such a record is for all.
    let earlier = try #require(
      SiteKey(fileText: key.fileText.replacing(records, with: "serial 11\nrevoked 8\nrevoked 9 b\n")))
    #expect([a, b, .standard].map(earlier.revocations.serial) == [8, 9, 8])
    #expect(earlier.noting(12, revokedBelow: 8, of: a).fileText.hasSuffix("\nserial 12\nrevoked 8\nrevoked 9 b\n"))
    #expect(
      earlier.noting(12, revokedBelow: 12, of: a).fileText.hasSuffix(
        "\nserial 12\nrevoked 8\nrevoked 12 a\nrevoked 9 b\n"))
    let merged = try earlier.following(key.noting(12, revokedBelow: 12, of: .standard))
    #expect([a, b, .standard].map(merged.revocations.serial) == [8, 9, 12])
    for text in [
      "revoked 12\n", "revoked 0\n", "revoked 09\n", "revoked 9\nrevoked 9\n", "serial 9\n", "revoked 12 a\n",
      "revoked 0 a\n",
      "revoked 9 a\nrevoked 9 a\n", "revoked 9 b\nrevoked 9 a\n", "revoked 9 a\nrevoked 9\n", "revoked 9 A\n",
      "revoked 9 \n",
      "revoked 9 a b\n", "revoked\n", "revoked  9\n", "\n",
    ] {
      #expect(SiteKey(fileText: key.fileText.replacing(records, with: "serial 11\n" + text)) == nil, "\(text)")
    }
  }

  @Test func aReleaseKeyDoesWhatItMay() throws {
    let root = SiteKey()
    let release = try SiteKey().delegated(
      by: root, serial: 9, madeAt: 5, endsAt: 6, product: .standard, channels: [beta])
    #expect(release.rootKey == root.publicKey && release.firstKey == root.publicKey)
    #expect(failure { _ = try release.authority(for: .standard, .live) }?.code == .untrusted)
    #expect(failure { _ = try release.authority(for: try Store.Product("levels"), beta) }?.code == .untrusted)
    _ = try release.authority(for: .standard)
    func delegate(_ key: SiteKey, by root: SiteKey) throws {
      _ = try key.delegated(by: root, serial: 9, madeAt: 5, endsAt: 6, product: .standard, channels: [])
    }
    #expect(failure { try delegate(SiteKey(), by: release) }?.code == .invalidArgument)
    #expect(failure { _ = try SiteKey().following(release) }?.code == .invalidArgument)
    #expect(failure { _ = try release.following(root) }?.code == .invalidArgument)
    let channels = try (0...64).map { try SiteChannel("c\($0)") }
    #expect(
      failure {
        _ = try SiteKey().delegated(
          by: root, serial: 9, madeAt: 5, endsAt: nil, product: .standard, channels: channels)
      }?.code == .invalidArgument)
  }

  @Test func rootKeysFollowEachOtherSoOften() throws {
    var key = SiteKey()
    for _ in 0..<63 { key = try SiteKey().following(key) }
    let authority = try key.authority(for: .standard)
    #expect(authority.rootKeys.count == 64 && authority.bytes.count <= SigningAuthority.byteCountLimit)
    #expect(SiteKey(fileText: key.fileText)?.fileText == key.fileText)
    #expect(failure { _ = try SiteKey().following(key) }?.code == .invalidArgument)
  }

  /// No bit of an authority can be changed, and no part of one put into another.
  @Test func everyByteOfAnAuthorityCounts() throws {
    let first = SiteKey(), second = try SiteKey().following(first)
    let release = try SiteKey().delegated(
      by: second, serial: 9, madeAt: 5, endsAt: 6, product: .standard, channels: [beta])
    let bytes = try release.authority(for: .standard).bytes
    func code(_ bytes: some Sequence<UInt8>) -> PackStoreError.Code? {
      failure {
        var reader = ByteReader(Array(bytes)[...], file: "")
        _ = try SigningAuthority(from: &reader)
        try reader.end()
      }?.code
    }
    #expect(code(bytes) == nil)
    for index in bytes.indices {
      let found = code(bytes.putting(bytes[index] ^ 1, at: index))
      #expect(found == .untrusted || found == .corrupt, "byte \(index)")
    }
    for count in bytes.indices { #expect(code(bytes.prefix(count)) != nil) }
    // The delegation of a key to which no rotation leads.
    let other = try SiteKey().following(SiteKey()).authority(for: .standard).bytes
    #expect(code(other.prefix(4 + 192) + bytes.dropFirst(4 + 192)) == .corrupt)
    #expect(code([0, 0, 0, 0] + bytes.dropFirst(4 + 192)) == nil, "the second key alone is another publisher")
  }

  @Test func whatIsNoReleaseKeysFile() throws {
    let root = SiteKey(), next = try SiteKey().following(root)
    let release = try SiteKey().delegated(
      by: root, serial: 9, madeAt: 5, endsAt: 6, product: .standard, channels: [])
    let lines = release.fileText.split(separator: "\n").map(String.init)
    let rotation = String(next.fileText.split(separator: "\n")[2])
    let other = String(root.fileText.split(separator: "\n")[1]), secret = lines[1], delegation = lines[2]
    let bad: [[String]] = [
      [secret, delegation, delegation], [secret, "delegation AAAA"], [secret, "delegation"],
      [secret, "other " + String(delegation.dropFirst(11))], [secret, rotation], [secret, rotation, delegation],
      [secret, delegation, rotation], [other, delegation], [secret, delegation, "serial 7"],
      [other, "serial 7", delegation],
      [other, "serial 07"], [other, "serial 0"], [other, "serial"], [other, "serial -1"],
      [other, "serial 7", "serial 8"],
      [other, "serial 9007199254740992"], [other, "serial 7 "], [other, "serial +7"], [other, "serial 7", rotation],
    ]
    for lines in bad {
      let text = ([SiteKey.firstLine] + lines).map { $0 + "\n" }.joined()
      #expect(SiteKey(fileText: text) == nil, "\(lines.dropFirst())")
    }
  }
}
