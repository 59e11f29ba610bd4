import ArgumentParser
import PackAuthoring
import PackStore

/// How blocks of an Apple Archive are stored.
struct BlocksOption: ParsableArguments {
  @Option(
    help: .init(
      "For an Apple Archive: blocks compressed with zlib, or stored uncompressed (default: zlib).", valueName: "kind"),
    transform: parseCoding)
  var blocks: AppleArchiveWriter.Coding?

  var isGiven: Bool { blocks != nil }
  var coding: AppleArchiveWriter.Coding { blocks ?? .deflate }

  static let refusalForOthers = ValidationError(
    "--blocks applies only to Apple Archives; use a name that ends in '.aar'")
}

/// Whether a file name is the name of an Apple Archive.
func isAppleArchiveName(_ name: String) -> Bool { FilePath(name).extension?.lowercased() == "aar" }

/// The error for an option of signed archives.
func refusalForAppleArchives(_ option: String) -> ValidationError {
  ValidationError("\(option) does not apply to Apple Archives, which have neither a signature nor frames")
}

@Sendable private func parseCoding(_ name: String) throws -> AppleArchiveWriter.Coding {
  switch name {
  case "zlib": return .deflate
  case "stored": return .stored
  case "lzfse", "lz4", "lzma", "lzbitmap":
    throw ValidationError(
      "'\(name)': PackStore has no encoder for these blocks; use zlib, which Apple's tools also write")
  default: throw ValidationError("'\(escaped(name))': not a kind of blocks; use zlib or stored")
  }
}
