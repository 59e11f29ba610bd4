import PackStore
import Testing

@testable import PackDelivery

/// The texts of delivery errors.
@Suite struct DeliveryErrorTests {
  /// The location comes first; the reason is not inspected.
  @Test(
    arguments: [
      ("it is cut short", nil, nil, "it is cut short"),
      ("it is cut short", "/a", nil, "'/a': it is cut short"),
      ("it is cut short", "/a", 7, "'/a', byte 7: it is cut short"),
      ("the file '/a' is cut short", "/a", nil, "'/a': the file '/a' is cut short"),
      ("it is cut short", nil, 0, "it is cut short"),
    ] as [(String, String?, UInt64?, String)])
  func finding(reason: String, location: String?, offset: UInt64?, finding: String) {
    #expect(DeliveryError(.corrupt, reason, at: location, offset: offset).finding == finding)
  }

  /// The remedy names the limit that was met: to try again later is of no help, or not all of it.
  @Test(arguments: DeliveryError.Limit.allCases) func limits(_ limit: DeliveryError.Limit) throws {
    let option =
      switch limit {
      case .metadata: "metadataByteLimit"
      case .redirects: "redirectLimit"
      case .privateRedirects: "allowsPrivateRedirects"
      case .answer: "answerLimit"
      case .rate: "minimumByteRate"
      case .root: "rootLimit"
      }
    #expect(Mirror(reflecting: Store.PullOptions.NetworkLimits()).children.contains { $0.label == option })
    for code in [DeliveryError.Code.badResponse, .unreachable] {
      let remedy = try #require(DeliveryError(code, "no", limit: limit).remedy)
      #expect(remedy.contains("PullOptions.limits.\(option)"), "\(remedy)")
    }
  }

  @Test func withoutALimit() {
    #expect(DeliveryError(.badResponse, "no").remedy?.contains("PullOptions") == false)
  }
}
