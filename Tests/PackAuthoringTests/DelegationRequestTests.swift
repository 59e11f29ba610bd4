import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

@Suite struct DelegationRequestTests {
  let folder: TemporaryFolder
  let release = SiteKey()
  let product: Store.Product
  var root: FilePath { FilePath(folder.path("root.key")) }

  init() throws {
    folder = try TemporaryFolder()
    product = try Store.Product("com.example.city")
    try SiteKey().write(to: root)
  }

  private var request: SiteKey.DelegationRequest { .init(releaseKey: release.publicKey, product: product) }

  @Test func answerMakesAReleaseKey() throws {
    let answer = try SiteKey.answer(request, by: root, validity: .seconds(86_400))
    let key = try release.delegated(byAnswer: answer, for: product)
    #expect(key.publicKey == release.publicKey)
    #expect(key.rootKey == (try SiteKey(contentsOf: root)).publicKey)
    #expect(key.delegation?.product == product)
    #expect(try #require(key.endsAt) > .now)
    #expect(!answer.contains(Data(release.fileText.utf8).base64EncodedString().prefix(20)))
    // Serials rise, so that the next answer replaces this one.
    let next = try release.delegated(byAnswer: try SiteKey.answer(request, by: root), for: product)
    #expect(try #require(next.delegation?.serial) > (try #require(key.delegation?.serial)))
  }

  @Test func answersToOtherRequestsAreRefused() throws {
    let other = SiteKey()
    let answer = try SiteKey.answer(.init(releaseKey: other.publicKey, product: product), by: root)
    #expect(throws: PackStoreError.self) { try release.delegated(byAnswer: answer, for: product) }
    let otherProduct = try SiteKey.answer(.init(releaseKey: release.publicKey, product: .standard), by: root)
    #expect(throws: PackStoreError.self) { try release.delegated(byAnswer: otherProduct, for: product) }
    for text in ["", "\n", "delegation\n", "delegation AAAA\n", answer + answer, String(answer.dropLast())] {
      #expect(throws: PackStoreError.self) { try release.delegated(byAnswer: text, for: product) }
    }
  }

  @Test func releaseKeyDoesNotAnswer() throws {
    let file = FilePath(folder.path("release.key"))
    _ = try SiteKey.delegate(to: file, by: root)
    #expect(throws: PackStoreError.self) { try SiteKey.answer(request, by: file) }
  }

  @Test func requestIsCodable() throws {
    let data = try JSONEncoder().encode(request)
    #expect(try JSONDecoder().decode(SiteKey.DelegationRequest.self, from: data) == request)
  }
}
