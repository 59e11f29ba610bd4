import PackFormats
import PackStore
import Testing

/// Key files that other programs changed, and the faults of refused key files.
@Suite struct SiteKeyTextTests {
  private let text = SiteKey().fileText

  @Test func changedLineEndsAreRead() {
    let windows = text.split(separator: "\n").map { $0 + "\r\n" }.joined()
    for changed in [
      text, String(text.dropLast()), windows, String(windows.dropLast()), "\u{feff}" + windows, text + "\n\r\n",
      text.split(separator: "\n").map { $0 + " \t\n" }.joined(),
    ] {
      #expect(SiteKey.normalizedFileText(changed) == text)
      #expect(SiteKey(fileText: SiteKey.normalizedFileText(changed)) != nil)
    }
  }

  @Test func faultIsNamed() throws {
    let secret = text.split(separator: "\n")[1]
    for (changed, fault) in [
      ("", "it is empty"), ("\n\n", "it is empty"), (SiteKey().publicKey.description, "it is a public key"),
      ("hello", "its first line is not 'packstore secret key 1'"),
      ("packstore secret key 1", "its second line is missing"),
      ("packstore secret key 1\nhello", "its second line is not base64 of 32 bytes"),
      ("packstore secret key 1\n\(secret.dropLast())", "its second line is not base64 of 32 bytes"),
      (text + "hello", "its line 3 is neither a rotation, a delegation nor a serial"),
      (text + "delegation hello", "its lines after the second are damaged, or are of another key"),
    ] {
      let normalized = SiteKey.normalizedFileText(changed)
      #expect(SiteKey(fileText: normalized) == nil)
      #expect(SiteKey.fault(inFileText: normalized) == fault)
    }
  }
}
