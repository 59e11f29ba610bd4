import Foundation
import PackStore
import Testing

@testable import PackAuthoring
@testable import PackFormats

/// Secret keys that are not on the publishing machine: a command signs, or another machine.
@Suite struct RootSignerTests {
  let folder: TemporaryFolder
  let secret = SiteKey()

  /// The key with a delegation by a root key.
  let release: SiteKey

  init() throws {
    folder = try TemporaryFolder()
    release = try secret.delegated(
      by: SiteKey(), serial: 9, madeAt: 0, endsAt: nil, product: .standard, channels: [])
  }

  /// The release key without its secret half.
  private func publicHalf() throws -> SiteKey {
    let lines = release.fileText.split(separator: "\n").dropFirst(2)
    let text = ([SiteKey.publicFirstLine, "\(secret.publicKey)"] + lines.map(String.init)).map { $0 + "\n" }.joined()
    return try #require(SiteKey(fileText: text))
  }

  private func path(_ name: String) -> FilePath { FilePath(folder.path(name)) }

  private func fault(_ body: () async throws -> Void) async -> String {
    do { try await body() } catch { return "\(error)" }
    return ""
  }

  /// Signs with the secret key.
  private struct OtherMachine: RootSigner {
    let key: SiteKey
    var publicKey: SitePublicKey
    var changes: @Sendable ([UInt8]) -> [UInt8] = { $0 }

    init(
      _ key: SiteKey, as publicKey: SitePublicKey? = nil, _ changes: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }
    ) {
      self.key = key
      self.publicKey = publicKey ?? key.publicKey
      self.changes = changes
    }

