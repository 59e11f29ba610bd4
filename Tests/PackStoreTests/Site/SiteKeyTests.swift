import Testing

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
    let signature = try key.signature(of: [1, 2, 3])
    #expect(signature.count == 64)
    #expect(key.publicKey.verifies(signature, of: [1, 2, 3]))
    #expect(!key.publicKey.verifies(signature, of: [1, 2, 4]))
    #expect(!key.publicKey.verifies(signature.dropLast(), of: [1, 2, 3]))
    #expect(!SiteKey().publicKey.verifies(signature, of: [1, 2, 3]))
  }
}
