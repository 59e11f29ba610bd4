#if Hosting
  import Testing

  @testable import PackHosting

  @Suite struct QueryTests {
    private let schemas: [ParameterSchema] = [
      .include(["app", "builds"]), .fields(.backgroundAsset), .fields(other: "builds"), .filter("archived", .boolean),
      .filter("name", .texts), .filter("app", .texts), .filter("since", .date), .sort(["name"]), .limit,
      .limit("items"),
      .cursor,
    ]

    private func faults(_ text: String) -> [String] {
      do {
        _ = try Query(parsing: text, schemas)
        return []
      } catch let errors as APIErrors { return errors.all.map { "\($0.status) \($0.code)" } } catch {
        return ["\(error)"]
      }
    }

    @Test(arguments: [
      "filter[name]=a,b&fields[backgroundAssets]=archived,usedBytes&include=app,builds",
      "filter%5Bname%5D=a%2Cb&fields%5BbackgroundAssets%5D=archived%2CusedBytes&include=app%2Cbuilds",
      "&filter%5bname]=a,b&&include=app%2cbuilds&fields[backgroundAssets]=archived,usedBytes&",
    ]) func bracketsAndCommasMayBeEncoded(_ text: String) throws {
      let query = try Query(parsing: text, schemas)
      #expect(query.filters["name"] == ["a", "b"])
      #expect(query.fields["backgroundAssets"] == ["archived", "usedBytes"])
      #expect(query.includes == ["app", "builds"])
    }

    @Test func valuesAreDecoded() throws {
      let query = try Query(parsing: "filter[name]=My+App%2BX%20%C3%A9&sort=-name&limit=200&limit[items]=50", schemas)
      #expect(query.filters["name"] == ["My App+X é"])
      #expect(query.sorts == [.init(name: "name", isDescending: true)])
      #expect(query.limit == 200 && query.limits["items"] == 50)
      #expect(try Query(parsing: "fields[backgroundAssets]=", schemas).fields["backgroundAssets"] == [])
      #expect(try Query(parsing: "fields[builds]=anything", schemas).fields["builds"] == ["anything"])
    }

    @Test(arguments: [
      ("unknown=1", "400 PARAMETER_ERROR.ILLEGAL"), ("filter[other]=1", "400 PARAMETER_ERROR.ILLEGAL"),
      ("include=app&include=builds", "400 PARAMETER_ERROR.ILLEGAL"), ("include=other", "400 PARAMETER_ERROR.INVALID"),
      ("include=app,", "400 PARAMETER_ERROR.INVALID"), ("limit=0", "400 PARAMETER_ERROR.INVALID"),
      ("limit=201", "400 PARAMETER_ERROR.INVALID"), ("limit=x", "400 PARAMETER_ERROR.INVALID"),
      ("limit=99999999999999999999", "400 PARAMETER_ERROR.INVALID"), ("limit[items]=51", "400 PARAMETER_ERROR.INVALID"),
      ("filter[archived]=1", "400 PARAMETER_ERROR.INVALID"), ("filter[name]=", "400 PARAMETER_ERROR.INVALID"),
      ("filter[name]=%zz", "400 PARAMETER_ERROR.INVALID"), ("filter[name]=%ff", "400 PARAMETER_ERROR.INVALID"),
      ("filter[name]=%00", "400 PARAMETER_ERROR.INVALID"), ("filter[since]=today", "400 PARAMETER_ERROR.INVALID"),
      ("sort=other", "400 PARAMETER_ERROR.INVALID"), ("cursor=!", "400 PARAMETER_ERROR.INVALID"),
      ("fields[backgroundAssets]=other", "400 PARAMETER_ERROR.INVALID"),
      ("fields[builds]=a%20b", "400 PARAMETER_ERROR.INVALID"),
    ]) func badParametersAreRefused(_ text: String, _ expected: String) {
      #expect(faults(text) == [expected])
    }

    @Test func requiredParameterIsMissed() {
      let schemas: [ParameterSchema] = [.filter("app", .texts, isRequired: true)]
      #expect(throws: APIErrors(all: [.parameterRequired("filter[app]")])) { try Query(parsing: "", schemas) }
    }

    @Test func nextLinkKeepsTheQuery() throws {
      let query = try Query(parsing: "filter[name]=a%26b&limit=2", schemas)
      let cursor = Cursor(.integer(5), "id"), text = query.text(cursor: cursor)
      let again = try Query(parsing: text, schemas)
      #expect(again.filters["name"] == ["a&b"] && again.limit == 2 && again.cursor == cursor)
      #expect(again.text(cursor: nil) == query.text(cursor: nil))
    }

    @Test func forgedCursorsAreRefused() {
      var generator = SeededGenerator(seed: 7)
      #expect(Cursor(Cursor(.text("é\"\\"), "x").text) == Cursor(.text("é\"\\"), "x"))
      for _ in 0..<500 {
        let bytes = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        let text = Base64URL.encode(bytes)
        #expect(Base64URL.decode(text) == bytes)
        #expect(Cursor(text) == nil)
        #expect(Cursor(String(decoding: bytes, as: UTF8.self)) == nil)
      }
    }

    /// Text of any kind is parsed or refused.
    @Test func randomQueriesDoNotTrap() {
      var generator = SeededGenerator(seed: 11)
      let alphabet = Array("filter[name]=%,&+limitcursor[]5B\u{0}é".utf8)
      for _ in 0..<2000 {
        let bytes = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in
          alphabet.randomElement(using: &generator) ?? 0
        }
        #expect(faults(String(decoding: bytes, as: UTF8.self)).allSatisfy { $0.hasPrefix("400 PARAMETER_ERROR.") })
      }
    }
  }
#endif
