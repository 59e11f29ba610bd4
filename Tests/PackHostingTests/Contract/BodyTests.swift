#if Hosting
  import Testing

  @testable import PackHosting

  @Suite struct BodyTests {
    private let schema = BodySchema(
      type: "files", name: "FileUpdateRequest", hasID: true,
      attributes: [
        .init(name: "name", schema: .text, isRequired: true), .init(name: "size", schema: .integer(least: 1)),
        .init(name: "kind", schema: .enumeration(["A", "B"])),
        .init(name: "kinds", schema: .list(.enumeration(["A", "B"]))),
        .init(name: "done", schema: .boolean), .init(name: "date", schema: .date),
        .init(name: "sums", schema: ResourceKind.checksums),
      ],
      relationships: [
        .init(name: "app", type: "apps", isRequired: true), .init(name: "items", type: "items", isMany: true),
      ])

    private func faults(_ text: String) -> [String] {
      do {
        _ = try Body(parsing: Array(text.utf8), schema, id: "1")
        return []
      } catch let errors as APIErrors {
        return errors.all.map { error in
          guard case .pointer(let pointer) = error.source else { return "\(error.status) \(error.code)" }
          return "\(error.status) \(error.code) \(pointer)"
        }
      } catch { return ["\(error)"] }
    }

    private func text(_ attributes: String, relationships: String = #"{"app":{"data":{"type":"apps","id":"5"}}}"#)
      -> String
    {
      #"{"data":{"type":"files","id":"1","attributes":\#(attributes),"relationships":\#(relationships)}}"#
    }

    @Test func valuesAreRead() throws {
      let body = try Body(
        parsing: Array(
          text(
            #"{"name":"n","size":9007199254740991,"kind":"B","kinds":["A"],"done":false,"date":"2026-11-24T09:30:00Z"}"#
          ).utf8), schema, id: "1")
      #expect(body.text("name") == "n" && body.integer("size") == 9_007_199_254_740_991 && body.flag("done") == false)
      #expect(body.texts("kinds") == ["A"] && body.date("date")?.text == "2026-11-24T09:30:00Z")
      #expect(body.related("app") == "5" && body.related("items") == nil)
    }

    /// Optional null equals absent, in attributes, nested values and relationships.
    @Test func nullEqualsAbsent() {
      #expect(
        faults(
          text(
            #"{"name":"n","size":null,"kind":null,"sums":{"file":null,"composite":{"hash":null}}}"#,
            relationships: #"{"app":{"data":{"type":"apps","id":"5"}},"items":{"data":null}}"#)) == [])
      #expect(faults(text(#"{"name":null}"#)) == ["409 ENTITY_ERROR.ATTRIBUTE.REQUIRED /data/attributes/name"])
      #expect(
        faults(text(#"{"name":"n"}"#, relationships: #"{"app":{"data":null}}"#))
          == ["409 ENTITY_ERROR.RELATIONSHIP.REQUIRED /data/relationships/app"])
    }

    @Test(arguments: [
      (#"{"name":1}"#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/name"),
      (#"{"name":"n","size":0}"#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/size"),
      (#"{"name":"n","size":"5"}"#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/size"),
      (#"{"name":"n","size":1.5}"#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/size"),
      (#"{"name":"n","size":1e400}"#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/size"),
      (#"{"name":"n","size":99999999999999999999}"#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/size"),
      (#"{"name":"n","kind":"a"}"#, "409 ENTITY_ERROR.ATTRIBUTE.TYPE /data/attributes/kind"),
      (#"{"name":"n","kinds":["A","c"]}"#, "409 ENTITY_ERROR.ATTRIBUTE.TYPE /data/attributes/kinds"),
      (#"{"name":"n","kinds":"A"}"#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/kinds"),
      (#"{"name":"n","done":"true"}"#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/done"),
      (#"{"name":"n","date":"today"}"#, "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/date"),
      (#"{"name":"n","other":1}"#, "409 ENTITY_ERROR.ATTRIBUTE.UNKNOWN /data/attributes/other"),
      (
        #"{"name":"n","sums":{"file":{"algorithm":"SHA1"}}}"#,
        "409 ENTITY_ERROR.ATTRIBUTE.TYPE /data/attributes/sums/file/algorithm"
      ),
      ("{}", "409 ENTITY_ERROR.ATTRIBUTE.REQUIRED /data/attributes/name"),
    ]) func badAttributesAre409(_ attributes: String, _ expected: String) {
      #expect(faults(text(attributes)) == [expected])
    }

    @Test func allFaultsAreReported() {
      #expect(
        faults(#"{"data":{"type":"other","attributes":{"size":0}}}"#) == [
          "409 ENTITY_ERROR /data/type", "409 ENTITY_ERROR /data/id",
          "409 ENTITY_ERROR.ATTRIBUTE.INVALID /data/attributes/size",
          "409 ENTITY_ERROR.ATTRIBUTE.REQUIRED /data/attributes/name",
          "409 ENTITY_ERROR.RELATIONSHIP.REQUIRED /data/relationships/app",
        ])
    }

    @Test(arguments: ["", "{", "nope", "{\"data\":1,\"data\":2}", "\u{FEFF}{}", String(repeating: "[", count: 100_000)])
    func textThatIsNotJSONIs400(_ text: String) { #expect(faults(text) == ["400 ENTITY_INVALID"]) }

    @Test(arguments: ["{}", "[]", "1", #"{"data":[]}"#, #"{"data":null}"#]) func missingDataIs409(_ text: String) {
      #expect(faults(text) == ["409 ENTITY_ERROR /data"])
    }

    /// Bytes of any kind are parsed or refused.
    @Test func changedBodiesDoNotTrap() {
      var generator = SeededGenerator(seed: 3)
      let valid = Array(text(#"{"name":"n","size":5,"kinds":["A"],"sums":{"file":{"hash":"a"}}}"#).utf8)
      for _ in 0..<2000 {
        var bytes = valid
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        _ = try? Body(parsing: bytes, schema, id: "1")
      }
    }
  }
#endif
