import PackFormats
import PackStore

/// Whether a file is an archive that `export` made: a tar file that begins with a site's root and goes on with a
/// version. Either sign is enough, so that a damaged archive is reported as one.
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
