import PackFormats
import PackStore

/// Whether a file is an archive created by `export`: a tar file whose first member is named `root`.
///
/// In addition, the member must begin like a site's root, or the next member must be in `versions/`. One of the two is enough, so
/// that a damaged archive is reported as a damaged archive.
func isPackArchive(_ path: FilePath) throws -> Bool {
  let file = try InputFile(path)
  let block = TarHeader.byteCount
  guard let root = TarHeader(decoding: try file.bytes(upTo: block)[...]), root.name == "root" else { return false }
  if try file.bytes(at: UInt64(block), upTo: 7) == Array("PKSROOT".utf8) { return true }
  guard let padded = TarHeader.paddedByteCount(root.byteCount), padded < 1 << 30,
    let next = TarHeader(decoding: try file.bytes(at: UInt64(block) + padded, upTo: block)[...])
  else { return false }
  return next.name.hasPrefix("versions/")
}
