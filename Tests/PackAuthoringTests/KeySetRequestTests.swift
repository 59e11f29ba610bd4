import Foundation
import PackStore
import Testing

@testable import PackAuthoring
@testable import PackFormats

/// Holders of root keys sign offline, one at a time.
@Suite struct KeySetRequestTests {
  let folder: TemporaryFolder
  let names = ["anna", "ben", "carl", "dora", "emil"]
  let keys: [String: SitePublicKey]

  init() throws {
    let folder = try TemporaryFolder()
    var keys: [String: SitePublicKey] = [:]
    for name in names {
      let key = SiteKey()
      try key.write(to: FilePath(folder.path("\(name).key")))
      keys[name] = key.publicKey
    }
    self.folder = folder
    self.keys = keys
  }

  private func file(_ name: String) -> FilePath { FilePath(folder.path("\(name).key")) }

  private func set(_ names: [String] = ["anna", "ben", "carl"]) throws -> KeySetFile {
    try KeySetFile(threshold: 2, keys: names.compactMap { keys[$0] })
  }

  private func sign(_ request: KeySetRequest, _ names: [String]) throws -> [KeySetAnswer] {
    try names.map { name in
      let answer = try #require(try KeySetRequest(text: request.text, file: "request").sign(withKeyIn: file(name)))
      return try KeySetAnswer(text: answer.text, file: "answer")
    }
  }

  private func code(_ body: () throws -> Void) -> PackStoreError.Code? {
    do { try body() } catch { return (error as? PackStoreError)?.code }
    return nil
  }

  private func fault(_ body: () throws -> Void) -> String {
    do { try body() } catch { return "\(error)" }
    return ""
  }

  /// Returns the release key that holders delegated to.
  private func delegated(
    _ set: inout KeySetFile, _ release: SiteKey, by names: [String], _ options: SiteKey.DelegationOptions = .init(),
    next: (threshold: Int, keys: [SitePublicKey])? = nil
  ) throws -> SiteKey {
    let request = try set.request(next: next, for: [.init(release)], options: options)
    let done = try set.completing(request, with: sign(request, names))
    set = done.file
    return try release.delegated(by: done.delegations[0])
  }

  // MARK: - Requests

