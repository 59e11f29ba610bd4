import PackFormats

#if Serving
  import HTTPTypes
  import PackServer
  import PackStore

  /// Determines the answer to the head of a request, without a connection and without sending data.
  ///
  /// The checks, in this order: the host must be a name or an address of the server (400, 421); an unknown method is answered with
  /// 501, a method other than GET, HEAD and OPTIONS with 405; the target must be a valid path of a resource (414, 400, 404); a body
  /// is refused (413); then conditions and ranges apply.
  struct Router: Sendable {
    let content: ServedContent
    let status: ServerStatus
    let hosts: HostNames

    /// Whether requests use TLS.
    let isSecure: Bool

    private static let methods = "GET, HEAD, OPTIONS"
    private static let knownMethods: Set<HTTPRequest.Method> = [
      .post, .put, .patch, .delete, .trace, .connect,
    ]

    func reply(to request: HTTPRequest) async -> Reply {
      var reply = await answer(request)
      reply.fields[.server] = "packstore"
      reply.fields[.xContentTypeOptions] = "nosniff"
      if reply.fields[Self.resourcePolicy] == nil { reply.fields[Self.resourcePolicy] = "same-origin" }
      return reply
    }

    private func answer(_ request: HTTPRequest) async -> Reply {
      let hasBody = Self.hasBody(request)
      if let refusal = refuseHost(of: request) { return refusal }
      guard [.get, .head, .options].contains(request.method) else {
        guard Self.knownMethods.contains(request.method) else {
          return .refusal(.notImplemented, "unknown method", closes: hasBody)
        }
        var refusal = Reply.refusal(.methodNotAllowed, "this server is read-only", closes: hasBody)
        refusal.fields[.allow] = Self.methods
        return refusal
      }
      let resource: Resource
      do { resource = try Resource(target: request.path ?? "") } catch {
        switch error {
        case .tooLong: return .refusal(.uriTooLong, "the target is too long", closes: true)
        case .malformed(let reason): return .refusal(.badRequest, reason, closes: hasBody)
        case .unknown: return .refusal(.notFound, "no resource has this path", closes: hasBody)
        }
      }
      guard !hasBody else { return .refusal(.contentTooLarge, "requests cannot have a body", closes: true) }
      if request.method == .options {
        var reply = Reply(.noContent)
        reply.fields[.allow] = Self.methods
        return reply
      }
      var reply = await answer(request, resource)
      if request.method == .head { reply.body = .none }
      return reply
    }

    private func refuseHost(of request: HTTPRequest) -> Reply? {
      guard request.headerFields[values: Self.host].isEmpty else {
        return .refusal(.badRequest, "the request names several hosts", closes: true)
      }
      switch hosts.judge(request.authority) {
      case .ours: return nil
      case .missing: return .refusal(.badRequest, "the request does not name a host", closes: true)
      case .malformed: return .refusal(.badRequest, "invalid host name", closes: true)
      case .another:
        return .refusal(
          .misdirectedRequest,
          "this server has another name; to serve this host, start it with '--name HOST'",
          closes: true)
      }
    }

    private static func hasBody(_ request: HTTPRequest) -> Bool {
      let fields = request.headerFields
      if fields[.transferEncoding] != nil { return true }
      guard let length = fields[.contentLength] else { return false }
      return length != "0"
    }

    // MARK: - Resources

    private func answer(_ request: HTTPRequest, _ resource: Resource) async -> Reply {
      switch resource {
      case .page: return page(request)
      case .style: return Representation.text(StatusPage.style, "text/css; charset=utf-8").reply(to: request)
      case .script: return Representation.text(StatusPage.script, "text/javascript; charset=utf-8").reply(to: request)
      case .events: return events(request)
      case .status:
        await content.refresh()
        let bytes = (try? status.json(content.state)) ?? []
        return Representation(content: .bytes(bytes), type: Self.jsonType, tag: EntityTag(of: bytes)).reply(to: request)
      case .manifest(let platform): return await manifest(request, platform)
      case .archive(let pack): return await archive(request, pack)
      case .siteFile(let site, let path): return await siteFile(request, site, path)
      }
    }

    private func page(_ request: HTTPRequest) -> Reply {
      let text = StatusPage(content.state, status.snapshot()).html
      var reply = Representation.text(text, "text/html; charset=utf-8").reply(to: request)
      reply.fields[.contentSecurityPolicy] = StatusPage.policy
      reply.fields[Self.referrerPolicy] = "no-referrer"
      return reply
    }

    private func events(_ request: HTTPRequest) -> Reply {
      var reply = Reply(.ok)
      reply.fields[.contentType] = "text/event-stream"
      reply.fields[.cacheControl] = "no-store"
      reply.body = .events
      return reply
    }

    private func manifest(_ request: HTTPRequest, _ platform: Platform?) async -> Reply {
      await content.refresh()
      let base = "\(isSecure ? "https" : "http")://\(request.authority ?? "localhost")/packs"
      do {
        let bytes = Array(try await content.manifest(for: platform, baseURL: base).utf8)
        return Representation(content: .bytes(bytes), type: Self.jsonType, tag: EntityTag(of: bytes)).reply(to: request)
      } catch {
        return Self.unavailable("the manifest cannot be created: \(Self.reason(error))")
      }
    }

    private func archive(_ request: HTTPRequest, _ pack: PackID) async -> Reply {
      await content.refresh()
      do {
        guard let archive = try await content.archive(of: pack) else {
          return .refusal(.notFound, "unknown pack")
        }
        return Representation(
          content: .file(archive.file), type: Self.archiveType, tag: archive.file.tag, subject: archive.subject
        ).reply(to: request)
      } catch {
        return Self.unavailable("the archive of \(pack) is being replaced, or cannot be read: \(Self.reason(error))")
      }
    }

    private func siteFile(_ request: HTTPRequest, _ site: String?, _ path: SitePath) async -> Reply {
      if path.isRoot { await content.refresh() }
      guard let served = content.site(site) else { return .refusal(.notFound, "unknown site") }
      do {
        return try served.representation(of: path, status).reply(to: request)
      } catch let error as PackStoreError where error.code == .notFound {
        return .refusal(.notFound, "the site has no such file")
      } catch {
        return Self.unavailable("the file cannot be read: \(Self.reason(error))")
      }
    }

    // MARK: - Words

    private static func unavailable(_ reason: String) -> Reply {
      var reply = Reply.refusal(.serviceUnavailable, reason)
      reply.fields[.retryAfter] = "1"
      return reply
    }

    /// Returns the reason without names of folders, which clients must not receive.
    private static func reason(_ error: any Error) -> String { (error as? PackStoreError)?.reason ?? "an error" }

    static let jsonType = "application/json"
    static let archiveType = "application/octet-stream"
    private static let host = HTTPField.Name("Host")!
    private static let resourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy")!
    private static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
  }

  extension Representation {
    fileprivate static func text(_ text: String, _ type: String) -> Representation {
      let bytes = Array(text.utf8)
      return Representation(content: .bytes(bytes), type: type, tag: EntityTag(of: bytes))
    }
  }
#endif
