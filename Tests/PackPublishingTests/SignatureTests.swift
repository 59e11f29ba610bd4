import Foundation
import PackDelivery
import PackStore
import Testing

@testable import PackPublishing

/// Signatures equal botocore's: for a table that it wrote, and for 200 new requests if it is installed.
@Suite struct SignatureTests {
  private struct Vector: Decodable {
    let method, path, payload, region, key, secret, authorization, date: String
    let token: String?
    let query, headers: [[String]]
    let seconds: Int64
  }

  private func check(_ data: Data) throws -> Int {
    let vectors = try JSONDecoder().decode([Vector].self, from: data)
    for vector in vectors {
      let signer = RequestSigner(
        credentials: Credentials(accessKeyID: vector.key, secretAccessKey: vector.secret, sessionToken: vector.token),
        region: vector.region)
      let signed = signer.sign(
        .init(
          method: vector.method, path: RequestSigner.path(vector.path), query: vector.query.map { ($0[0], $0[1]) },
          headers: vector.headers.map { ($0[0], $0[1]) }, payload: vector.payload), at: vector.seconds)
      let headers = Dictionary(signed.headers.map { ($0.name, $0.value) }) { _, last in last }
      #expect(headers["x-amz-date"] == vector.date)
      #expect(headers["authorization"] == vector.authorization, "\(vector)")
    }
    return vectors.count
  }

