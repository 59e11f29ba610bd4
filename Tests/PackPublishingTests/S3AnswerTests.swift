import PackDelivery
import Testing

@testable import PackPublishing

/// Answers of storages that users reported.
@Suite struct S3AnswerTests {
  private func failure(
    _ status: UInt, _ code: String?, region: String? = nil, isConditional: Bool = false, byteCount: UInt64? = nil
  ) -> DeliveryError? {
    let answer = S3Answer(
      status: status, code: code, region: region, retryAfter: nil, at: "s3://x/y", isConditional: isConditional,
      byteCount: byteCount)
    if case .failed(let error) = answer { return error }
    return nil
  }

  @Test func regionOfBucketIsNamed() {
    let body = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-central-1</Region></Error>"
    #expect(S3Answer.region(in: Array(body.utf8)) == "eu-central-1")
    #expect(S3Answer.region(in: Array("<Region>a b</Region>".utf8)) == nil)
    for (status, code) in [(400, "AuthorizationHeaderMalformed"), (301, "PermanentRedirect")] as [(UInt, String)] {
      #expect(failure(status, code, region: "eu-central-1")?.specificRemedy == "use --region eu-central-1")
    }
    let unknown = failure(400, "AuthorizationHeaderMalformed")
    #expect(unknown?.reason.contains("does not accept these credentials") == true)
  }

  /// Once a publisher tried again for 30 seconds, and reported that other publishers change the ledger all the time.
  @Test(arguments: [nil, "", "\"\"", "W/\"a\"", "W/\"\"", "a b", "\"\n\""])
  func tagsThatNameNoContentAreRefused(text: String?) {
    let error = #expect(throws: DeliveryError.self) { try ObjectTag(header: text, at: "s3://x/y") }
    #expect(error?.code == .badResponse && error?.specificRemedy?.contains("endpoint") == true)
  }

  @Test(arguments: ["\"a\"", "a", "\"W/a\""]) func strongTagsAreAccepted(text: String) throws {
    #expect(try ObjectTag(header: text, at: "s3://x/y").text == text)
  }

  @Test func refusedConditionIsNamed() {
    #expect(
      failure(501, "NotImplemented", isConditional: true)?.reason
        == "the storage does not support the condition (501 NotImplemented)")
    #expect(
      failure(400, "InvalidArgument", isConditional: true)?.reason
        == "the storage refuses the condition (400 InvalidArgument)")
    #expect(failure(501, "NotImplemented")?.reason == "the storage does not support the request (501 NotImplemented)")
  }

  @Test func fullStorageAndLongObjectsAreNamed() {
    for (status, code) in [
      (403, "QuotaExceeded"), (507, nil), (507, "XMinioStorageFull"), (403, "XMinioAdminBucketQuotaExceeded"),
    ] as [(UInt, String?)] {
      #expect(S3Answer.isFull(status: status, code: code))
    }
    #expect(!S3Answer.isFull(status: 403, code: "AccessDenied") && !S3Answer.isFull(status: 403, code: nil))
    #expect(
      failure(413, "EntityTooLarge", byteCount: 33_600)?.reason
        == "the storage refuses an object of 33600 bytes (413 EntityTooLarge)")
  }

  #if Delivery
    @Test func redirectsStayWithinStorage() throws {
      let amazon = try S3Endpoint(nil, region: "eu-central-1", usesVirtualHost: nil)
      let own = try S3Endpoint("http://127.0.0.1:9000", region: "us-east-1", usesVirtualHost: nil)
      for (endpoint, url, isOwn) in [
        (amazon, "https://assets.s3-eu-west-1.amazonaws.com/x", true), (amazon, "https://s3.example.com/x", false),
        (amazon, "http://s3.eu-central-1.amazonaws.com/x", false),
        (amazon, "https://amazonaws.com.example.org/x", false),
        (own, "http://127.0.0.1:9000/other/x", true), (own, "http://127.0.0.1:9001/x", false),
        (own, "http://10.0.0.1:9000/x", false), (own, "https://127.0.0.1:9000/x", false),
      ] {
        #expect(endpoint.isOfSameStorage(try SiteURL(url)) == isOwn, "\(url)")
      }
    }
  #endif
}

/// Pages of lists of objects.
@Suite struct S3ListPageTests {
  private func page(_ body: String) -> S3ListPage? {
    S3ListPage(Array("<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3\">\(body)</ListBucketResult>".utf8))
  }

  @Test func objectsAndTokenAreRead() throws {
    let full = try #require(
      page(
        "<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;lt;b</NextContinuationToken>"
          + "<Contents><Key>p/root</Key><ETag>x</ETag><Size>7</Size></Contents>\n"
          + "<Contents><Size>18446744073709551615</Size><Key>p/a%20b+c%C3%A9</Key></Contents>"))
    #expect(full.objects == ["p/root": 7, "p/a b c\u{e9}": .max] && full.next == "a&lt;b")
    #expect(page("<IsTruncated>false</IsTruncated>")?.next == nil)
  }

  @Test(arguments: [
    "", "<IsTruncated>yes</IsTruncated>", "<IsTruncated>true</IsTruncated>",
    "<IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents>",
    "<IsTruncated>false</IsTruncated><Contents><Key>a%G0</Key><Size>1</Size></Contents>",
    "<IsTruncated>false</IsTruncated><Contents><Key>a%</Key><Size>1</Size></Contents>",
    "<IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>18446744073709551616</Size></Contents>",
  ])
  func otherPagesAreRefused(body: String) { #expect(page(body) == nil) }
}
