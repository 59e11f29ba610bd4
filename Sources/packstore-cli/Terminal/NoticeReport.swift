import Foundation
import PackStore

/// A notice of an installation, for JSON: for example a file that was skipped or cannot be stored.
struct NoticeReport: Encodable {
  let kind: String
  let path: String
  /// The path's bytes in base64 if the path is not UTF-8.
  let pathBytes: String?
  let twin: String?

  init(_ notice: Store.InstallNotice) {
    kind =
      switch notice.kind {
      case .badName: "bad_name"
      case .link: "link"
      case .linkLoop: "link_loop"
      case .linkOut: "link_out"
      case .ownStore: "own_store"
      case .twin: "twin"
      case .skipped: "skipped"
      case .unreadable: "unreadable"
      case .unusedPattern: "unused_pattern"
      case .secret: "secret"
      }
    path = notice.path
    pathBytes = notice.pathBytes.map { Data($0).base64EncodedString() }
    twin = notice.twinPath
  }
}
