#if Hosting
  import HTTPTypes
  import PackFormats
  import PackServer
  import PackStore

  /// Serves files of the apps' sites: `/sites/<app>/…`. They are public and signed.
  struct SiteFiles: Sendable {
    static let prefix = "/sites/"

    /// The data folder.
    let folder: FilePath

    func reply(to request: HTTPRequest, _ path: Substring) -> Reply {
      guard request.method == .get || request.method == .head else {
        return .refusal(.methodNotAllowed, "site: accepts GET and HEAD only", closes: RequestHead.hasBody(request))
      }
      let parts = path.dropFirst(Self.prefix.count).split(
        separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, Self.isAppID(parts[0]), let file = SitePath(String(parts[1])) else {
        return .refusal(.notFound, "site: no such file")
      }
      let site = folder.appending("apps").appending(String(parts[0])).appending("site")
      do {
        var reply = try SiteFile.content(of: file, in: site).representation.reply(to: request)
        if request.method == .head { reply.body = .none }
        return reply
      } catch let error as PackStoreError where error.code == .notFound {
        return .refusal(.notFound, "site: no such file")
      } catch {
        var reply = Reply.refusal(.serviceUnavailable, "site: cannot be read at the moment")
        reply.fields[.retryAfter] = "1"
        return reply
      }
    }

    /// Whether the text consists of digits, so that it is one name of a folder.
    private static func isAppID(_ text: Substring) -> Bool {
      (1...20).contains(text.utf8.count)
        && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
  }
#endif
