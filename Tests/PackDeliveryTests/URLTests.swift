#if Delivery
  import Foundation
  import NIOHTTP1
  import Testing

  @testable import PackDelivery

  /// The meaning of URLs, proxies and header fields.
  @Suite struct URLTests {
    @Test func whatIsNoSite() throws {
      for text in ["", "example.com", "ftp://example.com/", "http:///x", "https://user@example.com/", "http://a:b@c/"] {
        #expect(throws: DeliveryError.self, "\(text)") { try SiteURL(text) }
      }
      do {
        _ = try SiteURL("http://ann:secret@example.com/")
        Issue.record("a password was taken")
      } catch {
        #expect(!"\(error)".contains("secret"))
      }
    }

    /// A port of more than 16 bits ends the process in the network library, or means another service.
    @Test func portsAndHostsAreBounded() throws {
      let site = try SiteURL("http://127.0.0.1:8080/root")
      for place in [
        "127.0.0.1:70000", "[::1]:65536", "127.0.0.1:0", "127.0.0.1:99999999999999999999", "example.com:65536",
        "127.0.0.1:-1", "a%0d%0aX-Header%3ab", "a%20b", "a%2fb", "[zz]", "[127.0.0.1]", "[::1]x",
      ] {
        #expect(throws: DeliveryError.self, "\(place)") { try SiteURL("http://\(place)/root") }
        #expect(throws: DeliveryError.self, "\(place)") { try site.redirected(to: "http://\(place)/root") }
        #expect(throws: DeliveryError.self, "\(place)") { try site.redirected(to: "//\(place)/") }
      }
      #expect(try SiteURL("http://127.0.0.1:65535/").port == 65_535)
      #expect(try site.redirected(to: "//[::1]:1/").port == 1)
      for place in ["[::1]", "[::1]:80", "[FE80::1%25eth0]", "[::ffff:127.0.0.1]"] {
        #expect(try SiteURL("http://\(place)/root").host.contains(":"), "\(place)")
      }
    }

    @Test func filesOfASite() throws {
      for (site, file) in [
        ("http://a/b", "http://a/b/root"), ("http://a/b/", "http://a/b/root"), ("http://a", "http://a/root"),
        ("https://a:8443/b/?token=x/y", "https://a:8443/b/root?token=x/y"), ("http://a/b#c", "http://a/b/root"),
      ] {
        #expect(try SiteURL(site).file("root") == file)
        let folder = try #require(try SiteURL(file).folder(of: "root"))
        #expect(folder.file("root") == file)
        #expect(try SiteURL(site).canonical == folder.canonical)
      }
      #expect(try SiteURL("http://a/b/other").folder(of: "root") == nil)
    }

    @Test func partsOfURLs() throws {
      for (url, authority, target) in [
        ("http://a", "a", ""), ("http://a/", "a", "/"), ("http://A:80/b/c?d=/e", "a:80", "/b/c?d=/e"),
        ("https://[::1]:1/x", "[::1]:1", "/x"), ("http://a?b", "a", "?b"),
      ] {
        #expect(try SiteURL(url).authority == authority)
        #expect(try SiteURL(url).target == target)
      }
    }

    @Test func redirectionsAreNoWeaker() throws {
      let site = try SiteURL("https://example.com/a/root")
      #expect(try site.redirected(to: "../b/root").text == "https://example.com/b/root")
      #expect(try site.redirected(to: "//other.com/root").text == "https://other.com/root")
      #expect(try SiteURL("http://example.com/root").redirected(to: "https://example.com/root").scheme == "https")
      for target in [
        "http://example.com/a/root", "HTTP://example.com/", "https://me@example.com/", "file:///etc/passwd",
      ] {
        #expect(throws: DeliveryError.self, "\(target)") {
          try site.redirected(to: target)
        }
      }
    }

    @Test func proxiesOfTheEnvironment() throws {
      func proxy(_ url: String, _ environment: [String: String]) throws -> String? {
        let proxy = try ProxySettings(environment: environment).proxy(for: SiteURL(url))
        return proxy.map { "\($0.host):\($0.port)" + ($0.user ?? "") + $0.password }
      }
      let plain = [
        "http_proxy": "http://p:3128/", "https_proxy": "q:3129", "no_proxy": "localhost, .intern.com,one.org:81",
      ]
      #expect(try proxy("http://a", plain) == "p:3128")
      #expect(try proxy("https://a", plain) == "q:3129")
      #expect(try proxy("https://localhost/", plain) == nil)
      #expect(try proxy("https://LOCALHOST:444/", plain) == nil)
      #expect(try proxy("http://a.intern.com", plain) == nil)
      #expect(try proxy("http://intern.com", plain) == nil)
      #expect(try proxy("http://notintern.com", plain) == "p:3128")
      #expect(try proxy("http://one.org", plain) == "p:3128")
      #expect(try proxy("http://one.org:81", plain) == nil)
      #expect(try proxy("http://a", ["http_proxy": "p:1", "NO_PROXY": "*"]) == nil)
      #expect(try proxy("http://a", ["HTTP_PROXY": "p:1"]) == nil, "it may come from a request's header")
      #expect(try proxy("https://a", ["HTTPS_PROXY": "p:1", "https_proxy": ""]) == "p:1")
      #expect(try proxy("http://a", ["all_proxy": "socks5://p"]) == "p:1080")
      #expect(try proxy("http://a", ["http_proxy": "[::1]:8080"]) == "::1:8080")
      #expect(try proxy("http://a", ["http_proxy": "http://ann:p%40ss@p:1"]) == "p:1annp@ss")
      for wrong in ["http://", "p:0", "p:70000", "ftp://p:1", "http://p/path"] {
        #expect(throws: DeliveryError.self, "\(wrong)") { try proxy("http://a", ["http_proxy": wrong]) }
      }
    }

    @Test func contentRanges() {
      #expect(ContentRange("bytes 0-0/1")?.range == 0..<1)
      #expect(ContentRange("bytes 5-9/*")?.total == nil)
      #expect(ContentRange("bytes 5-9/*")?.range == 5..<10)
      for wrong in [
        "", "bytes 5-4/10", "bytes 0-10/10", "bytes -1-5/10", "bytes */10", "bytes 0-1/10 ",
        "bytes 0-18446744073709551615/*", "bytes=0-1/10",
        // Numbers that no file has, and in whose place nothing may overflow.
        "bytes 0-9999999999999999998/*", "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775806/*",
        "bytes 0-1/9999999999999999999", "bytes 0-1/99999999999999999999", "bytes 0-1000000000000000000/*",
        "bytes 00000000000000000000-1/2", "bytes 18446744073709551614-18446744073709551615/*",
      ] { #expect(ContentRange(wrong) == nil, "\(wrong)") }
      let largest = ContentRange("bytes 0-999999999999999998/999999999999999999")
      #expect(largest?.range.count == 999_999_999_999_999_999)
      #expect(HTTPHeaders([("Content-Length", "1000000000000000000")]).contentLength == nil)
      #expect(HTTPHeaders([("Content-Length", "999999999999999999")]).contentLength == 999_999_999_999_999_999)
      #expect(HTTPHeaders([("Content-Length", "+5")]).contentLength == nil)
    }

    @Test func timesOfHTTP() {
      #expect(httpSeconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
      #expect(httpSeconds("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
      #expect(httpSeconds("Thu, 29 Feb 2024 23:59:59 GMT") == 1_709_251_199)
      for text in [
        "", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1969 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:٣ GMT",
      ] {
        #expect(httpSeconds(text) == nil, "\(text)")
      }
      for seconds in stride(from: 0, to: 4_000_000_000, by: 86_399_777) {
        var time = time_t(seconds), parts = tm(), letters = [CChar](repeating: 0, count: 64)
        gmtime_r(&time, &parts)
        let count = strftime(&letters, letters.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        let text = String(decoding: letters.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        #expect(httpSeconds(text) == Int64(seconds), "\(text)")
      }
      #expect(HTTPHeaders([("Retry-After", "-1")]).retryAfter == nil)
      #expect(HTTPHeaders([("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")]).retryAfter == nil, "by whose clock?")
    }
  }
#endif
