import PackStore
import Testing

@Suite struct AppVersionTests {
  @Test func missingPartsAreZero() throws {
    #expect(try AppVersion("2") == AppVersion("2.0.0") && AppVersion("2").hashValue == AppVersion("2.0").hashValue)
    #expect(try AppVersion("0") == AppVersion("0.0"))
    #expect(try AppVersion("02.001").description == "2.1", "leading zeros mean nothing")
    #expect(try AppVersion("2.0").description == "2.0", "zeros at the end are shown")
  }

  @Test func versionsAreOrderedByNumbers() throws {
    let sorted = ["0", "0.0.1", "0.9", "0.10", "1", "1.0.0.0.0.0.0.1", "1.2", "1.2.1", "1.10", "2", "999999999"]
    let versions = try sorted.map { try AppVersion($0) }
    for (i, low) in versions.enumerated() {
      for (j, high) in versions.enumerated() { #expect((low < high) == (i < j)) }
    }
  }

  @Test(arguments: [
    "", ".", "1.", ".1", "1..2", "-1", "+1", " 1", "1 ", "1a", "v1", "٣", "1,2", "1.2.3.4.5.6.7.8.9", "1234567890",
  ])
  func whatIsNoVersion(_ text: String) {
    #expect { try AppVersion(text) } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }

  @Test(arguments: [
    ("2.0..<3", ["2", "2.0.0", "2.9.9", "2.0.0.1"], ["1.9", "3", "3.0", "4", "0"]),
    ("2.0...", ["2", "2.1", "999999999.9"], ["1.999999999", "0"]), ("..<3", ["0", "2.9.9"], ["3", "3.0.1"]),
    ("0...", ["0", "1"], []),
  ])
  func rangesHold(_ text: String, _ inside: [String], _ outside: [String]) throws {
    let range = try AppVersionRange(text)
    #expect(range.description == text)
    #expect(try inside.allSatisfy { range.contains(try AppVersion($0)) })
    #expect(try !outside.contains { range.contains(try AppVersion($0)) })
  }

  @Test(arguments: [
    "", "2", "...", "..<", "..<0", "3..<2", "2..<2.0", "2...3", "2..3", "2-3", "..<2...", "2......", "1..<2..<3",
  ])
  func whatIsNoRange(_ text: String) {
    #expect { try AppVersionRange(text) } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }

  @Test func rangesAsSwiftHasThem() throws {
    let two = try AppVersion("2"), three = try AppVersion("3")
    #expect(try AppVersionRange(two..<three).description == "2..<3" && AppVersionRange(two...).description == "2...")
    #expect(try AppVersionRange(..<three).description == "..<3")
    #expect { try AppVersionRange(two..<two) } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }
}
