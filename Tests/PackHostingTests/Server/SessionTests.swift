#if Hosting
  import Crypto
  import Foundation
  import PackStore
  import Testing

  @testable import PackHosting

  /// Sessions of clients over HTTP. Each answer is checked against the served OpenAPI document.
  @Suite struct SessionTests {
    /// A client whose answers are checked.
    struct Session {
      let server: TestServer
      let check: SchemaCheck

      init(_ server: TestServer) async throws {
        self.server = server
        check = SchemaCheck(document: try #require(try await server.send("GET", "/packstore/v1/openapi.json").json))
      }

      func send(
        _ method: String, _ target: String, _ body: String? = nil, authorization: String? = nil,
        location: SourceLocation = #_sourceLocation
      ) async throws -> TestAnswer {
        let answer = try await server.send(method, target, body, authorization: authorization)
        let path = String(target.prefix { $0 != "?" })
        AnswerRecord.add(method, path, answer)
        let faults = check.faults(method, path, answer)
        #expect(faults.isEmpty, "\(faults)", sourceLocation: location)
        return answer
      }

      /// Creates a resource, and returns its id.
      func create(
        _ type: String, _ attributes: String = "", _ relationships: [(String, String, String)],
        location: SourceLocation = #_sourceLocation
      ) async throws -> String {
        let answer = try await send(
          "POST", "/v1/\(type)", Self.body(type, attributes, relationships), location: location)
        #expect(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))", sourceLocation: location)
        let id = try #require(answer.text("data.id"), sourceLocation: location)
        #expect(answer.fields["location"]?.hasSuffix("/v1/\(type)/\(id)") == true, sourceLocation: location)
        return id
      }

      static func body(
        _ type: String, id: String? = nil, _ attributes: String = "", _ relationships: [(String, String, String)] = []
      ) -> String {
        let linkages = relationships.map { #""\#($0.0)":{"data":{"type":"\#($0.1)","id":"\#($0.2)"}}"# }
        let parts = [
          #""type":"\#(type)""#, id.map { #""id":"\#($0)""# } ?? "",
          attributes.isEmpty ? "" : #""attributes":{\#(attributes)}"#,
          linkages.isEmpty ? "" : #""relationships":{\#(linkages.joined(separator: ","))}"#,
        ]
        return #"{"data":{\#(parts.filter { !$0.isEmpty }.joined(separator: ","))}}"#
      }

      func pack(_ name: String = "City") async throws -> String {
        try await create(
          "backgroundAssets", #""assetPackIdentifier":"\#(name)""#, [("app", "apps", server.host.app.rawValue)])
      }

      func version(of pack: String) async throws -> String {
        try await create("backgroundAssetVersions", "", [("backgroundAsset", "backgroundAssets", pack)])
      }

      func reserve(_ type: String, _ bytes: [UInt8], of version: String) async throws -> TestAnswer {
        try await send(
          "POST", "/v1/backgroundAssetUploadFiles",
          Self.body(
            "backgroundAssetUploadFiles", #""assetType":"\#(type)","fileName":"city.aar","fileSize":\#(bytes.count)"#,
            [("backgroundAssetVersion", "backgroundAssetVersions", version)]))
      }

      /// Sends the parts as the answer of a reservation describes them.
      func upload(_ bytes: [UInt8], _ reservation: TestAnswer) async throws {
        for operation in reservation.value("data.attributes.uploadOperations")?.array ?? [] {
          let url = try #require(operation.member("url")?.string)
          let offset = try #require(operation.member("offset")?.integer(Int.self))
          let length = try #require(operation.member("length")?.integer(Int.self))
          #expect(length > 0)
          let answer = try await put(Array(bytes[offset..<offset + length]), url)
          #expect(answer.status == 200 && answer.fields["etag"] != nil)
        }
      }

      func put(_ bytes: [UInt8], _ url: String, chunked: Bool = false) async throws -> TestAnswer {
        let base = "http://localhost:\(server.port)"
        #expect(url.hasPrefix(base))
        let head =
          "PUT \(url.dropFirst(base.count)) HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n"
        guard chunked else {
          return try await server.send([Array("\(head)Content-Length: \(bytes.count)\r\n\r\n".utf8) + bytes])
        }
        let chunks = bytes.map { [UInt8]("1\r\n".utf8) + [$0] + Array("\r\n".utf8) }
        return try await server.send(
          [Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8)] + chunks + [Array("0\r\n\r\n".utf8)])
      }

      func commit(_ file: String, _ more: String = "") async throws -> TestAnswer {
        try await send(
          "PATCH", "/v1/backgroundAssetUploadFiles/\(file)",
          Self.body("backgroundAssetUploadFiles", id: file, #""uploaded":true"# + (more.isEmpty ? "" : "," + more)))
      }
    }

    private func run(role: Role = .admin, _ body: (Session) async throws -> Void) async throws {
      let host = try await TestHost(), key = TestKey()
      try await key.register(in: host, role: role)
      try await TestServer.run(host, key) { try await body(try await Session($0)) }
    }

    private let bytes = [UInt8]((0..<2000).map { UInt8(truncatingIfNeeded: $0) })

    // MARK: - Uploads

    /// Both orders are used by clients, with checksums of all kinds or none.
    @Test(arguments: [["MANIFEST", "ASSET"], ["ASSET", "MANIFEST"]]) func uploadsInBothOrders(_ order: [String])
      async throws
    {
      try await run { session async throws in
        let version = try await session.version(of: try await session.pack())
        for (place, type) in order.enumerated() {
          let reservation = try await session.reserve(type, bytes, of: version)
          #expect(reservation.status == 201)
          #expect(reservation.text("data.attributes.assetDeliveryState.state") == "AWAITING_UPLOAD")
          #expect(reservation.value("data.attributes.fileSize")?.integer(Int.self) == 2000, "a number")
          #expect(reservation.value("data.attributes.sourceFileChecksums") == nil, "absent until given")
          try await session.upload(bytes, reservation)
          let file = try #require(reservation.text("data.id"))
          let sha = SHA256.hash(data: bytes).hex
          let sums = #""sourceFileChecksums":{"file":{"hash":"\#(sha.uppercased())","algorithm":"SHA_256"}}"#
          let committed = try await session.commit(file, place == 0 ? sums : "")
          #expect(committed.status == 200)
          #expect(committed.value("data.attributes.uploadOperations") == nil)
          if place == 0 { #expect(committed.text("data.attributes.sourceFileChecksums.file.hash") == sha) }
          #expect(try await session.commit(file, place == 0 ? sums : "").status == 200, "a repetition")
        }
        let found = try await session.send(
          "GET", "/v1/backgroundAssetVersions/\(version)?include=internalBetaRelease,assetFile,manifestFile")
        #expect(found.text("data.attributes.version") == "1", "a string")
        #expect(found.text("data.attributes.state") == "PROCESSING")
        #expect(found.value("included")?.array?.count == 2)
        let files = try await session.send(
          "GET", "/v1/backgroundAssetVersions/\(version)/backgroundAssetUploadFiles?limit=200")
        #expect(files.value("data")?.array?.count == 2)
        #expect(
          try await session.send(
            "GET", "/v1/backgroundAssetVersions/\(version)/relationships/backgroundAssetUploadFiles"
          )
          .value("meta.paging.total")?.integer(Int.self) == 2)
      }
    }

    @Test func deprecatedChecksumIsAccepted() async throws {
      try await run { session async throws in
        let version = try await session.version(of: try await session.pack())
        let reservation = try await session.reserve("ASSET", bytes, of: version)
        try await session.upload(bytes, reservation)
        let md5 = Insecure.MD5.hash(data: bytes).hex, file = try #require(reservation.text("data.id"))
        let bad = try await session.commit(file, #""sourceFileChecksum":"xyz""#)
        #expect(bad.fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
        let answer = try await session.commit(
          file,
          #""sourceFileChecksum":"\#(md5)","sourceFileChecksums":{"composite":{"hash":"\#(md5)-1","algorithm":"MD5"},"file":null}"#
        )
        #expect(answer.status == 200 && answer.text("data.attributes.sourceFileChecksum") == md5)
      }
    }

    @Test func partsAreChunkedRepeatedAndClosed() async throws {
      try await run { session async throws in
        let version = try await session.version(of: try await session.pack())
        let small = Array(bytes[..<40]), reservation = try await session.reserve("ASSET", small, of: version)
        let url = try #require(reservation.text("data.attributes.uploadOperations.0.url"))
        let file = try #require(reservation.text("data.id"))
        #expect(
          try await session.commit(file).fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE", "no part yet")
        #expect(try await session.put(small, url, chunked: true).status == 200)
        #expect(try await session.put(small, url).status == 200, "again")
        #expect(try await session.put(Array(small.dropLast()), url).status == 400, "too short")
        #expect(try await session.put(small + small, url, chunked: true).status == 400, "too long")
        #expect(try await session.put(small, url.replacing("/1?", with: "/2?")).status == 403, "another part")
        #expect(try await session.put(small, url + "0").status == 403, "another signature")
        #expect(try await session.commit(file).status == 200)
        #expect(try await session.put(small, url).status == 410, "closed by the commit")
      }
    }

    // MARK: - Releases

    /// A version goes to internal testers, to external testers and to the store, by the calls of Apple's API alone.
    @Test func versionIsReleasedInSteps() async throws {
      try await run { session async throws in
        let host = session.server.host
        try await host.delegate()
        let pack = try await session.pack()
        let first = try await upload("streets", pack, session), second = try await upload("more streets", pack, session)
        let versions = try await session.send(
          "GET",
          "/v1/backgroundAssets/\(pack)/versions?sort=-version&filter[state]=COMPLETE&include=internalBetaRelease,appStoreRelease"
        )
        #expect(versions.text("data.0.attributes.version") == "2" && versions.text("data.1.id") == first)
        #expect(try await state(first, "internalBetaRelease", session) == "SUPERSEDED")
        #expect(try await state(second, "internalBetaRelease", session) == "READY_FOR_TESTING")
        #expect(try await state(second, "externalBetaRelease", session) == "READY_FOR_BETA_SUBMISSION")

        let relationships = [("backgroundAssetVersion", "backgroundAssetVersions", second)]
        let beta = try await session.create("betaBackgroundAssetReviewSubmissions", "", relationships)
        await host.work()
        #expect(try await state(second, "externalBetaRelease", session) == "READY_FOR_TESTING")
        let review = try await session.send(
          "GET", "/v1/betaBackgroundAssetReviewSubmissions/\(beta)?include=backgroundAssetVersion")
        #expect(review.text("data.attributes.betaReviewState") == "APPROVED" && review.text("included.0.id") == second)

        for version in [first, second] { try await submit(version, session) }
        #expect(try await state(first, "appStoreRelease", session) == "SUPERSEDED")
        #expect(try await state(second, "appStoreRelease", session) == "READY_FOR_DISTRIBUTION")
        #expect(try await host.offered(.store) == [2])
        let found = try await session.send(
          "GET", "/v1/backgroundAssets/\(pack)?include=appStoreVersion,externalBetaVersion")
        #expect(found.text("data.relationships.appStoreVersion.data.id") == second)
        #expect(found.value("included")?.array?.count == 1, "each resource once")
        #expect((found.value("data.attributes.usedBytes")?.integer(Int.self) ?? 0) > 0)
        try await stepBack(to: first, session)
      }
    }

    private func upload(_ text: String, _ pack: String, _ session: Session) async throws -> String {
      let host = session.server.host, version = try await session.version(of: pack)
      let bytes = try await host.archive(["map.txt": text])
      let reservation = try await session.reserve("ASSET", bytes, of: version)
      try await session.upload(bytes, reservation)
      #expect(try await session.commit(try #require(reservation.text("data.id"))).status == 200)
      await host.work()
      let answer = try await session.send("GET", "/v1/backgroundAssetVersions/\(version)?include=assetFile")
      #expect(answer.text("data.attributes.state") == "COMPLETE", "\(String(decoding: answer.body, as: UTF8.self))")
      #expect(answer.text("included.0.attributes.assetDeliveryState.state") == "COMPLETE")
      return version
    }

    /// Reads the state of a version's release by its own path.
    private func state(_ version: String, _ name: String, _ session: Session) async throws -> String? {
      let answer = try await session.send("GET", "/v1/backgroundAssetVersions/\(version)")
      let type = try #require(answer.text("data.relationships.\(name).data.type"))
      let id = try #require(answer.text("data.relationships.\(name).data.id"))
      return try await session.send("GET", "/v1/\(type)/\(id)?include=backgroundAssetVersion").text(
        "data.attributes.state")
    }

    private func submit(_ version: String, _ session: Session) async throws {
      let app = session.server.host.app.rawValue
      let submission = try await session.create("reviewSubmissions", #""platform":"IOS""#, [("app", "apps", app)])
      _ = try await session.create(
        "reviewSubmissionItems", "",
        [
          ("reviewSubmission", "reviewSubmissions", submission),
          ("backgroundAssetVersion", "backgroundAssetVersions", version),
        ])
      let body = Session.body("reviewSubmissions", id: submission, #""submitted":true"#)
      let answer = try await session.send("PATCH", "/v1/reviewSubmissions/\(submission)", body)
      #expect(answer.text("data.attributes.state") == "WAITING_FOR_REVIEW", "also without reviewers")
      await session.server.host.work()
      let read = try await session.send("GET", "/v1/reviewSubmissions/\(submission)?include=items")
      #expect(
        read.text("data.attributes.state") == "COMPLETE" && read.text("included.0.attributes.state") == "APPROVED")
    }

    /// A step back is a decision of a person.
    private func stepBack(to version: String, _ session: Session) async throws {
      let host = session.server.host, ada = TestKey("ADA")
      try await ada.register(in: host, email: "ada@example.com")
      let now = host.time.now.seconds
      let token = try ada.token(#"{"sub":"user","aud":"appstoreconnect-v1","exp":\#(now + 600)}"#)
      let body = Session.body(
        "stepsBack", #""context":"STORE""#, [("backgroundAssetVersion", "backgroundAssetVersions", version)])
      #expect(
        try await session.send("POST", "/packstore/v1/stepsBack", body).fault == "403 FORBIDDEN_ERROR", "a team key")
      let answer = try await session.send("POST", "/packstore/v1/stepsBack", body, authorization: "Bearer \(token)")
      #expect(answer.text("data.attributes.state") == "READY_FOR_DISTRIBUTION")
      await host.work()
      #expect(try await host.offered(.store) == [1])
    }

    @Test func appVersionsAreChangedAndDeleted() async throws {
      try await run { session async throws in
        let app = session.server.host.app.rawValue
        let version = try await session.create(
          "appStoreVersions", #""platform":"IOS","versionString":"1.0","releaseType":"MANUAL""#, [("app", "apps", app)])
        let update = Session.body(
          "appStoreVersions", id: version,
          #""releaseType":"SCHEDULED","earliestReleaseDate":"2027-01-01T00:00:00+01:00","usesIdfa":null"#)
        let changed = try await session.send("PATCH", "/v1/appStoreVersions/\(version)", update)
        #expect(changed.text("data.attributes.earliestReleaseDate") == "2026-12-31T23:00:00Z")
        let duplicate = Session.body(
          "appStoreVersions", #""platform":"IOS","versionString":"1.0""#, [("app", "apps", app)])
        #expect(
          try await session.send("POST", "/v1/appStoreVersions", duplicate).fault
            == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE")
        let request = Session.body(
          "appStoreVersionReleaseRequests", "", [("appStoreVersion", "appStoreVersions", version)])
        #expect(
          try await session.send("POST", "/v1/appStoreVersionReleaseRequests", request).status == 409, "not approved")
        let list = "/v1/apps/\(app)/appStoreVersions?filter[platform]=IOS&filter[versionString]=1.0&include=app,build"
        #expect(try await session.send("GET", list).text("data.0.id") == version)
        #expect(try await session.send("GET", "\(list)&sort=versionString").fault == "400 PARAMETER_ERROR.ILLEGAL")
        #expect(try await session.send("GET", "/v1/apps/\(app)/relationships/appStoreVersions").status == 200)
        #expect(try await session.send("DELETE", "/v1/appStoreVersions/\(version)").status == 204)
        #expect(try await session.send("GET", "/v1/appStoreVersions/\(version)").fault == "404 NOT_FOUND")
      }
    }

    @Test func appsAreCreatedByOurOwnPath() async throws {
      try await run { session async throws in
        let created = try await session.send(
          "POST", "/packstore/v1/apps",
          Session.body("hostedApps", #""name":"Town","bundleId":"com.example.town","sku":"T","storeApprovals":2"#))
        #expect(created.status == 201)
        let id = try #require(created.text("data.id"))
        #expect(created.text("data.attributes.internalChannel")?.hasPrefix("internal-") == true)
        #expect(created.text("data.attributes.delegationReleaseKey") != nil)
        #expect(try await session.send("GET", "/packstore/v1/apps/\(id)").value("data.attributes.rootKey") == nil)
        #expect(try await session.send("GET", "/v1/apps?filter[bundleId]=com.example.town").text("data.0.id") == id)
        let answer = Session.body("hostedApps", id: id, #""delegation":"nonsense""#)
        #expect(
          try await session.send("PATCH", "/packstore/v1/apps/\(id)", answer).fault
            == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
        let refused = try await session.server.send("POST", "/v1/apps", "{}")
        #expect(refused.fault == "403 FORBIDDEN_ERROR", "Apple has no such operation")
      }
    }

    // MARK: - Natural keys, teams and rights

    @Test func duplicatesAndBadNamesAre409() async throws {
      try await run { session async throws in
        _ = try await session.pack()
        for (name, fault) in [
          ("City", "409 ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE"), ("a_b", "409 ENTITY_ERROR.ATTRIBUTE.INVALID"),
          ("a--b", "409 ENTITY_ERROR.ATTRIBUTE.INVALID"), ("", "409 ENTITY_ERROR.ATTRIBUTE.INVALID"),
        ] {
          let answer = try await session.send(
            "POST", "/v1/backgroundAssets",
            Session.body(
              "backgroundAssets", #""assetPackIdentifier":"\#(name)""#,
              [("app", "apps", session.server.host.app.rawValue)]))
          #expect(answer.fault == fault, "'\(name)'")
          #expect(answer.text("errors.0.status") == "409", "a string")
          #expect(answer.text("errors.0.source.pointer") == "/data/attributes/assetPackIdentifier")
        }
      }
    }

    /// Another team's objects answer exactly as unknown ids.
    @Test func teamsDoNotSeeEachOther() async throws {
      try await run { session async throws in
        let host = session.server.host
        let other = TestKey("KEY2")
        try await other.register(in: host, team: host.otherTeam)
        let stranger = try other.bearer(at: host.time.now)
        let pack = try await session.pack(), version = try await session.version(of: pack)
        for target in [
          "/v1/apps/\(host.app)", "/v1/apps/\(host.app)/backgroundAssets", "/v1/backgroundAssets/\(pack)",
          "/v1/backgroundAssets/\(pack)/versions", "/v1/backgroundAssetVersions/\(version)",
          "/v1/apps/\(host.app)/webhooks",
          "/v1/apps/\(host.app)/reviewSubmissions", "/v1/actors/KEY1",
        ] {
          let answer = try await session.send("GET", target, authorization: stranger)
          #expect(answer.fault == "404 NOT_FOUND", "\(target)")
        }
        func createVersion(of pack: String) async throws -> String {
          let body = Session.body("backgroundAssetVersions", "", [("backgroundAsset", "backgroundAssets", pack)])
          let answer = try await session.send("POST", "/v1/backgroundAssetVersions", body, authorization: stranger)
          return answer.fault + (answer.text("errors.0.detail") ?? "").replacing(pack, with: "ID")
        }
        let hidden = try await createVersion(of: pack), unknown = try await createVersion(of: "unknown")
        #expect(hidden.replacing("unknown", with: "ID") == unknown.replacing("unknown", with: "ID"))
        let list = try await session.send(
          "GET", "/v1/reviewSubmissions?filter[app]=\(host.app)", authorization: stranger)
        #expect(list.status == 200 && list.value("meta.paging.total")?.integer(Int.self) == 0)
        #expect(
          try await session.send("GET", "/v1/apps", authorization: stranger).value("data")?.array?.count == 1)
      }
    }

    @Test func rolesLimitOperations() async throws {
      try await run(role: .marketing) { session async throws in
        #expect(try await session.send("GET", "/v1/apps").status == 200)
        let body = Session.body(
          "backgroundAssets", #""assetPackIdentifier":"City""#, [("app", "apps", session.server.host.app.rawValue)])
        #expect(try await session.send("POST", "/v1/backgroundAssets", body).fault == "403 FORBIDDEN_ERROR")
        #expect(
          try await session.send("GET", "/v1/apps/\(session.server.host.app)/webhooks").fault == "403 FORBIDDEN_ERROR")
      }
    }

    // MARK: - Lists

    /// Pages are complete, without repetitions, and the last one has no `next`, not even null.
    @Test(arguments: ["", "&sort=assetPackIdentifier", "&sort=-assetPackIdentifier", "&sort=-createdDate"])
    func pagesAreComplete(_ sort: String) async throws {
      try await run { session async throws in
        var expected: Set<String> = []
        for index in 0..<7 { expected.insert(try await session.pack("Pack-\(index)")) }
        let base = "http://localhost:\(session.server.port)"
        var target = "/v1/apps/\(session.server.host.app)/backgroundAssets?limit=3&filter%5Barchived%5D=false\(sort)"
        var found: [String] = [], pageCount = 0
        while pageCount < 5 {
          pageCount += 1
          let answer = try await session.send("GET", target)
          found += answer.value("data")?.array?.compactMap { $0.member("id")?.string } ?? []
          #expect(answer.value("meta.paging.total")?.integer(Int.self) == 7)
          guard let next = answer.value("links")?.member("next") else { break }
          let url = try #require(next.string)
          #expect(url.hasPrefix(base), "absolute, on the host of the request")
          target = String(url.dropFirst(base.count))
        }
        #expect(pageCount == 3 && found.count == 7 && Set(found) == expected)
      }
    }

    @Test func filtersSelect() async throws {
      try await run { session async throws in
        let host = session.server.host, pack = try await session.pack()
        _ = try await session.version(of: pack)
        func count(_ target: String) async throws -> Int? {
          try await session.send("GET", target).value("meta.paging.total")?.integer(Int.self)
        }
        let packs = "/v1/apps/\(host.app)/backgroundAssets"
        #expect(try await count("\(packs)?filter[assetPackIdentifier]=City,Other&filter[archived]=true,false") == 1)
        #expect(try await count("\(packs)?filter[archived]=true") == 0)
        #expect(try await count("\(packs)?filter[versions.platforms]=IOS") == 0)
        #expect(try await count("\(packs)?filter[versions.locale]=de") == 0)
        let versions = "/v1/backgroundAssets/\(pack)/versions"
        #expect(try await count("\(versions)?filter[version]=1&filter[state]=AWAITING_UPLOAD&sort=-version") == 1)
        #expect(try await count("\(versions)?filter[version]=01") == 0)
        #expect(try await count("\(versions)?filter[internalBetaRelease.state]=READY_FOR_TESTING") == 0)
        #expect(try await count("\(versions)?filter[platforms]=IOS,MAC_OS") == 0)
        #expect(try await count("/v1/apps?filter[bundleId]=com.example.city") == 1)
        #expect(try await count("/v1/apps?filter[bundleId]=%27%20OR%201=1") == 0)
      }
    }

    /// Clients send Apple's full lists, also for kinds that this host does not have.
    @Test func fullListsAreAccepted() async throws {
      try await run { session async throws in
        let app = session.server.host.app
        let includes =
          "include=appStoreVersions,builds,reviewSubmissions,inAppPurchasesV2&limit[builds]=10&limit[appStoreVersions]=3"
        let answer = try await session.send(
          "GET", "/v1/apps/\(app)?\(includes)&fields[apps]=name,builds,betaGroups,webhooks&fields[builds]=version,icons"
        )
        #expect(answer.status == 200)
        #expect(answer.value("data.attributes")?.object?.map(\.name) == ["name"])
        #expect(answer.value("included")?.array?.isEmpty == true)
        #expect(try await session.send("GET", "/v1/apps?sort=other").fault == "400 PARAMETER_ERROR.INVALID")
        #expect(try await session.send("GET", "/v1/apps/\(app)?limit=1").fault == "400 PARAMETER_ERROR.ILLEGAL")
        #expect(try await session.send("GET", "/v1/reviewSubmissions").fault == "400 PARAMETER_ERROR.REQUIRED")
        #expect(
          try await session.send("GET", "/v1/reviewSubmissions?filter[app]=\(app)&sort=state").fault
            == "400 PARAMETER_ERROR.ILLEGAL")
      }
    }

    /// Every relationship has links, and a list within a resource has no cursor.
    @Test func relationshipsHaveLinks() async throws {
      try await run { session async throws in
        let answer = try await session.send("GET", "/v1/backgroundAssets/\(try await session.pack())?include=app")
        let relationships = try #require(answer.value("data.relationships")?.object)
        #expect(relationships.count == 5)
        #expect(relationships.allSatisfy { $0.value.member("links")?.member("self")?.string != nil })
        #expect(answer.text("data.relationships.app.data.id") == session.server.host.app.rawValue)
        #expect(answer.value("data.relationships.appStoreVersion.data") == nil)
        #expect(answer.text("included.0.type") == "apps")
      }
    }

    // MARK: - Archiving, review and webhooks

    @Test func archivedPacksStayArchived() async throws {
      try await run { session async throws in
        let pack = try await session.pack()
        func archive(_ value: String) async throws -> TestAnswer {
          try await session.send(
            "PATCH", "/v1/backgroundAssets/\(pack)",
            Session.body("backgroundAssets", id: pack, #""archived":\#(value)"#))
        }
        #expect(try await archive("false").status == 200)
        #expect(try await archive("null").value("data.attributes.archived")?.boolean == false)
        #expect(try await archive("true").value("data.attributes.archived")?.boolean == true)
        #expect(try await archive("false").fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE")
        #expect(try await archive("true").status == 200)
        let other = Session.body("backgroundAssets", id: "other", #""archived":true"#)
        #expect(try await session.send("PATCH", "/v1/backgroundAssets/\(pack)", other).fault == "409 ENTITY_ERROR")
      }
    }

    @Test func submissionsOfAppVersions() async throws {
      try await run { session async throws in
        let app = session.server.host.app.rawValue
        let version = try await session.create(
          "appStoreVersions", #""platform":"IOS","versionString":"1.0","copyright":null"#, [("app", "apps", app)])
        let submission = try await session.create("reviewSubmissions", #""platform":"IOS""#, [("app", "apps", app)])
        let update = { (text: String) in
          try await session.send(
            "PATCH", "/v1/reviewSubmissions/\(submission)", Session.body("reviewSubmissions", id: submission, text))
        }
        #expect(try await update(#""submitted":true"#).fault == "409 ENTITY_ERROR.RELATIONSHIP.REQUIRED")
        #expect(try await update(#""canceled":true"#).fault == "409 STATE_ERROR.ENTITY_STATE_INVALID", "a draft")
        let other = try await session.send(
          "POST", "/v1/reviewSubmissionItems",
          Session.body(
            "reviewSubmissionItems", "",
            [("reviewSubmission", "reviewSubmissions", submission), ("appEvent", "appEvents", "1")]))
        #expect(other.fault == "409 ENTITY_ERROR.RELATIONSHIP.INVALID")
        let relationships = [
          ("reviewSubmission", "reviewSubmissions", submission), ("appStoreVersion", "appStoreVersions", version),
        ]
        let item = try await session.create("reviewSubmissionItems", "", relationships)
        #expect(try await session.send("DELETE", "/v1/reviewSubmissionItems/\(item)").status == 204)
        let again = try await session.create("reviewSubmissionItems", "", relationships)
        let second = try await session.create("reviewSubmissions", "", [("app", "apps", app)])
        let bound = try await session.send(
          "POST", "/v1/reviewSubmissionItems",
          Session.body(
            "reviewSubmissionItems", "",
            [("reviewSubmission", "reviewSubmissions", second), ("appStoreVersion", "appStoreVersions", version)]))
        #expect(bound.fault == "409 STATE_ERROR.ITEM_PART_OF_ANOTHER_SUBMISSION")
        #expect(bound.text("errors.0.detail")?.contains(submission) == true)
        #expect(try await update(#""submitted":true"#).text("data.attributes.state") == "WAITING_FOR_REVIEW")
        #expect(try await session.send("DELETE", "/v1/reviewSubmissionItems/\(again)").status == 409)
        let found = try await session.send(
          "GET",
          "/v1/reviewSubmissions?filter[app]=\(app)&filter[state]=WAITING_FOR_REVIEW&include=app,items,submittedByActor"
        )
        #expect(found.value("data")?.array?.count == 1)
        #expect(found.text("data.0.relationships.items.data.0.id") == again)
        #expect(found.value("data.0.relationships.items.meta.paging.nextCursor") == nil)
        #expect(found.text("data.0.relationships.submittedByActor.data.id") == "KEY1")
        #expect(try await session.send("GET", "/v1/reviewSubmissions/\(submission)/items").text("data.0.id") == again)
        #expect(
          try await session.send("GET", "/v1/actors?filter[id]=KEY1").text("data.0.attributes.apiKeyId") == "KEY1")
        // A team key is not a person.
        let review = try await session.send(
          "POST", "/packstore/v1/reviews",
          Session.body("reviews", #""decision":"APPROVE""#, [("reviewSubmission", "reviewSubmissions", submission)]))
        #expect(review.fault == "403 FORBIDDEN_ERROR")
      }
    }

    @Test func webhooks() async throws {
      try await run { session async throws in
        let app = session.server.host.app.rawValue
        let attributes = #""enabled":true,"name":"CI","secret":"s","url":"https://ci.example.com/hook""#
        let camel = Session.body(
          "webhooks", attributes + #","eventTypes":["backgroundAssetVersionStateUpdated"]"#, [("app", "apps", app)])
        #expect(try await session.send("POST", "/v1/webhooks", camel).fault == "409 ENTITY_ERROR.ATTRIBUTE.TYPE")
        let webhook = try await session.create(
          "webhooks", attributes + #","eventTypes":["BACKGROUND_ASSET_VERSION_STATE_UPDATED"]"#, [("app", "apps", app)])
        let read = try await session.send("GET", "/v1/webhooks/\(webhook)?include=app&fields[webhooks]=name,url,app")
        #expect(read.text("data.attributes.name") == "CI" && read.value("data.attributes.enabled") == nil)
        #expect(!String(decoding: read.body, as: UTF8.self).contains("secret"), "a secret is never returned")
        let update = Session.body("webhooks", id: webhook, #""enabled":false,"name":null"#)
        #expect(try await session.send("PATCH", "/v1/webhooks/\(webhook)", update).text("data.attributes.name") == "CI")
        _ = try await session.create("webhookPings", "", [("webhook", "webhooks", webhook)])
        let deliveries = "/v1/webhooks/\(webhook)/deliveries"
        let found = try await session.send("GET", "\(deliveries)?include=event&filter[deliveryState]=PENDING")
        #expect(found.value("included.0.attributes.ping")?.boolean == true)
        #expect(found.value("included.0.attributes.eventType") == nil)
        let template = try #require(found.text("data.0.id"))
        _ = try await session.create("webhookDeliveries", "", [("template", "webhookDeliveries", template)])
        let late = try await session.send(
          "GET", "\(deliveries)?filter[createdDateGreaterThanOrEqualTo]=2999-01-01T00:00:00Z")
        #expect(late.value("meta.paging.total")?.integer(Int.self) == 0)
        #expect(try await session.send("GET", "\(deliveries)?limit=1").text("links.next") != nil)
        #expect(try await session.send("GET", "/v1/apps/\(app)/relationships/webhooks").text("data.0.id") == webhook)
        #expect(try await session.send("DELETE", "/v1/webhooks/\(webhook)").status == 204)
        #expect(try await session.send("GET", "/v1/webhooks/\(webhook)").status == 404)
      }
    }
  }
#endif
