import Foundation
import Testing

/// `verify` on damaged stores, and `repair`.
@Suite struct RepairTests {
  let playground: Playground
  private let noiseBytes = noise(300_000)

  /// A store with a pack of two versions, and a copy of it.
  init() throws {
    playground = try Playground()
    try playground.write(noiseBytes, to: "folder/Videos/intro.bin")
    try playground.write("one", to: "folder/text")
    try add()
    try playground.write("two", to: "folder/text")
    try add()
    try #require(try playground.shell("cp -r store backup").status == 0)
  }

  private func add() throws {
    try #require(try playground.packstore("add", "store", "folder", "--pack", "Tutorial", "--quiet").status == 0)
  }

  /// Flips a byte in the middle of the largest segment: it hits the large asset.
  private func damage() throws -> String {
    let segments = playground.tree("store/segments")
    let sizes = try segments.map { ($0, try playground.read("store/segments/\($0)").count) }
    let segment = try #require(sizes.max { $0.1 < $1.1 }?.0)
    var bytes = try playground.read("store/segments/\(segment)")
    bytes[150_000] ^= 4
    try playground.write(bytes, to: "store/segments/\(segment)")
    return segment
  }

  private func isIntact() throws -> Bool {
    try playground.packstore("cat", "store", "Videos/intro.bin").bytes == noiseBytes
      && playground.packstore("cat", "store", "text").output == "two"
      && playground.packstore("verify", "store", "--deep").status == 0
  }

  // MARK: - verify

