#if Serving || Hosting
  package import HTTPTypes
  import PackStore

  /// An answer before it is sent.
  package struct Reply: Sendable {
    package var status: HTTPResponse.Status
    package var fields = HTTPFields()
    package var body = Body.none

    /// Whether the connection is closed after the answer.
    package var closes = false

    /// The requested part of a pack; `nil` if the request does not concern a pack.
    package var subject: Subject?

    package enum Body: Sendable {
      case none
      case bytes([UInt8])
      case file(ServedFile, Range<UInt64>)
      /// The status page's stream, which ends when its reader or the server does.
      case events
    }

    package init(_ status: HTTPResponse.Status) { self.status = status }

    /// Returns a refusal with a line for the user.
    package static func refusal(_ status: HTTPResponse.Status, _ reason: String, closes: Bool = false) -> Reply {
      var reply = Reply(status)
      let text = Array("\(reason)\n".utf8)
      reply.fields[.contentType] = "text/plain; charset=utf-8"
      reply.fields[.contentLength] = "\(text.count)"
      reply.body = .bytes(text)
      reply.closes = closes
      return reply
    }

    /// The length of the body in bytes; `nil` if unknown.
    package var byteCount: UInt64? {
      switch body {
      case .none: 0
      case .bytes(let bytes): UInt64(bytes.count)
      case .file(_, let range): range.upperBound - range.lowerBound
      case .events: nil
      }
    }
  }

  /// The content of a resource: its bytes, type and tag.
  package struct Representation: Sendable {
    package enum Content: Sendable {
      case bytes([UInt8])
      case file(ServedFile)
    }

    package let content: Content
    package let type: String
    package let tag: EntityTag?
    package var subject: Subject?

    /// Whether the content never changes under its name.
    package var isImmutable = false

    package init(
      content: Content, type: String, tag: EntityTag?, subject: Subject? = nil, isImmutable: Bool = false
    ) {
      (self.content, self.type, self.tag, self.subject, self.isImmutable) = (content, type, tag, subject, isImmutable)
    }

    package var byteCount: UInt64 {
      switch content {
      case .bytes(let bytes): UInt64(bytes.count)
      case .file(let file): file.byteCount
      }
    }

    /// Returns the answer to a request, according to its conditions and range.
    package func reply(to request: HTTPRequest) -> Reply {
      var reply = Reply(.ok)
      reply.subject = subject
      if let tag { reply.fields[.eTag] = tag.text }
      reply.fields[.cacheControl] = isImmutable ? "public, max-age=31536000, immutable" : "no-cache"
      let allowsRange: Bool
      switch Precondition(request.headerFields, tag: tag) {
      case .failed: return .refusal(.preconditionFailed, "the condition does not hold")
      case .notModified:
        reply.status = .notModified
        return reply
      case .passed(let allows): allowsRange = allows
      }
      reply.fields[.acceptRanges] = "bytes"
      reply.fields[.contentType] = type
      var range = 0..<byteCount
      // Ranges are defined only for GET.
      if allowsRange, request.method == .get, let field = request.headerFields[.range] {
        switch ByteRange(field, of: byteCount) {
        case .ignored: break
        case .unsatisfiable:
          var refusal = Reply.refusal(.rangeNotSatisfiable, "there are \(byteCount) bytes")
          refusal.fields[.contentRange] = "bytes */\(byteCount)"
          return refusal
        case .part(let part):
          range = part
          reply.status = .partialContent
          reply.fields[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(byteCount)"
        }
      }
      reply.fields[.contentLength] = "\(range.upperBound - range.lowerBound)"
      switch content {
      case .bytes(let bytes): reply.body = .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
      case .file(let file): reply.body = .file(file, range)
      }
      return reply
    }
  }
#endif
