#if Hosting
  /// A request whose caller, parameters and body were checked.
  struct Call: Sendable {
    let principal: Principal

    /// The id in the path; empty for paths without one.
    let id: String
    let query: Query

    /// `nil` for routes without a body.
    let body: Body?

    /// Scheme and host of links, without a final slash.
    let base: String

    /// The path of the request.
    let path: String

    /// The URL of this request with another cursor.
    func link(_ cursor: Cursor?) -> String {
      let text = query.text(cursor: cursor)
      return base + path + (text.isEmpty ? "" : "?" + text)
    }
  }

  /// An answer before it is sent.
  struct Answer: Sendable {
    var status: Int
    var body: JSONOutput?

    /// The URL of a created resource.
    var location: String?

    init(_ status: Int, _ body: JSONOutput? = nil) { (self.status, self.body) = (status, body) }
  }

  /// A page of a list.
  struct Page: Sendable {
    let resources: [Resource]
    let total: Int64

    /// `nil` on the last page.
    let next: Cursor?
  }

  extension Answer {
    /// Answers with one resource; 201 with its URL if it was created by this request.
    static func one(_ resource: Resource, included: [Resource] = [], _ call: Call, isCreated: Bool = false) -> Answer {
      let place = "\(call.base)\(resource.kind.path)/\(PercentEncoding.encode(resource.id))"
      var members: [(name: String, value: JSONOutput)] = [("data", resource.output(call.query.fields, base: call.base))]
      if !call.query.includes.isEmpty { members.append(("included", outputs(included, call))) }
      members.append(("links", ["self": .string(isCreated ? place : call.link(nil))]))
      var answer = Answer(isCreated ? 201 : 200, .object(members))
      if isCreated { answer.location = place }
      return answer
    }

    static func many(_ page: Page, included: [Resource] = [], _ call: Call) -> Answer {
      var members: [(name: String, value: JSONOutput)] = [("data", outputs(page.resources, call))]
      if !call.query.includes.isEmpty { members.append(("included", outputs(included, call))) }
      return Answer(200, .object(members + paging(page, call)))
    }

    /// Answers with the linkages of a page's resources.
    static func linkages(_ page: Page, _ call: Call) -> Answer {
      let data = page.resources.map { Resource.linkage($0.kind.type, $0.id) }
      return Answer(200, .object([("data", .array(data))] + paging(page, call)))
    }

    /// Answers with one linkage.
    static func linkage(_ type: String, _ id: String, _ call: Call) -> Answer {
      Answer(200, ["data": Resource.linkage(type, id), "links": ["self": .string(call.link(nil))]])
    }

    /// Answers for an empty relationship to one.
    static func empty(_ call: Call) -> Answer {
      Answer(200, ["data": .null, "links": ["self": .string(call.link(nil))]])
    }

    private static func outputs(_ resources: [Resource], _ call: Call) -> JSONOutput {
      .array(resources.map { $0.output(call.query.fields, base: call.base) })
    }

    /// Links and totals. On the last page `next` is missing: clients continue as long as the key exists, even if it is null.
    private static func paging(_ page: Page, _ call: Call) -> [(name: String, value: JSONOutput)] {
      let itself = call.link(call.query.cursor)
      var links: [(name: String, value: JSONOutput)] = [("self", .string(itself))]
      var paging: [(name: String, value: JSONOutput)] = [
        ("total", .integer(page.total)), ("limit", .integer(Int64(call.query.limit))),
      ]
      if call.query.cursor != nil { links.append(("first", .string(call.link(nil)))) }
      if let next = page.next {
        links.append(("next", .string(call.link(next))))
        paging.append(("nextCursor", .string(next.text)))
      }
      return [("links", .object(links)), ("meta", ["paging": .object(paging)])]
    }
  }
#endif
