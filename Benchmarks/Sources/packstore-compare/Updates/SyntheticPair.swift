import ArgumentParser
import Foundation

/// Typical changes by publishers, on data from a seed.
///
/// An unchanged file is the same file in both versions, under two names, with the same times and inode. So tools that
/// store those do not pay for unchanged files.
enum SyntheticPair: String, CaseIterable, ExpressibleByArgument {
  case frontByte = "front-byte"
  case headers
  case textures
  case renamed
  case appended
  case reordered
  case oneOfMany = "one-of-many"
  case scattered

  /// How much data there is.
  struct Scale: Equatable {
    /// Bytes of the one large asset.
    var large = 1_000_000_000
    /// Number of assets; one of them changes.
    var assetCount = 2_000
    /// Number of small assets; some of them change.
    var scatteredCount = 78_000
    /// A tenth of everything.
    var isQuick = false

    func bytes(_ count: Int) -> Int { isQuick ? count / 10 : count }
  }

  /// Makes both versions in the empty folder `folder`.
  func make(_ scale: Scale, seed: UInt64, in folder: String) throws -> VersionPair {
    let maker = try PairMaker(in: folder, seed: seed &+ UInt64(Self.allCases.firstIndex(of: self)!))
    let explanation =
      switch self {
      case .frontByte: try maker.insertFrontByte(scale.bytes(scale.large))
      case .headers: try maker.rewriteHeaders(fileCount: scale.bytes(1_000), byteCount: 500_000)
      case .textures: try maker.swapTextures(scale.bytes(200))
      case .renamed: try maker.renameFolder(scale.bytes(300_000_000))
      case .appended: try maker.append(1 << 20, to: scale.bytes(200_000_000))
      case .reordered: try maker.reorder(scale.bytes(200_000_000))
      case .oneOfMany: try maker.changeOne(of: scale.bytes(scale.assetCount))
      case .scattered: try maker.changeScattered(of: scale.bytes(scale.scatteredCount))
      }
    return VersionPair(name: rawValue, explanation: explanation, from: maker.old, to: maker.new, limits: limits)
  }

  /// The goals that PackStore set itself for such changes.
  private var limits: [UpdateGoal.ByteLimit] {
    switch self {
    case .frontByte: [.init(what: .delta, byteCount: 100_000), .init(what: .ranges, byteCount: 100_000)]
    case .headers: [.init(what: .delta, byteCount: 150_000), .init(what: .ranges, byteCount: 20_000_000)]
    case .oneOfMany: [.init(what: .rangesMetadata, byteCount: 200_000)]
    default: []
    }
  }
}

/// Writes the two versions. Each function returns a description of its change, for the report.
private final class PairMaker {
  let old: String
  let new: String
  private var generator: SeededGenerator

