#if Serving
  import HTTPTypes

  /// What the conditions of a request lead to, in the order of RFC 9110, section 13.2.2. We give no dates of changes, so
  /// conditions on dates mean nothing, and an `If-Range` with a date never holds.
  enum Precondition: Equatable {
    /// 412.
    case failed
    /// 304.
    case notModified
    /// Nothing is in the way of the answer; whether a range may be sent.
    case passed(allowsRange: Bool)

    init(_ fields: HTTPFields, tag: EntityTag?) {
      if let text = fields[.ifMatch] {
        let matches =
          switch EntityTagList(text) {
          case .any: true
          case .tags(let tags): tags.contains { tag?.isStrongly($0) == true }
          }
        guard matches else {
          self = .failed
          return
        }
      }
      if let text = fields[.ifNoneMatch] {
        let matches =
          switch EntityTagList(text) {
          case .any: true
          case .tags(let tags): tags.contains { tag?.isWeakly($0) == true }
          }
        guard !matches else {
          self = .notModified
          return
        }
      }
      guard let text = fields[.ifRange] else {
        self = .passed(allowsRange: true)
        return
      }
      let isSame = EntityTag(text, alone: ()).map { tag?.isStrongly($0) == true } ?? false
      self = .passed(allowsRange: isSame)
    }
  }
#endif