  @Test func faultsNameAssets() throws {
    let segment = try damage()
    let run = try playground.packstore("verify", "store")
    #expect(run.status == 7)
    let lines = run.errors.split(separator: "\n").map(String.init)
    #expect(
      lines[0].hasPrefix("packstore: Tutorial@2 Videos/intro.bin: segments/\(segment), byte "))
    #expect(lines.contains { $0.hasPrefix("packstore: Tutorial@1 Videos/intro.bin: segments/") })
    #expect(
      lines.last
        == "packstore: 'store': the store is damaged; run 'packstore repair store', with '--from COPY' for each other store"
        + " that may contain the same packs"
    )
    #expect(run.output.hasPrefix("1 fault that hurts 2 assets in "))  // one in each version
    let json = try playground.packstore("verify", "store", "--json").json
    #expect(json["fault_count"] as? Int == 1 && json["hurt_assets"] as? Int == 2)
    let fault = try #require((json["faults"] as? [NSDictionary])?.first)
    #expect(fault["pack"] as? String == "Tutorial" && fault["version"] as? Int == 2)
    #expect(fault["asset"] as? String == "Videos/intro.bin" && fault["file"] as? String == "segments/\(segment)")
    #expect(fault["reason"] as? String == "checksum mismatch" && fault["offset"] is Int && fault["bytes"] is Int)
  }

  @Test func storeThatDoesNotOpen() throws {
    for file in playground.tree("store/index") where file.hasSuffix(".generation") {
      try playground.remove("store/index/\(file)")
    }
    let run = try playground.packstore("verify", "store")
    #expect(run.status == 7)
    #expect(run.errors.contains("; run 'packstore repair store'"))
    #expect(try playground.packstore("repair", "store", "--quiet").status == 0)
    #expect(try isIntact())
  }

  // MARK: - repair

  @Test func wholeStore() throws {
    let before = playground.tree("store")
    let run = try playground.packstore("repair", "store")
    #expect(run.status == 0 && run.output == "the store is whole: nothing to repair\n")
    #expect(playground.tree("store") == before)
    let json = try playground.packstore("repair", "store", "--json").json
    #expect(json["was_whole"] as? Bool == true && json["whole"] as? Bool == true && json["generation"] == nil)
  }

  @Test func lostAsset() throws {
    _ = try damage()
    let dry = try playground.packstore("repair", "store", "--dry-run")
    #expect(dry.status == 7)
    #expect(dry.output.hasSuffix("would keep 1 pack in 1 version; would lose 1 asset, 1 older version\n"))
    #expect(try playground.packstore("log", "store").lines.count == 3, "nothing was done")
    let run = try playground.packstore("repair", "store")
    #expect(run.status == 7)
    #expect(
      run.errors == "packstore: lost: Tutorial@1\npackstore: lost: Tutorial@2 Videos/intro.bin\n"
        + "packstore: lost 1 asset, 1 older version; add the source again to get it back\n")
    #expect(try playground.packstore("ls", "store").output.contains("text"))
    #expect(try playground.packstore("cat", "store", "text").output == "two")
    #expect(try playground.packstore("log", "store").lines.last?.hasPrefix("Tutorial@3") == true)
    #expect(try playground.packstore("verify", "store", "--deep").status == 0)
    try add()
    #expect(try isIntact())
  }

  /// Intact assets that share a file with the damage are neither lost nor restored; lost assets are listed last.
  @Test func onlyWhatWasDamagedIsReported() throws {
    for number in 0..<120 { try playground.write(noise(3_000, seed: UInt64(number)), to: "folder/small/\(number)") }
    try add()
    _ = try damage()
    _ = try playground.shell("cp -R store copy; cp -R store dry")
    let dry = try playground.packstore("repair", "dry", "--dry-run", "--json").json
    // The noise of one file: nothing else in its segment is hurt.
    let victim = try #require((dry["lost"] as? [NSDictionary])?.compactMap { $0["asset"] as? String }.first)
    for report in [dry, try playground.packstore("repair", "store", "--json").json] {
      #expect(report["healed_assets"] as? Int == 0 && (report["healed"] as? [NSDictionary])?.isEmpty == true)
      let lost = (report["lost"] as? [NSDictionary])?.compactMap { $0["asset"] as? String }
      #expect(lost == [victim], "\(report)")
    }
    let run = try playground.shell("packstore repair copy 2>&1")
    let kept = try #require(run.lines.firstIndex { $0.hasPrefix("kept ") })
    let asset = try #require(run.lines.firstIndex { $0 == "packstore: lost: Tutorial@3 \(victim)" })
    #expect(kept > asset && run.lines.last?.hasPrefix("packstore: lost 1 asset") == true, "\(run.output)")
    #expect(run.lines.count < 6, "\(run.output)")
    let healed = try playground.shell(
      """
      packstore add whole folder --pack Tutorial -q
      rm -r store; mv dry store; packstore repair store --from whole --json
      """)
    #expect(healed.status == 0, "\(healed.errors)")
    let assets = try #require(healed.json["healed"] as? [NSDictionary]).compactMap { $0["asset"] as? String }
    #expect(assets == [victim])
  }

  @Test func healedFromACopy() throws {
    _ = try damage()
    let run = try playground.packstore("repair", "store", "--from", "backup")
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.output.contains("healed: Tutorial@2 Videos/intro.bin, from backup\n")
        || run.output.contains("healed: Tutorial@1 Videos/intro.bin, from backup\n"))
    #expect(run.lines.last == "kept 1 pack in 2 versions; healed 1 asset; nothing lost", "\(run.output)")
    #expect(try isIntact())
    #expect(try playground.packstore("log", "store").lines.count == 3)
  }

  @Test func everythingButSegmentsIsGone() throws {
    try playground.remove("store/CONTROL")
    try playground.remove("store/index")
    let json = try playground.packstore("repair", "store", "--json")
    #expect(json.status == 0)
    #expect(try json.json["rebuilt"] as? Bool == true)
    #expect(try isIntact())
    #expect(try playground.packstore("log", "store").lines.count == 3)
  }

  @Test func noStore() throws {
    try playground.makeFolder("empty")
    #expect(try playground.packstore("repair", "empty").errors == "packstore: 'empty': not a store\n")
    #expect(playground.tree("empty").isEmpty)
    let tree = playground.tree("store")
    for isDamaged in [false, true] {
      if isDamaged { _ = try damage() }
      for source in ["folder", "none", "http://127.0.0.1:1/packs"] {
        let run = try playground.packstore("repair", "store", "--from", source)
        #expect(run.status != 0 && run.errors.contains(source), "\(run.errors)")
      }
      #expect(playground.tree("store") == tree, "a source that cannot be read changes nothing")
    }
  }
}
