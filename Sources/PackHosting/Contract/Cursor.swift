#if Hosting
  import PackStore

  /// The place in a sorted list after which a page begins: the sort key and the id of the last resource of the page before.
  ///
  /// Clients get it as opaque text. A forged cursor only moves the page within the list that its client may read.
  struct Cursor: Hashable, Sendable {
    enum Key: Hashable, Sendable {
      case integer(Int64)
      case text(String)
    }

    let key: Key
    let id: String

    init(_ key: Key, _ id: String) { (self.key, self.id) = (key, id) }

    var text: String {
      let key: JSONOutput =
        switch self.key {
        case .integer(let number): .integer(number)
        case .text(let text): .string(text)
        }
      return Base64URL.encode(JSONOutput.array([key, .string(id)]).bytes)
    }

    /// Returns `nil` for text that no cursor has.
    init?(_ text: String) {
      guard text.utf8.count <= 4096, let bytes = Base64URL.decode(text) else { return nil }
      let document = JSONReader.read(bytes)
      guard document.faults.isEmpty, let parts = document.root?.array, parts.count == 2, let id = parts[1].string else {
        return nil
      }
      if let number = parts[0].integer(Int64.self) {
        key = .integer(number)
      } else if let text = parts[0].string {
        key = .text(text)
      } else {
        return nil
      }
      self.id = id
    }
  }
#endif
