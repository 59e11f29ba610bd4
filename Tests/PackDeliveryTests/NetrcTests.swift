import PackStore
import Testing

@testable import PackDelivery

/// Which name and password a `.netrc` has for a host.
@Suite struct NetrcTests {
  private func found(_ text: String, _ host: String, user: String? = nil) throws -> String? {
    try Netrc(text).credential(for: host, user: user).map { "\($0.user):\($0.password)" }
  }

  @Test func entriesAreFoundByHost() throws {
    let text = """
      # a comment with machine a.example
      machine a.example login ann password one
      machine B.example
        login\tbob
        account ignored
        password #two
      machine a.example login ada password three
      machine quoted.example login "a b" password "p\\"q\\\\ \\n#"
      macdef init
      machine hidden.example login x password y

      machine empty.example
      machine half.example password four
      default login guest password five
      """
    for (host, user, credential) in [
      ("a.example", nil, "ann:one"), ("A.EXAMPLE", nil, "ann:one"), ("a.example", "ada", "ada:three"),
      ("b.example", nil, "bob:#two"), ("quoted.example", nil, "a b:p\"q\\ \n#"), ("hidden.example", nil, "guest:five"),
      ("empty.example", nil, "guest:five"), ("half.example", nil, ":four"), ("half.example", "eve", "eve:four"),
      ("sub.a.example", nil, "guest:five"), ("other.example", "guest", "guest:five"), ("other.example", "eve", nil),
    ] as [(String, String?, String?)] {
      let result = try found(text, host, user: user)
      #expect(result == credential, "\(host) \(user ?? "-")")
    }
    #expect(try found("machine a login b password c", "d") == nil)
    #expect(try found("machine a\r\nlogin b\r\npassword c\r\n", "a") == "b:c")
    #expect(try found("MACHINE a LOGIN b PASSWORD c", "a") == "b:c")
    #expect(try found("machine a port 21 login b protocol x password c", "a") == "b:c")
    for text in ["", "machine", "login a password b", "machine a", "macdef", "default login"] {
      let result = try found(text, "a")
      #expect(result == nil)
    }
  }

  @Test func faultsNameTheLineAndNoPassword() throws {
    for text in [
      "\nmachine a login b password \"SECRET", "\nmachine a password \"SECRET\nSECRET\"",
    ] {
      do {
        _ = try Netrc(text, file: "f")
        Issue.record("'\(text)' was read")
      } catch let error as DeliveryError {
        #expect(error.location == "f" && error.reason.hasPrefix("line 2: ") && !error.description.contains("SECRET"))
      }
    }
  }

  @Test func filesAndVariablesAreUsed() throws {
    let home = TestFolder(), site = "https://a.example/packs"
    func field(
      _ environment: [String: String], _ given: SiteAuthorizations.Given? = nil, sites: [String]? = nil
    ) throws -> (value: String?, warnings: [String]) {
      let all = try SiteAuthorizations(given, for: sites ?? [site], environment: environment)
      return (try all.authorization(for: site)?.fields.first?.value, all.warnings)
    }
    #expect(try field(["HOME": home.path]).value == nil)
    try home.write("machine a.example login a password b".utf8, to: ".netrc")
    try home.write("default login c password d".utf8, to: "other")
    let netrc = try field(["HOME": home.path])
    #expect(netrc.value == "Basic YTpi")
    #expect(netrc.warnings.count == 1 && netrc.warnings[0].contains("run 'chmod 600 \(home.path)/.netrc'"))
    #expect(try field(["HOME": home.path, "NETRC": "\(home.path)/other"]).value == "Basic Yzpk")
    #expect(try field(["HOME": home.path, "NETRC": "/dev/null"]).value == nil)
    #expect(try field(["HOME": home.path, "NETRC": "\(home.path)/missing"]).value == nil)
    #expect(try field(["HOME": home.path, "PACKSTORE_TOKEN": "t\n"]).value == "Bearer t")
    #expect(try field(["PACKSTORE_TOKEN": "t"], .token("u\r\n", source: "f")).value == "Bearer u")
    #expect(try field([:], .headerLines("X: y", source: "f")).value == "y")
    // A token names no host.
    let several = [site, "https://b.example/packs"]
    let unused = try field(["PACKSTORE_TOKEN": "t"], sites: several)
    #expect(unused.value == nil && unused.warnings.count == 1)
    #expect(try field(["HOME": home.path, "PACKSTORE_TOKEN": "t"], sites: several).value == "Basic YTpi")
    #expect(throws: DeliveryError.self) { try field([:], .token("t", source: "f"), sites: several) }
    #expect(
      try field([:], .token("t", source: "f"), sites: [site, "https://A.example:443/", "folder"]).value == "Bearer t")
    // Only servers get one, and http is warned of.
    for (place, count) in [("folder", 0), ("http://c.example", 1), ("http://127.0.0.1:80", 0), ("http://[::1]/", 0)] {
      let all = try SiteAuthorizations(.token("t", source: "f"), for: [place], environment: [:])
      #expect(all.warnings.count == count, "\(place)")
    }
    do {
      _ = try field(["PACKSTORE_TOKEN": "SE CRET"])
      Issue.record("a token with a blank was accepted")
    } catch let error as DeliveryError {
      #expect(error.reason.hasPrefix("the variable PACKSTORE_TOKEN: invalid token"))
    }
  }

  /// Any bytes are read or refused.
  @Test func randomTextsEnd() throws {
    var generator = SeededGenerator(seed: 5)
    let words = [
      "machine", "default", "login", "password", "macdef", "account", "\"", "\\", "#", "\n", " ", "a", "\u{301}",
    ]
    for _ in 0..<2000 {
      let text = (0..<Int.random(in: 0..<20, using: &generator)).map { _ in words.randomElement(using: &generator)! }
        .joined(
          separator: Bool.random(using: &generator) ? " " : "")
      _ = try? Netrc(text).credential(for: "a")
    }
  }
}