    func signature(of message: SigningMessage) throws -> [UInt8] { changes(try key.signature(of: message)) }
  }

  /// A site with a version, and the publisher's key without its secret half.
  private func site(_ release: SiteKey) async throws -> (Site, Store) {
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("content", ["text": Data("text".utf8)])), as: "P")
    let site = try Site(at: path("site"))
    try await site.publish(from: store, signedBy: release)
    return (site, store)
  }

  // MARK: - Any signer

  @Test func aPublicKeySignsByItsSigner() async throws {
    let (site, _) = try await site(secret)
    let key = SiteKey(publicKey: secret.publicKey)
    #expect(!key.hasSecret && !key.canSign && key.rootKey == secret.publicKey)
    #expect(await fault { try await site.refresh(signedBy: key) }.contains("does not contain its secret half"))
    try await site.refresh(signedBy: key.signed(by: OtherMachine(secret)))
    try await site.promote("P", version: 1, to: SiteChannel("beta"), signedBy: key.signed(by: OtherMachine(secret)))
    #expect(try site.channels().count == 2)
  }

  @Test func wrongSignaturesAreRefused() async throws {
    let (site, _) = try await site(secret), stranger = SiteKey()
    let key = SiteKey(publicKey: secret.publicKey)
    let before = folder.files("site").filter { $0.key == "root" }
    let other = try stranger.signature(of: [1], as: .root), old = try secret.signature(of: [1], as: .root)
    let answers: [@Sendable ([UInt8]) -> [UInt8]] = [
      { $0.dropLast() }, { _ in [] }, { $0 + [0] }, { [$0[0] ^ 1] + $0.dropFirst() }, { _ in other }, { _ in old },
      { _ in [UInt8](repeating: 0, count: 64) },
    ]
    for answer in answers {
      let signed = try key.signed(by: OtherMachine(secret, answer))
      #expect(await fault { try await site.refresh(signedBy: signed) }.contains("not valid for the request"))
    }
    #expect(folder.files("site").filter { $0.key == "root" } == before, "no root was written")
    // The key of the service was changed since then.
    #expect(await fault { _ = try key.signed(by: OtherMachine(stranger)) }.contains("the signer has the key"))
    let changed = try key.signed(by: OtherMachine(stranger, as: secret.publicKey))
    #expect(await fault { try await site.refresh(signedBy: changed) }.contains("not valid for the request"))
    // The file of a key with its secret half would lose it.
    #expect(await fault { _ = try secret.signed(by: OtherMachine(secret)) }.contains("contains its secret half"))
  }

  /// The files of keys without their secret half are public, and keep their delegation.
  @Test func delegationsToKeysElsewhere() async throws {
    let root = path("root.key"), file = path("release.key")
    try SiteKey().write(to: root)
    _ = try SiteKey.delegate(to: file, by: root, options: .init(releaseKey: secret.publicKey))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.string)
    let key = try SiteKey(contentsOf: file)
    #expect(try key.publicKey == secret.publicKey && key.rootKey == SiteKey(contentsOf: root).publicKey)
    #expect(key.fileText.hasPrefix("packstore public key 1\n\(secret.publicKey)\ndelegation "))
    #expect(SiteKey(fileText: key.fileText)?.fileText == key.fileText)
    let (site, _) = try await site(key.signed(by: OtherMachine(secret)))
    #expect(try site.channels().count == 1)
    // A renewal keeps the file public.
    _ = try SiteKey.delegate(to: file, by: root)
    #expect(try SiteKey(contentsOf: file).publicKey == secret.publicKey)
    #expect(try SiteKey(contentsOf: file).hasSecret == false)
  }

  @Test func rootKeysElsewhereDelegate() throws {
    let root = path("root.pub"), file = path("release.key")
    try SiteKey(publicKey: secret.publicKey).write(to: root)
    #expect(throws: PackStoreError.self) { try SiteKey.delegate(to: file, by: root) }
    #expect(!pathExists(file))
    _ = try SiteKey.delegate(to: file, by: root) { _ in OtherMachine(secret) }
    #expect(try SiteKey(contentsOf: file).rootKey == secret.publicKey)
    let noted = try SiteKey(contentsOf: root)
    #expect(noted.highestSerial != nil && !noted.hasSecret)
  }

  // MARK: - Commands

  /// A command that signs with the key of a file, as a key service would: the test writes the answer for the expected bytes.
  private func signer(_ command: String, limit: Duration = .seconds(60)) -> CommandSigner {
    CommandSigner(secret.publicKey, command: command, limit: limit)
  }

  private func message(_ content: [UInt8] = [1, 2, 3]) -> SigningMessage { SigningMessage(of: content, as: .root) }

  @Test func commandsPrintSignatures() throws {
    let signature = try secret.signature(of: message())
    let file = folder.path("answer")
    let texts = [
      Data(signature), Data(Data(signature).base64EncodedString().utf8),
      Data((SignatureText.hex(signature) + "\n").utf8),
      Data(("  " + SignatureText.hex(signature).uppercased() + "\r\n").utf8),
    ]
    for text in texts {
      try text.write(to: URL(fileURLWithPath: file))
      #expect(try signer("cat '\(file)'").signature(of: message()) == signature)
    }
    // It gets the bytes and the purpose.
    let script = "cat > '\(file).in'; printf %s \"$PACKSTORE_SIGN_PURPOSE\" > '\(file).purpose'; cat '\(file)'"
    #expect(try signer(script).signature(of: message()) == signature)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file + ".in")) == Data(message().bytes))
    #expect(try String(contentsOfFile: file + ".purpose", encoding: .utf8) == "root")
    // It need not read them.
    #expect(try signer("exec <&-; cat '\(file)'").signature(of: message()) == signature)
  }

  @Test func faultsOfCommandsAreNamed() async throws {
    for (command, text) in [
      ("exit 3", "failed with the status 3"), ("/nonexistent", "failed with the status 127"),
      ("kill -9 $$", "was ended by a signal"), ("true", "did not print a signature"),
      ("echo hello", "did not print a signature"), ("head -c 2000 /dev/zero", "printed more than a signature"),
      ("yes", "printed more than a signature"), ("head -c 65 /dev/zero", "did not print a signature"),
    ] {
      #expect(await fault { _ = try signer(command).signature(of: message()) }.contains(text), "\(command)")
    }
    // A command that hangs, closes its output and hangs, or leaves a descendant that has the output.
    for command in ["sleep 600", "exec >&-; sleep 600", "sleep 600 & exit 0", "while :; do printf x; sleep 600; done"] {
      let found = await fault { _ = try signer(command, limit: .milliseconds(200)).signature(of: message()) }
      #expect(found.contains("did not end within"), "\(command): \(found)")
    }
  }

  @Test func commandsSignSites() async throws {
    let (site, _) = try await site(release), key = try publicHalf()
    // Its signature is of other bytes.
    let file = folder.path("answer")
    try Data(secret.signature(of: message())).write(to: URL(fileURLWithPath: file))
    let signed = try key.signed(by: signer("cat '\(file)'"))
    #expect(await fault { try await site.refresh(signedBy: signed) }.contains("not valid for the request"))
  }

  // MARK: - Request files

  /// Returns the bytes that a request asks to sign.
  private func requested(_ name: String = "request") throws -> [UInt8] {
    let lines = try String(contentsOfFile: folder.path(name), encoding: .utf8).split(separator: "\n")
    let words = try #require(lines.last).split(separator: " ")
    #expect(words.first == "sign" && words.count == 3)
    return try #require(SignatureText.hexBytes(String(words[2])))
  }

  private func answer(_ bytes: [UInt8]) throws {
    let signature = try secret.signature(of: #require(SigningMessage(signed: bytes)))
    try Data(signature).write(to: URL(fileURLWithPath: folder.path("signature")))
  }

  private func key(_ hasSignature: Bool) throws -> SiteKey {
    let request = try SigningRequest(
      secret.publicKey, file: path("request"), signature: hasSignature ? path("signature") : nil)
    return try publicHalf().signed(by: request)
  }

  @Test func requestsAreSignedElsewhere() async throws {
    let (site, _) = try await site(release), beta = try SiteChannel("beta")
    let before = try site.channels()
    #expect(
      await fault { try await site.promote("P", version: 1, to: beta, signedBy: key(false)) }.contains("is needed"))
    #expect(try site.channels() == before)
    try answer(requested())
    try await site.promote("P", version: 1, to: beta, signedBy: key(true))
    #expect(try site.channels().map(\.channel) == [beta, .live])
  }

  /// A root key that signs for itself also signs its delegation, once.
  @Test func aRootKeySignsItsDelegationFirst() async throws {
    let (site, _) = try await site(secret)
    func refresh(_ hasSignature: Bool) async throws {
      let request = try SigningRequest(
        secret.publicKey, file: path("request"), signature: hasSignature ? path("signature") : nil)
      try await site.refresh(signedBy: SiteKey(publicKey: secret.publicKey).signed(by: request))
    }
    #expect(await fault { try await refresh(false) }.contains("is needed"))
    try answer(requested())
    #expect(await fault { try await refresh(true) }.contains("is needed"))
    try answer(requested())
    try await refresh(true)
  }

  /// Each root needs a run of its own; runs have one date.
  @Test func severalRootsAreSignedInSeveralRuns() async throws {
    let (site, _) = try await site(release), beta = try SiteChannel("beta")
    try await site.promote("P", version: 1, to: beta, signedBy: release)
    let before = try site.channels().map(\.sequence)
    #expect(await fault { try await site.refresh(signedBy: key(false)) }.contains("is needed"))
    try answer(requested())
    #expect(await fault { try await site.refresh(signedBy: key(true)) }.contains("is needed"))
    try answer(requested())
    try await site.refresh(signedBy: key(true))
    let after = try site.channels()
    #expect(zip(before, after.map(\.sequence)).allSatisfy { $0 < $1 } && Set(after.map(\.madeAt)).count == 1)
  }

  @Test func onlyExactlyTheseBytesAreSigned() async throws {
    let (site, store) = try await site(release), beta = try SiteChannel("beta")
    #expect(
      await fault { try await site.promote("P", version: 1, to: beta, signedBy: key(false)) }.contains("is needed"))
    #expect(await fault { _ = try key(false) }.contains("exists already"), "a request is not lost")
    // The signature of other bytes, of another key, and a text without a signature.
    try answer(message().bytes)
    #expect(await fault { _ = try key(true) }.contains("not a signature of the bytes"))
    try Data(SiteKey().signature(of: #require(SigningMessage(signed: requested())))).write(
      to: URL(fileURLWithPath: folder.path("signature")))
    #expect(await fault { _ = try key(true) }.contains("not a signature of the bytes"))
    try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.path("signature")))
    #expect(await fault { _ = try key(true) }.contains("not a signature"))
    // The site changed since then, or the command is another one.
    try answer(requested())
    #expect(
      await fault { try await site.promote("P", version: 1, to: SiteChannel("gamma"), signedBy: key(true)) }.contains(
        "of other bytes"))
    #expect(try site.channels().count == 1)
    _ = store
    // Another key has the file.
    #expect(
      await fault {
        _ = try SigningRequest(SiteKey().publicKey, file: path("request"), signature: path("signature"))
      }.contains("is a request to another key"))
    try await site.promote("P", version: 1, to: beta, signedBy: key(true))
  }

  @Test func delegationsAreRequested() async throws {
    let root = path("root.pub"), file = path("release.key")
    try SiteKey(publicKey: secret.publicKey).write(to: root)
    func delegate(_ hasSignature: Bool) throws {
      _ = try SiteKey.delegate(to: file, by: root) { key in
        try SigningRequest(key, file: path("request"), signature: hasSignature ? path("signature") : nil)
      }
    }
    #expect(await fault { try delegate(false) }.contains("is needed"))
    try answer(requested())
    try delegate(true)
    let release = try SiteKey(contentsOf: file)
    #expect(release.rootKey == secret.publicKey && release.hasSecret && release.publicKey != secret.publicKey)
  }
}
