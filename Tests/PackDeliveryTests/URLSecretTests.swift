import PackStore
import Testing

@testable import PackDelivery

/// Passwords and tokens of URLs are shown nowhere.
@Suite struct URLSecretTests {
  @Test func urlsAreShownWithoutSecrets() {
    for (url, shown) in [
      ("https://a/b", "https://a/b"), ("https://a/b?token=S", "https://a/b?..."), ("https://a?S", "https://a?..."),
      ("https://ann:S@a/b", "https://...@a/b"), ("https://ann@a:1/b?S#S", "https://...@a:1/b?..."),
      ("https://a/b#P@1", "https://a/b#P@1"), ("http://u:p@S@a/b", "http://...@a/b"),
      ("http://u:S/S@a/b", "http://...@a/b"),
      ("http://u:S?S@a/b", "http://...@a/b"), ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
      ("http://a:80/b@c", "http://a:80/b@c"), ("s3://a/b?S", "s3://a/b?..."), ("/a/b?c", "/a/b?c"), ("a?b", "a?b"),
      ("www.example.org/packs?S", "www.example.org/packs?..."), ("u:S@example.org/packs", "...@example.org/packs"),
      ("http:/u:S@a.b/c?S", "http:/...@a.b/c?..."), ("https:a.b/c?S", "https:a.b/c?..."),
      ("", ""), ("://", "://"), ("packs", "packs"),
    ] { #expect(withoutSecrets(url) == shown) }
  }

  @Test func textsAreShownWithoutSecrets() {
    for (text, shown) in [
      ("it failed at https://a/b?S, byte 5", "it failed at https://a/b?..., byte 5"),
      ("'https://u:S@a/b' is not https://a?S.", "'https://...@a/b' is not https://a?..."),
      (
        "at 'https://a/?...' or https://a?..., https://...@b/c", "at 'https://a/?...' or https://a?..., https://...@b/c"
      ),
      ("why? because", "why? because"), ("a: http://u:S@h and http://h/?S", "a: http://...@h and http://h/?..."),
    ] { #expect(hidingSecrets(in: text) == shown) }
  }

  @Test func errorsHaveNoSecrets() {
    let error = DeliveryError(.denied, "denied by 'https://u:SECRET@a/'", at: "https://a/root?token=SECRET")
    #expect(error.description == "'https://a/root?...': denied by 'https://...@a/'")
    #expect(error.location == "https://a/root?...")
  }

  @Test func missingSchemesAreSuggested() async throws {
    for (path, url) in [
      ("www.example.org/packs", "https://www.example.org/packs"), ("localhost:8080/a", "http://localhost:8080/a"),
      ("127.0.0.1:8791/ok", "http://127.0.0.1:8791/ok"), ("host:8080", "https://host:8080"),
      ("https:/example.org/a", "https://example.org/a"), ("https:example.org", "https://example.org"),
      ("example.org", "https://example.org"), ("u:S@example.org/a?S", "https://...@example.org/a?..."),
      ("/srv/packs", nil), ("./www.example.org", nil), ("../a.b", nil), ("packs", nil), ("packs/a.b", nil), ("", nil),
    ] { #expect(urlWithMissingScheme(path) == url) }
    do {
      _ = try await FolderSource("www.example.invalid/packs?SECRET").readWhole("root", upTo: 10)
      Issue.record("a site was found")
    } catch let error as DeliveryError {
      #expect(
        error.description
          == "'www.example.invalid/packs?...': the folder does not exist; for a server, write https://www.example.invalid/packs?..."
      )
      #expect(error.code == .noSite)
    }
    let empty = TestFolder()
    do {
      _ = try await FolderSource(empty.path).readWhole("root", upTo: 10)
      Issue.record("a site was found")
    } catch let error as DeliveryError {
      #expect(error.isMissingRoot && error.remedy == nil)
    }
  }
}
