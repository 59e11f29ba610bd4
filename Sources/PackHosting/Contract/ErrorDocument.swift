#if Hosting
  /// The body of a refusal.
  enum ErrorDocument {
    static func body(_ errors: [APIError], _ random: any RandomSource) -> JSONOutput {
      ["errors": .array(errors.map { output($0, random) })]
    }

    private static func output(_ error: APIError, _ random: any RandomSource) -> JSONOutput {
      var members: [(name: String, value: JSONOutput)] = [
        ("id", .string(random.uuid())), ("status", .string(String(error.status))), ("code", .string(error.code)),
        ("title", .string(error.title)), ("detail", .string(error.detail)),
      ]
      switch error.source {
      case .pointer(let path): members.append(("source", ["pointer": .string(path)]))
      case .parameter(let name): members.append(("source", ["parameter": .string(name)]))
      case nil: break
      }
      if !error.associated.isEmpty {
        let associated = error.associated.sorted { $0.key < $1.key }
          .map { ($0.key, JSONOutput.array($0.value.map { output($0, random) })) }
        members.append(("meta", ["associatedErrors": .object(associated)]))
      }
      return .object(members)
    }
  }
#endif
