import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

@Suite struct SiteKeyFileTests {
  let folder: TemporaryFolder
  var file: FilePath { FilePath(folder.path("deep/er/site.key")) }

  init() throws { folder = try TemporaryFolder() }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func isMadeOnFirstUse() throws {
    let made = try SiteKey.readOrMake(file)
    #expect(made.isNew)
    #expect(try mode(file.string) == 0o600 && mode(folder.path("deep")) == 0o700)
    let again = try SiteKey.readOrMake(file)
    #expect(!again.isNew && again.key.publicKey == made.key.publicKey)
    #expect(folder.files("").keys.sorted() == ["deep/er/site.key"], "nothing else is left")
  }

  @Test func aReleaseKeyIsMadeWithItsRootKey() throws {
    let (key, made) = try SiteKey.readOrMakeRelease(file, options: .init(product: Store.Product("levels")))
    let root = try SiteKey(contentsOf: FilePath(folder.path("deep/er/site-root.key")))
    #expect(made?.isNew == true && made?.rootKey == root.publicKey && made?.product.name == "levels")
    #expect(key.rootKey == root.publicKey && key.publicKey != root.publicKey && root.delegation == nil)
    #expect(made?.channels == [] && key.endsAt == made?.endsAt)
    #expect(try #require(key.endsAt).timeIntervalSinceNow > 399 * 86_400)
    for name in ["site", "site-root"] { #expect(try mode(folder.path("deep/er/\(name).key")) == 0o600) }
    let again = try SiteKey.readOrMakeRelease(file)
    #expect(again.made == nil && again.key.publicKey == key.publicKey)
    // A root key that is there makes the next one.
    try folder.remove("deep/er/site.key")
    let next = try SiteKey.readOrMakeRelease(file)
    #expect(next.key.rootKey == root.publicKey && next.key.publicKey != key.publicKey)
    #expect(folder.files("").keys.sorted() == ["deep/er/site-root.key", "deep/er/site.key"])
  }

  /// Several processes may make the key at once: one of them makes it, and all get the same delegation.
  @Test func aReleaseKeyIsMadeOnce() async throws {
    let file = file
    var serials: Set<UInt64> = [], madeCount = 0
    try await withThrowingTaskGroup(of: (serial: UInt64, isMade: Bool).self) { group in
      for _ in 0..<16 {
        group.addTask {
          let (key, made) = try SiteKey.readOrMakeRelease(file)
          return (try #require(key.delegation).serial, made != nil)
        }
      }
      for try await result in group {
        serials.insert(result.serial)
        madeCount += result.isMade ? 1 : 0
      }
    }
    let written = try #require(try SiteKey(contentsOf: file).delegation)
    #expect(madeCount == 1 && serials == [written.serial])
  }

  @Test(arguments: [
    ("site.key", "site-root.key"), ("a/b.c/site", "a/b.c/site-root"), ("x.y.key", "x.y-root.key"),
    (".key", ".key-root"), ("/k", "/k-root"),
  ])
  func theRootKeyLiesBeside(_ file: String, _ root: String) {
    #expect(SiteKey.rootFile(beside: FilePath(file)).string == root)
  }

  /// A delegation that clients would refuse is not signed, and leaves no trace.
  @Test func keysThatEndedSignNothing() async throws {
    let root = FilePath(folder.path("root.key")), now = nanosecondsSince1970()
    try SiteKey().write(to: root)
    _ = try SiteKey.delegate(to: file, by: root, .init(validity: .seconds(60)), now: now - 61_000_000_000)
    let key = try SiteKey(contentsOf: file)
    #expect(try #require(key.endsAt) < .now)
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("content", ["text": Data("text".utf8)])), as: "P")
    let site = try Site(at: FilePath(folder.path("site")))
    func isRefused(_ body: () async throws -> Void) async -> Bool {
      do { try await body() } catch { return (error as? PackStoreError)?.code == .untrusted }
      return false
    }
    #expect(await isRefused { try await site.publish(from: store, signedBy: key) })
    let archive = FilePath(folder.path("P.pack"))
    #expect(await isRefused { _ = try await store.export(.init("P"), to: archive, signedBy: key) })
    #expect(folder.files("site").keys.contains("root") == false && folder.files("").keys.contains("P.pack") == false)
    _ = try SiteKey.delegate(to: file, by: root, .init(), now: now)
    try await site.publish(from: store, signedBy: try SiteKey(contentsOf: file))
  }

