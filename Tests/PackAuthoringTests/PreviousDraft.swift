import Foundation
import PackStore
import Testing

@testable import PackFormats

/// Encodes files of sites as the previous draft of the format did.
enum PreviousDraft {
  static func seed(of key: SiteKey) throws -> [UInt8] {
    let line = try #require(key.fileText.split(separator: "\n").dropFirst().first)
    return Array(try #require(Data(base64Encoded: String(line))))
  }

  static func rotation(from old: SiteKey, to new: SiteKey) throws -> [UInt8] {
    let fields = old.publicKey.bytes + new.publicKey.bytes, message = Array("packstore rotation\0".utf8) + fields
    return try fields + [old, new].flatMap { try Ed25519.PrivateKey(seed: seed(of: $0)).signature(of: message) }
  }

  static func delegation(
    by root: SiteKey, to release: SiteKey, serial: UInt64 = 1, product: String = "default", channels: [String] = []
  ) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.append(serial)
    writer.append(Int64(0))
    writer.append(Int64(0))
    writer.append(root.publicKey.bytes)
    writer.append(release.publicKey.bytes)
    writer.append(text: product)
    writer.append(UInt32(channels.count))
    for channel in channels { writer.append(text: channel) }
    let message = Array("packstore delegation\0".utf8) + writer.bytes
    return writer.bytes + (try Ed25519.PrivateKey(seed: seed(of: root)).signature(of: message))
  }

  /// The authority of a root key that signs by itself.
  static func authority(of key: SiteKey) throws -> [UInt8] { try [0, 0, 0, 0] + delegation(by: key, to: key) }

  /// - Parameters:
  ///   - root: a root of the current draft.
  ///   - seed: the seed of the key that signs.
  static func root(_ root: SiteRoot, _ authority: [UInt8], seed: [UInt8]) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.append("PKSROOT0".utf8)
    writer.append(SiteFormat.previous)
    writer.append(UInt32(root.isClosed ? 1 : 0))
    writer.append(root.sequence)
    writer.append(root.madeAt)
    writer.append(root.expiresAfter ?? 0)
    writer.append(root.site.id.bytes)
    writer.append(UInt32(authority.count))
    writer.append(authority)
    for text in [root.product.name, root.channel.name, root.primaryLanguage?.text ?? ""] { writer.append(text: text) }
    writer.append(UInt32(root.sheets.count))
    for sheet in root.sheets {
      writer.append(sheet.digest.bytes)
      writer.append(sheet.byteCount)
    }
    writer.append(UInt32(root.packs.count))
    for pack in root.packs {
      writer.append(text: pack.id.name)
      writer.append(pack.priority)
      writer.append(UInt32(pack.offers.count))
      writer.append(UInt32(0))
      for offer in pack.offers {
        writer.append(offer.number)
        writer.append(offer.catalog.bytes)
        writer.append(offer.manifest.bytes)
        writer.append(offer.manifestByteCount)
        writer.append(attributes: offer.attributes)
        writer.append(offer.downloadByteCount)
        writer.append(offer.share)
        writer.append(text: offer.appVersions?.lowerBound?.description ?? "")
        writer.append(text: offer.appVersions?.upperBound?.description ?? "")
      }
    }
    return writer.bytes + (try Ed25519.PrivateKey(seed: seed).signature(of: writer.bytes))
  }

  /// Gives the text of a list, a ledger or an image the title of the previous draft.
  static func text(_ bytes: [UInt8]) -> [UInt8] {
    let old = " 0 \(SiteFormat.previous >> 16)\n"
    let text = String(decoding: bytes, as: UTF8.self)
    return Array(text.replacing(" 0 \(SiteFormat.current >> 16)\n", with: old, maxReplacements: 1).utf8)
  }

  /// Gives a file with a magic number the format of the previous draft.
  static func file(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    bytes[10] = UInt8(SiteFormat.previous >> 16)
    return bytes
  }
}