  init(in folder: String, seed: UInt64) throws {
    old = "\(folder)/old"
    new = "\(folder)/new"
    generator = SeededGenerator(seed: seed)
    for version in [old, new] {
      try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: false)
    }
  }

  func insertFrontByte(_ byteCount: Int) throws -> String {
    try write(.incompressible, byteCount, to: ["\(old)/Film.bin"])
    try copy("Film.bin", before: [0x21])
    return "One byte inserted at the front of an asset of \(megabytes(byteCount, 0)) MB that does not compress."
  }

  func rewriteHeaders(fileCount: Int, byteCount: Int) throws -> String {
    for index in 0..<fileCount {
      let name = "Track\(index).bin"
      try write(.incompressible, byteCount, to: ["\(old)/\(name)"])
      try copy(name, before: [], withHead: 64)
    }
    return "The first 64 bytes rewritten in each of \(counted(fileCount, "file")) of "
      + "\(decimals(Double(byteCount) / 1e3, 0)) KB that do not compress."
  }

  func swapTextures(_ count: Int) throws -> String {
    let byteCount = 1_398_232  // 1024 x 1024 texels of a byte each, and those of smaller sizes
    let content: [Content] = [.compressible, .incompressible]
    for index in 0..<count {
      let name = "Textures/Texture\(index).dds"
      if index % 40 == 7 {
        try write(content[index % 2], byteCount, to: ["\(old)/\(name)"])
        try write(content[index % 2], byteCount, to: ["\(new)/\(name)"])
      } else if index % 40 == 10 {
        // Two that change places.
        let other = "Textures/Texture\(index + 1).dds"
        try write(content[0], byteCount, to: ["\(old)/\(name)", "\(new)/\(other)"])
        try write(content[1], byteCount, to: ["\(old)/\(other)", "\(new)/\(name)"])
      } else if index % 40 != 11 {
        try write(content[index % 2], byteCount, to: ["\(old)/\(name)", "\(new)/\(name)"])
      }
    }
    return
      "Of \(counted(count, "texture")) of \(megabytes(byteCount)) MB, one in forty replaced, and two in forty have changed places."
  }

  func renameFolder(_ byteCount: Int) throws -> String {
    for plan in AssetPlans.tree(.game, byteCount: byteCount, seed: generator.next()) {
      let renamed =
        plan.path.hasPrefix("Textures/") ? "Images/Textures2/" + plan.path.dropFirst("Textures/".count) : plan.path
      try write(plan.content, plan.byteCount, to: ["\(old)/\(plan.path)", "\(new)/\(renamed)"])
    }
    return "A game's tree of \(megabytes(byteCount, 0)) MB, in which the folder of textures got another name and place."
  }

  func append(_ added: Int, to byteCount: Int) throws -> String {
    try write(.compressible, byteCount, to: ["\(old)/Level.wad"])
    try copy("Level.wad", before: [])
    let tail = Buffer(byteCount: added)
    Content.compressible.fill(tail.bytes, seed: generator.next())
    let file = try OutputFile("\(new)/Level.wad", appending: true)
    try file.write(UnsafeRawBufferPointer(tail.bytes))
    return "\(binarySize(added)) appended to an asset of \(megabytes(byteCount, 0)) MB."
  }

  /// An archive as games have them: lumps one after another.
  func reorder(_ byteCount: Int) throws -> String {
    var lumps: [(seed: UInt64, byteCount: Int)] = []
    var left = byteCount
    while left > 0 {
      let length = min(Int.random(in: 16 << 10...512 << 10, using: &generator), left)
      lumps.append((generator.next(), length))
      left -= length
    }
    let memory = Buffer(byteCount: 512 << 10)
    for (version, lumps) in [(old, lumps), (new, lumps.shuffled(using: &generator))] {
      let file = try OutputFile("\(version)/Archive.wad")
      for lump in lumps {
        let bytes = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<lump.byteCount])
        Content.compressible.fill(bytes, seed: lump.seed)
        try file.write(UnsafeRawBufferPointer(bytes))
      }
    }
    return "An archive of \(megabytes(byteCount, 0)) MB whose \(grouped(lumps.count)) lumps stand in another order."
  }

  func changeOne(of count: Int) throws -> String {
    var byteCount = 0
    for index in 0..<count {
      let name = "Items/\(index / 500)/Item\(index).dat"
      let length = Int.random(in: 500...12_000, using: &generator)
      let content: Content = index % 3 == 0 ? .incompressible : index % 3 == 1 ? .compressible : .text
      byteCount += length
      if index == count / 2 {
        try write(content, length, to: ["\(old)/\(name)"])
        try write(content, length, to: ["\(new)/\(name)"])
      } else {
        try write(content, length, to: ["\(old)/\(name)", "\(new)/\(name)"])
      }
    }
    return "One asset of \(grouped(count)) replaced, which have \(megabytes(byteCount, 0)) MB together."
  }

  func changeScattered(of count: Int) throws -> String {
    var byteCount = 0, changedCount = 0
    for index in 0..<count {
      let name = "Sources/\(index % 61)/\(index / 61 % 37)/File\(index).txt"
      let length = Int.random(in: 500...8_000, using: &generator)
      byteCount += length
      if index % 260 == 130 {
        changedCount += 1
        try write(.text, length, to: ["\(old)/\(name)"])
        try write(.text, length, to: ["\(new)/\(name)"])
      } else {
        try write(.text, length, to: ["\(old)/\(name)", "\(new)/\(name)"])
      }
    }
    return "Of \(grouped(count)) small assets, which have \(megabytes(byteCount, 0)) MB together, "
      + "\(grouped(changedCount)) replaced, scattered over all folders."
  }

  // MARK: - Files

  /// Makes one file of new bytes, under each of the paths.
  private func write(_ content: Content, _ byteCount: Int, to paths: [String]) throws {
    for path in paths {
      try FileManager.default.createDirectory(
        atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    }
    let piece = 8 << 20
    let memory = FreshMemory(byteCount: min(byteCount, piece))
    let file = try OutputFile(paths[0])
    for begin in stride(from: 0, to: byteCount, by: piece) {
      let bytes = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<min(byteCount - begin, piece)])
      content.fill(bytes, seed: generator.next())
      try file.write(UnsafeRawBufferPointer(bytes))
    }
    for path in paths.dropFirst() {
      guard link(paths[0], path) == 0 else { throw SystemError("link", URL(fileURLWithPath: path).lastPathComponent) }
    }
  }

  /// Writes the new version of the file `name`: these bytes, then the old file, with its first `headLength` bytes
  /// replaced.
  private func copy(_ name: String, before bytes: [UInt8], withHead headLength: Int = 0) throws {
    let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: "\(old)/\(name)"))
    let target = try OutputFile("\(new)/\(name)")
    try bytes.withUnsafeBytes { try target.write($0) }
    let head = (0..<headLength).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    try head.withUnsafeBytes { try target.write($0) }
    try source.seek(toOffset: UInt64(headLength))
    while let piece = try source.read(upToCount: 8 << 20), !piece.isEmpty {
      try piece.withUnsafeBytes { try target.write($0) }
    }
  }
}

/// A file that is written from front to back. Closed when it goes.
private final class OutputFile {
  private let descriptor: CInt
  private let name: String

  init(_ path: String, appending: Bool = false) throws {
    name = URL(fileURLWithPath: path).lastPathComponent
    descriptor = open(path, O_WRONLY | O_CLOEXEC | (appending ? O_APPEND : O_CREAT | O_EXCL), mode_t(0o644))
    guard descriptor >= 0 else { throw SystemError("create", name) }
  }

  deinit { close(descriptor) }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    var done = 0
    while done < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
      guard count >= 0 else { throw SystemError("write", name) }
      done += count
    }
  }
}