  /// A root key on removable media may be named by a link: the serial is recorded there, and the secret stays there.
  @Test func linksToKeyFilesStay() throws {
    let root = FilePath(folder.path("media/root.key")), link = FilePath(folder.path("root.key"))
    try SiteKey().write(to: root)
    try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: "media/root.key")
    let made = try SiteKey.delegate(to: file, by: link)
    #expect(made.isNoted)
    #expect(try SiteKey(contentsOf: root).highestSerial == made.serial)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.string) == "media/root.key")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("media")) == ["root.key"])
  }

  /// A release key was lost, and the clock of the machine with the root key was set back: clients refused all
  /// signatures of the new release key, because its serial was lower than a serial they had seen.
  @Test func serialsRiseThoughTheClockGoesBack() throws {
    let root = FilePath(folder.path("root.key")), now = nanosecondsSince1970()
    try SiteKey().write(to: root)
    let first = try SiteKey.delegate(to: file, by: root, .init(), now: now)
    #expect(first.isNoted && first.isNew)
    #expect(try mode(root.string) == 0o600)
    try folder.remove("deep/er/site.key")
    let planned = try SiteKey.delegate(to: file, by: root, .init(), isDryRun: true, now: now - 86_400_000_000_000)
    #expect(planned.serial == first.serial + 1 && !planned.isNoted)
    let second = try SiteKey.delegate(to: file, by: root, .init(), now: now - 86_400_000_000_000)
    #expect(second.isNew && second.serial == first.serial + 1)
    // Also after a rotation.
    let next = FilePath(folder.path("next.key"))
    try SiteKey.rotate(root, to: next)
    #expect(try SiteKey.delegate(to: file, by: next, .init(), now: 5).serial == second.serial + 1)
    #expect(folder.files("").keys.sorted() == ["deep/er/site.key", "next.key", "root.key"], "no draft is left")
  }

  /// The release key of one product was stolen. Each renewal of another product's key then revoked that product's earlier roots as
  /// well, and a mirror that showed last week's root took devices back.
  @Test func revocationConcernsOneProduct() throws {
    let root = FilePath(folder.path("root.key")), other = FilePath(folder.path("other.key"))
    try SiteKey().write(to: root)
    let a = try Store.Product("a"), b = try Store.Product("b")
    var rootFile = root, now = nanosecondsSince1970()
    func delegate(_ file: FilePath, _ product: Store.Product?, revokes: Bool = false) throws -> KeyDelegation {
      now += 1_000_000_000
      let options = SiteKey.DelegationOptions(product: product, revokesEarlier: revokes)
      _ = try SiteKey.delegate(to: file, by: rootFile, options, now: now)
      return try #require(try SiteKey(contentsOf: file).delegation)
    }
    #expect(try delegate(file, a).revokedBelow == 0 && delegate(other, b).revokedBelow == 0)
    let theft = try delegate(file, nil, revokes: true)
    #expect(theft.product == a && theft.revokedBelow == theft.serial)
    #expect(try delegate(other, nil).revokedBelow == 0)
    #expect(try delegate(FilePath(folder.path("standard.key")), nil).revokedBelow == 0)
    #expect(try delegate(file, nil).revokedBelow == theft.serial, "a renewal keeps it")
    #expect(try delegate(FilePath(folder.path("new.key")), a).revokedBelow == theft.serial)
    let second = try delegate(other, nil, revokes: true)
    #expect(try delegate(file, nil).revokedBelow == theft.serial && delegate(other, nil).revokedBelow == second.serial)
    // The key of one product is used for another one from now on.
    #expect(try delegate(file, b).revokedBelow == second.serial)
    rootFile = FilePath(folder.path("next.key"))
    try SiteKey.rotate(root, to: rootFile)
    #expect(try delegate(file, a).revokedBelow == theft.serial && delegate(other, nil).revokedBelow == second.serial)
    let third = try delegate(file, nil, revokes: true)
    #expect(try delegate(file, nil).revokedBelow == third.serial && delegate(other, nil).revokedBelow == second.serial)
  }

  @Test func revocationOutlivesAReadOnlyRootKey() throws {
    let root = FilePath(folder.path("root.key")), now = nanosecondsSince1970()
    let key = SiteKey()
    try key.write(to: root)
    let a = try Store.Product("a"), b = try Store.Product("b")
    let theft = try SiteKey.delegate(to: file, by: root, .init(product: a, revokesEarlier: true), now: now)
    try key.replace(root)
    func revoked(_ product: Store.Product) throws -> UInt64? {
      _ = try SiteKey.delegate(to: file, by: root, .init(product: product), now: now)
      try key.replace(root)
      return try SiteKey(contentsOf: file).delegation?.revokedBelow
    }
    #expect(try revoked(a) == theft.serial && revoked(b) == 0)
  }

  @Test func aRootKeyHasALastSerial() throws {
    let root = FilePath(folder.path("root.key"))
    try SiteKey().noting(PackVersion.lastNumber).write(to: root)
    #expect { try SiteKey.delegate(to: file, by: root) } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
    #expect(!pathExists(file))
  }

  @Test func isNeverReplaced() throws {
    try SiteKey().write(to: file)
    let before = folder.files("")
    #expect { try SiteKey().write(to: file) } throws: { ($0 as? PackStoreError)?.code == .exists }
    #expect(folder.files("") == before)
  }

  @Test(arguments: [0o644, 0o640, 0o604, 0o660, 0o610]) func mustBeItsOwnersAlone(_ mode: Int) throws {
    try SiteKey().write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.string)
    #expect { _ = try SiteKey(contentsOf: file) } throws: {
      ($0 as? PackStoreError)?.code == .untrusted && "\($0)".contains("chmod 600")
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file.string)
    _ = try SiteKey(contentsOf: file)
  }

  @Test func whatIsNoKey() throws {
    #expect { _ = try SiteKey(contentsOf: file) } throws: { ($0 as? PackStoreError)?.code == .notFound }
    #expect { _ = try SiteKey(contentsOf: FilePath(folder.path)) } throws: {
      ($0 as? PackStoreError)?.code == .wrongKind
    }
    try folder.makeFolder("other", ["text": Data("hello".utf8)])
    let text = folder.path("other/text")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: text)
    #expect { _ = try SiteKey(contentsOf: FilePath(text)) } throws: { ($0 as? PackStoreError)?.code == .corrupt }
  }

  @Test func liesWhereTheEnvironmentSays() {
    let standard = SiteKey.defaultFile
    #expect(standard(["HOME": "/h"])?.string == "/h/.config/packstore/site.key")
    #expect(standard(["HOME": "/h", "XDG_CONFIG_HOME": "/x"])?.string == "/x/packstore/site.key")
    #expect(standard(["HOME": "/h", "XDG_CONFIG_HOME": "relative"])?.string == "/h/.config/packstore/site.key")
    #expect(standard([:]) == nil && standard(["HOME": ""]) == nil)
  }
}