  @Test func theTableOfBotocore() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Vectors/sigv4.json")
    #expect(try check(try Data(contentsOf: file)) == 60)
  }

  @Test(.enabled(if: Storage.python != nil, "Tests/Storage/setup could not install botocore"))
  func newRequests() throws {
    let seed = UInt32.random(in: 0 ... .max)
    print("SignatureTests: seed \(seed)")
    let output = try Storage.run(["sign-vectors", "\(seed)", "200"])
    #expect(try check(output) == 200)
  }

  @Test func credentialsAreNotShown() {
    let credentials = Credentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtn", sessionToken: "token")
    var dumped = ""
    dump(credentials, to: &dumped)
    for text in ["\(credentials)", String(reflecting: credentials), dumped] {
      #expect(!text.contains("wJalr") && !text.contains("token"))
    }
  }

  @Test func credentialsAreFoundWhereOtherProgramsLookForThem() throws {
    let files = [
      "/home/u/.aws/credentials": """
      # comment
      [default]
      aws_access_key_id = A1
      aws_secret_access_key=S1
      [work]
      aws_access_key_id=A2
        nested = no
      aws_secret_access_key = S2
      aws_session_token = T2
      [half]
      aws_access_key_id=A4
      """,
      "/home/u/.aws/config": """
      [default]
      region = eu-west-1
      [profile work]
      region=eu-north-1
      endpoint_url = https://storage.example.com
      [profile other]
      aws_access_key_id=A3
      aws_secret_access_key=S3
      """,
    ]
    func profile(_ environment: [String: String]) throws -> StorageProfile {
      try StorageProfile(environment: environment.merging(["HOME": "/home/u"]) { $1 }) { files[$0.string] }
    }
    let standard = try profile([:])
    #expect(standard.credentials?.accessKeyID == "A1" && standard.region == "eu-west-1" && standard.endpoint == nil)
    let work = try profile(["AWS_PROFILE": "work"])
    #expect(work.credentials?.accessKeyID == "A2" && work.credentials?.sessionToken == "T2")
    #expect(work.region == "eu-north-1" && work.endpoint == "https://storage.example.com")
    #expect(try profile(["AWS_PROFILE": "other"]).credentials?.secretAccessKey == "S3")
    #expect(try profile(["AWS_PROFILE": "half"]).credentials == nil)
    let variables = try profile(
      ["AWS_ACCESS_KEY_ID": "V", "AWS_SECRET_ACCESS_KEY": "S", "AWS_REGION": "r", "AWS_ENDPOINT_URL": "http://x"])
    #expect(variables.credentials?.accessKeyID == "V" && variables.region == "r" && variables.endpoint == "http://x")
    // White space around a pasted secret is ignored; white space inside makes it invalid, and it is not shown.
    let pasted = try profile([
      "AWS_ACCESS_KEY_ID": " V\r\n", "AWS_SECRET_ACCESS_KEY": "S\n", "AWS_SESSION_TOKEN": "T\n",
    ])
    #expect(try pasted.requireCredentials().accessKeyID == "V" && pasted.credentials?.sessionToken == "T")
    let joined = try profile(["AWS_ACCESS_KEY_ID": "V", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "hunter\n2"])
    let error = try #require(throws: DeliveryError.self) { try joined.requireCredentials() }
    #expect(error.code == .denied && !"\(error)".contains("hunter"))
    // Half of the variables is none.
    #expect(try profile(["AWS_ACCESS_KEY_ID": "V"]).credentials?.accessKeyID == "A1")
    #expect(throws: (any Error).self) { try profile(["AWS_PROFILE": "none"]) }
  }

  @Test func datesOfRequests() {
    #expect(ServerClock.stamp(1_709_251_199) == ("20240229", "20240229T235959Z"))
    for seconds in stride(from: Int64(0), to: 4_000_000_000, by: 86_399_777) {
      let date = Date(timeIntervalSince1970: Double(seconds))
      #expect(
        ServerClock.stamp(seconds).time == date.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted)))
    }
  }

  @Test func placesInStorages() throws {
    let site = try S3Location("s3://assets/games//packs/")
    #expect(site.bucket == "assets" && site.prefix == "games/packs" && site.description == "s3://assets/games/packs")
    #expect(try site.publisherLocation().description == "s3://assets/games/packs.publisher")
    #expect(!site.contains(try site.publisherLocation()), "nothing private lies below the public prefix")
    #expect(throws: (any Error).self) { try S3Location("s3://assets").publisherLocation() }
    for text in ["s3://", "s3:///x", "s3://a", "s3://assets/../x", "s3://a b/c", "https://x", "s3://x/\u{1}"] {
      #expect(throws: (any Error).self, "\(text)") { try S3Location(text) }
    }
  }

  @Test func answersOfStorages() {
    func kind(_ status: UInt, _ code: String? = nil) -> String {
      switch S3Answer(status: status, code: code, region: nil, retryAfter: nil, at: "s3://x/y") {
      case .done: "done"
      case .missing: "missing"
      case .refused: "refused"
      case .passing: "passing"
      case .misdated: "misdated"
      case .failed(let error): "\(error.code)"
      }
    }
    let table: [(UInt, String?, String)] = [
      (200, nil, "done"), (204, nil, "done"), (404, nil, "missing"), (404, "NoSuchKey", "missing"),
      (404, "NoSuchBucket", "noSite"), (412, "PreconditionFailed", "refused"), (304, nil, "refused"),
      (409, "ConditionalRequestConflict", "passing"), (429, nil, "passing"), (500, "InternalError", "passing"),
      (503, "SlowDown", "passing"), (501, "NotImplemented", "badResponse"), (403, "RequestTimeTooSkewed", "misdated"),
      (400, "ExpiredToken", "denied"), (403, "AccessDenied", "denied"), (403, "SignatureDoesNotMatch", "denied"),
      (301, "PermanentRedirect", "denied"), (400, "InvalidArgument", "badResponse"), (100, nil, "badResponse"),
    ]
    for (status, code, expected) in table { #expect(kind(status, code) == expected, "\(status) \(code ?? "")") }
    #expect(S3Answer.code(in: Array("<Error><Code>SlowDown</Code></Error>".utf8)) == "SlowDown")
    #expect(S3Answer.code(in: Array("<Code>\u{1b}[31m</Code>".utf8)) == nil)
  }
}
