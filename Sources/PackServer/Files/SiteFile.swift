package import PackFormats

#if Serving || Hosting
  import PackStore

  /// Reads files of a site's folder for answers. Each file has a path that `SitePath` permits; links are not followed.
  package enum SiteFile {
    /// A file, and the bytes of a root.
    package struct Content: Sendable {
      package let representation: Representation

      /// The bytes and name of a root; `nil` for other files.
      package let root: (bytes: [UInt8], name: String)?
    }

    /// - Throws: `notFound` if the file does not exist.
    package static func content(of path: SitePath, in folder: FilePath, subject: Subject? = nil) throws -> Content {
      let file = try InputFile(path.description, in: folder)
      guard path.isRoot else {
        let name = path.description.split(separator: "/").last.map(String.init) ?? ""
        let served = try ServedFile(immutable: file, tag: name)
        return Content(
          representation: Representation(
            content: .file(served), type: type, tag: served.tag, subject: subject, isImmutable: true), root: nil)
      }
      let bytes = try file.contents(limit: SiteRoot.byteCountLimit)
      return Content(
        representation: Representation(content: .bytes(bytes), type: type, tag: EntityTag(of: bytes), subject: subject),
        root: (bytes, file.place.text))
    }

    private static let type = "application/octet-stream"
  }
#endif
