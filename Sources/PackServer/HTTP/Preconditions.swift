#if Serving || Hosting
  package import HTTPTypes

  /// The result of a request's conditions, in the order of RFC 9110, section 13.2.2. This server sends no modification dates, so
  /// conditions on dates are ignored, and an `If-Range` with a date never holds.
  package enum Precondition: Equatable {
    /// 412.
    case failed
    /// 304.
    case notModified
    /// No condition prevents the answer; `allowsRange` is whether a range may be sent.
    case passed(allowsRange: Bool)

    package init(_ fields: HTTPFields, tag: EntityTag?) {
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