  @Test func holdersDelegateAndRotate() throws {
    var set = try set()
    let first = set.id
    #expect(!set.isProved && set.number == 1 && set.firstID == first)
    let release = try delegated(&set, SiteKey(), by: ["anna", "ben", "carl"])
    #expect(set.isProved && release.rootKey == first && release.firstKey == first)
    #expect(try #require(release.endsAt).timeIntervalSinceNow > 399 * 86_400)
    // From now on two of them are enough.
    let renewed = try delegated(&set, release, by: ["carl", "anna"])
    #expect(try #require(renewed.delegation?.serial) > (try #require(release.delegation?.serial)))
    // Carl's key is lost: Dora replaces him, and signs once.
    let next = try (2, ["anna", "ben", "dora"].map { try #require(keys[$0]) })
    let rotated = try delegated(&set, renewed, by: ["anna", "ben", "dora"], next: next)
    #expect(set.number == 2 && set.firstID == first && set.id != first && rotated.rootKey == set.id)
    #expect(try rotated.authority(for: .standard).rootKeys == [first, set.id])
    #expect(try KeySetFile(text: set.text, file: "set").text == set.text)
    let later = try delegated(&set, rotated, by: ["dora", "ben"])
    #expect(later.firstKey == first)
    #expect(code { _ = try delegated(&set, later, by: ["carl", "anna"]) } == .untrusted, "Carl's key signs nothing")
  }

  /// A publisher with one root key changes to several, and stays the same publisher.
  @Test func aRootKeyBecomesASet() throws {
    let root = file("root"), next = file("next"), releaseFile = file("release")
    try SiteKey().write(to: root)
    try SiteKey.rotate(root, to: next)
    _ = try SiteKey.delegate(to: releaseFile, by: next, options: .init(revokesEarlier: true))
    let first = try SiteKey(contentsOf: root).publicKey, release = try SiteKey(contentsOf: releaseFile)
    var set = try KeySetFile(continuing: SiteKey(contentsOf: next))
    #expect(set.number == 2 && set.firstID == first && set.isProved)
    #expect(code { _ = try KeySetFile(continuing: release) } == .invalidArgument)
    #expect(code { _ = try set.request(for: [.init(release)]) } == .invalidArgument, "a single key delegates by itself")
    let target = try (2, ["anna", "ben", "carl"].map { try #require(keys[$0]) })
    let key = try delegated(&set, release, by: ["anna", "ben", "carl", "next"], next: target)
    #expect(key.firstKey == first && key.rootKey == set.id)
    #expect(try #require(key.delegation?.serial) > (try #require(release.delegation?.serial)))
    #expect(key.delegation?.revokedBelow == release.delegation?.revokedBelow, "a rotation copies it")
    let authority = try key.authority(for: .standard)
    #expect(authority.rootKeys == [first, try SiteKey(contentsOf: next).publicKey, set.id])
    #expect(try SiteKey(contentsOf: next).fileText.contains("\nsigned \(first) 3 "))
  }

  @Test func revocationIsOneRequestForAllChannels() throws {
    var set = try set()
    let live = SiteKey(), beta = SiteKey(), other = SiteKey()
    let product = try Store.Product("other")
    let otherKey = try delegated(&set, other, by: ["anna", "ben", "carl"], .init(product: product))
    let request = try set.request(for: [.init(live), .init(beta)], options: .init(revokesEarlier: true))
    let serials = request.delegations.map(\.serial)
    #expect(request.delegations.map(\.revokedBelow) == [serials[0], serials[0]] && serials[0] < serials[1])
    set = try set.completing(request, with: sign(request, ["anna", "ben"])).file
    let renewed = try delegated(&set, live, by: ["ben", "carl"])
    #expect(renewed.delegation?.revokedBelow == serials[0], "a renewal keeps it")
    #expect(try delegated(&set, otherKey, by: ["ben", "carl"]).delegation?.revokedBelow == 0)
    let read = try KeySetFile(text: set.text, file: "set")
    #expect(read.revocations.serial(for: .standard) == serials[0] && read.highestSerial == set.highestSerial)
  }

  // MARK: - Attacks and mistakes

  /// A public key was mistyped when the set was made: without this rule the set would have one holder less than everyone believes.
  @Test func eachNewHolderSignsOnce() throws {
    var set = try set()
    let release = SiteKey()
    let request = try set.request(for: [.init(release)])
    let answers = try sign(request, ["anna", "ben"])
    #expect(fault { _ = try set.completing(request, with: answers) }.contains("did not sign: \(keys["carl"]!)"))
    let carl = try sign(request, ["carl"])
    set = try set.completing(request, with: answers + carl).file
    let next = try (2, ["anna", "dora", "emil"].map { try #require(keys[$0]) })
    let rotation = try set.request(next: next, for: [.init(release)])
    let some = try sign(rotation, ["anna", "ben", "dora"])
    #expect(fault { _ = try set.completing(rotation, with: some) }.contains("did not sign: \(keys["emil"]!)"))
    let all = try sign(rotation, ["emil"])
    #expect(try set.completing(rotation, with: some + all).file.number == 2)
  }

  @Test func tooFewHoldersCompleteNothing() throws {
    var set = try set()
    _ = try delegated(&set, SiteKey(), by: ["anna", "ben", "carl"])
    let request = try set.request(for: [.init(SiteKey())])
    #expect(code { _ = try set.completing(request, with: []) } == .untrusted)
    let anna = try sign(request, ["anna"])
    #expect(code { _ = try set.completing(request, with: anna) } == .untrusted)
    #expect(code { _ = try set.completing(request, with: anna + anna) } == .untrusted, "one key twice")
    #expect(code { _ = try sign(request, ["dora"]) } == .untrusted, "not a holder")
    // The answer under another name.
    let text = anna[0].text.replacing("key \(keys["anna"]!)", with: "key \(keys["ben"]!)")
    let forged = try KeySetAnswer(text: text, file: "answer")
    #expect(code { _ = try set.completing(request, with: anna + [forged]) } == .untrusted)
    // An answer to another request.
    let later = try set.request(for: [.init(SiteKey())])
    let ben = try sign(later, ["ben"])
    #expect(fault { _ = try set.completing(request, with: anna + ben) }.contains("for another request"))
    // A request from before a rotation.
    var rotated = set
    let next = try (2, ["anna", "ben", "dora"].map { try #require(keys[$0]) })
    let rotation = try rotated.request(next: next)
    rotated = try rotated.completing(rotation, with: sign(rotation, ["anna", "ben", "dora"])).file
    #expect(code { _ = try rotated.completing(request, with: anna) } == .conflict)
  }

  /// The coordinator's machine was broken into, and asks the holders again.
  @Test func holdersSignNothingDifferent() throws {
    var set = try set()
    _ = try delegated(&set, SiteKey(), by: ["anna", "ben", "carl"])
    let earlier = try set.request(for: [.init(SiteKey())])
    let honest = try (2, ["anna", "ben", "dora"].map { try #require(keys[$0]) })
    let rotation = try set.request(next: honest, for: [.init(SiteKey())])
    let first = try sign(rotation, ["anna"])
    #expect(try sign(rotation, ["anna"]).map(\.text) == first.map(\.text), "the same request again")
    // Another set with the same number; lower serials; the set before.
    var copy = set
    let fork = try copy.request(next: (2, [keys["anna"]!, keys["ben"]!, keys["emil"]!]), for: [.init(SiteKey())])
    #expect(fault { _ = try sign(fork, ["anna"]) }.contains("signed another key set with the number 2"))
    #expect(fault { _ = try sign(earlier, ["anna"]) }.contains("signed the key set 2, which is later"))
    _ = try sign(earlier, ["ben"])
    _ = try sign(rotation, ["ben"])
    #expect(fault { _ = try sign(earlier, ["ben"]) }.contains("signed the key set 2"))
    let text = try SiteKey(contentsOf: file("ben")).fileText
    #expect(text.split(separator: "\n").count == 3 && text.contains("\nsigned \(set.firstID) 2 "))
    // A dry run checks, and notes nothing.
    let before = folder.files("")
    #expect(try rotation.sign(withKeyIn: file("carl"), isDryRun: true) == nil)
    #expect(folder.files("") == before)
  }

  @Test func serialsAreSignedOnce() throws {
    var set = try set(), now: Int64 = 1_800_000_000_000_000_000
    func request() throws -> KeySetRequest {
      try set.request(next: nil, for: [.init(SiteKey())], .init(), now: now)
    }
    var stale = set
    let first = try request()
    let done = try set.completing(first, with: sign(first, ["anna", "ben", "carl"]))
    // A copy of the set's file from before, or a clock that was set back.
    let again = try stale.request(next: nil, for: [.init(SiteKey())], .init(), now: now)
    #expect(again.delegations[0].serial == first.delegations[0].serial)
    #expect(fault { _ = try sign(again, ["anna"]) }.contains("signed delegations with the serial"))
    set = done.file
    now -= 86_400_000_000_000
    let next = try request()
    #expect(next.delegations[0].serial == first.delegations[0].serial + 1)
    _ = try sign(next, ["anna"])
  }

  @Test func aReadOnlyKeyFileSignsNothing() throws {
    guard getuid() != 0 else { return }  // nothing is read-only for the root user
    var set = try set()
    let request = try set.request(for: [.init(SiteKey())])
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path) }
    #expect(throws: PackStoreError.self) { try request.sign(withKeyIn: file("anna")) }
  }

  @Test func invalidRequestsAreRefused() throws {
    var set = try set()
    #expect(code { _ = try set.request() } == .invalidArgument, "nothing is requested")
    let release = SiteKey()
    #expect(code { _ = try set.request(for: [.init(release), .init(release)]) } == .invalidArgument)
    for (threshold, names) in [
      (4, ["anna", "ben", "dora"]), (0, ["anna", "dora"]), (1, []), (2, ["anna", "anna", "ben"]),
    ] {
      let next = (threshold, names.compactMap { keys[$0] })
      #expect(code { _ = try set.request(next: next) } == .invalidArgument)
    }
    #expect(
      code { _ = try set.request(next: (2, ["anna", "ben", "carl"].compactMap { keys[$0] })) } == .invalidArgument)
    for (threshold, names) in [(2, ["anna"]), (1, ["anna"]), (1, [])] {
      #expect(
        code { _ = try KeySetFile(threshold: threshold, keys: names.compactMap { keys[$0] }) } == .invalidArgument)
    }
  }

  @Test func damagedTextsAreRefused() throws {
    var set = try set()
    let request = try set.request(for: [.init(SiteKey())])
    let answer = try sign(request, ["anna"])[0]
    func codes<Value>(_ text: String, _ parse: (String) throws -> Value) {
      #expect(throws: Never.self) { _ = try parse(text) }
      let windows = text.replacing("\n", with: "\r\n")
      #expect(throws: Never.self, "mail programs change line ends") { _ = try parse(windows) }
      let lines = text.split(separator: "\n").map(String.init)
      var bad = lines.indices.map { index in lines.enumerated().filter { $0.offset != index }.map(\.element) }
      bad += lines.indices.map { index in lines.enumerated().map { $0.offset == index ? "x" + $0.element : $0.element }
      }
      bad += [lines + ["x"], lines.reversed(), []]
      for lines in bad where lines != Array(text.split(separator: "\n").map(String.init)) {
        let text = lines.map { $0 + "\n" }.joined()
        // The marks of a proved set and of a request to every holder may be missing.
        let found = code { _ = try parse(text) }
        #expect(found == .corrupt || lines.count == 3 || lines.count == 2, "\(text)")
      }
    }
    codes(answer.text) { try KeySetAnswer(text: $0, file: "") }
    codes(request.text) { try KeySetRequest(text: $0, file: "") }
    codes(set.text) { try KeySetFile(text: $0, file: "") }
  }
}
