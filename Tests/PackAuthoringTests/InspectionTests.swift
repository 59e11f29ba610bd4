import Foundation
import PackStore
import Testing

@testable import PackAuthoring

@Suite struct InspectionTests {
  private let folder = try! TemporaryFolder()

  private func store(_ versions: [String: [UInt8]]...) async throws -> Store {
    let store = try folder.store()
    for files in versions {
      let source = try folder.makeFolder("source", files.mapValues { Data($0) })
      try await store.install(folder: FilePath(source), as: "Game")
    }
    return store
  }

  private static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
  }

  // MARK: - Findings

  @Test func figures() async throws {
    let same = Self.noise(30_000, seed: 1)
    let store = try await store([
      "textures/a.PNG": same, "textures/b.png": same, "levels/copy": same,
      "levels/one.txt": Array(repeating: 0x61, count: 50_000), ".hidden": [1], "name.": [2], "empty": [],
      "empty-too": [],
    ])
    let inspection = try Inspection(of: store.makeSnapshot(), pack: "Game")
    #expect(inspection.root.fileCount == 8 && inspection.root.byteCount == 140_002)
    #expect(inspection.root.items.map(\.name).first == "textures")
    #expect(inspection.usage.uniqueByteCount == 80_002)
    let kinds = Dictionary(uniqueKeysWithValues: inspection.kinds.map { ($0.fileExtension, $0.fileCount) })
    #expect(kinds == ["png": 2, "txt": 1, "": 5])
    #expect(inspection.duplicates.map(\.paths) == [["levels/copy", "textures/a.PNG", "textures/b.png"]])
    #expect(inspection.duplicateByteCount == 60_000 && inspection.change == nil)
    #expect(inspection.largestFiles(3).map(\.path).sorted() == ["levels/copy", "textures/a.PNG", "textures/b.png"])
    #expect(inspection.largestFiles(0).isEmpty)
    #expect(throws: PackStoreError.self) { try Inspection(of: store.makeSnapshot(), pack: "Other") }
  }

  @Test func changesSinceAVersion() async throws {
    let kept = Self.noise(200_000, seed: 2), added = Self.noise(50_000, seed: 3)
    let store = try await store(["kept": kept, "gone": [1, 2]], ["kept": kept, "new": added])
    let snapshot = try store.makeSnapshot(), from = try #require(snapshot.version(1, of: "Game"))
    let change = try #require(try Inspection(of: snapshot, pack: "Game", from: from, makesDelta: true).change)
    #expect(change.totals.addedCount == 1 && change.totals.removedCount == 1 && change.totals.newByteCount == 50_000)
    #expect(change.rows.map(\.path) == ["new", "gone"])
    #expect((49_000...51_000).contains(change.rangeByteCount))
    #expect((50_000...60_000).contains(try #require(change.deltaByteCount)))
  }

  /// A path of a thousand folders takes no stack.
  @Test func deepFolders() async throws {
    let path = Array(repeating: "d", count: 1_000).joined(separator: "/") + "/file"
    let source = try folder.makeFolder("source", ["plain": Data([1, 2, 3])]), store = try folder.store()
    let entry = Store.Selection.Entry(path: path, source: "plain")
    try await store.install(Store.Selection(from: FilePath(source), [entry]), as: "Deep")
    let inspection = try Inspection(of: store.makeSnapshot())
    #expect(inspection.root.fileCount == 1 && inspection.largestFiles(1)[0].path == path)
    #expect(inspection.html(title: "Deep").contains("Where the bytes are"))
  }

  /// Names that differ only by Unicode normal form are different folders, and a slash before a combining mark separates names.
  @Test func exactNames() async throws {
    let paths = ["caf\u{e9}/a", "cafe\u{301}/b", "d/\u{301}e"]
    let source = try folder.makeFolder("source", ["plain": Data([1, 2, 3])]), store = try folder.store()
    let entries = paths.map { Store.Selection.Entry(path: $0, source: "plain") }
    try await store.install(Store.Selection(from: FilePath(source), entries), as: "Names")
    let inspection = try Inspection(of: store.makeSnapshot())
    #expect(Set(inspection.largestFiles(3).map { Array($0.path.utf8) }) == Set(paths.map { Array($0.utf8) }))
    #expect(inspection.root.items.count == 3)
  }

  // MARK: - The page

  /// The characters of a name are text, and nothing is fetched or run.
  @Test func namesAreText() async throws {
    let store = try await store([
      "<script>alert(1)<_script>.js": [1], "\"onload='x'&amp;": [2], "turn\u{202e}ed": [3], "new\nline": [4],
    ])
    let page = try Inspection(of: store.makeSnapshot()).html(title: "<b>Game</b>")
    #expect(page.contains("&lt;script&gt;alert(1)&lt;_script&gt;.js") && !page.contains("<script"))
    #expect(page.contains("&quot;onload=&#39;x&#39;&amp;amp;") && !page.contains("\"onload"))
    #expect(page.contains("turn\\u{202e}ed") && !page.contains("\u{202e}"))
    #expect(page.contains("<title>&lt;b&gt;Game&lt;/b&gt;</title>"))
    for word in ["http://", "https://", "url(", "@import", "src="] { #expect(!page.contains(word)) }
  }

  @Test func anEmptyStoreHasAPage() throws {
    let store = try folder.store()
    let page = try Inspection(of: store.makeSnapshot()).html(title: "Empty")
    #expect(page.contains("0 files of 0 B"))
  }

  /// Items too small to see are combined, so that a page of many files stays small.
  @Test func manyFiles() {
    var root = Inspection.Item(name: "", isFolder: true)
    root.items = (0..<50_000).map { number in
      var file = Inspection.Item(name: "file-\(number)", isFolder: false)
      (file.fileCount, file.byteCount, file.storedByteCount) = (1, 100, 50)
      return file
    }
    (root.fileCount, root.byteCount, root.storedByteCount) = (50_000, 5_000_000, 2_500_000)
    var drawing = TreemapDrawing()
    drawing.draw(root)
    #expect(drawing.marks.contains(">50,000 more</text>") && drawing.marks.utf8.count < 1_000)
  }

  // MARK: - The map

  @Test(arguments: 1...20) func rectanglesFillTheWhole(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    let count = Int.random(in: 1...60, using: &random)
    let weights = (0..<count).map { _ in Double(Int.random(in: 0...1_000, using: &random)) }.sorted(by: >)
    let whole = Treemap.Rectangle(x: 10, y: 20, width: 640, height: Double(Int.random(in: 1...900, using: &random)))
    let places = Treemap.layOut(weights, in: whole), sum = weights.reduce(0, +)
    #expect(places.count == weights.count)
    guard sum > 0 else { return }
    for (weight, place) in zip(weights, places) {
      #expect(abs(place.area - weight / sum * whole.area) < 0.01 * whole.area / Double(count) + 1e-6)
      #expect(place.x >= whole.x - 1e-6 && place.x + place.width <= whole.x + whole.width + 1e-6)
      #expect(place.y >= whole.y - 1e-6 && place.y + place.height <= whole.y + whole.height + 1e-6)
    }
    for (index, one) in places.enumerated() {
      for other in places[(index + 1)...] {
        let width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        let height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        #expect(width < 1e-6 || height < 1e-6, "no two overlap")
      }
    }
  }

  @Test func nothingToDraw() {
    let whole = Treemap.Rectangle(x: 0, y: 0, width: 100, height: 100)
    #expect(Treemap.layOut([], in: whole).isEmpty)
    #expect(Treemap.layOut([0, 0], in: whole).allSatisfy { $0.area == 0 })
    #expect(Treemap.layOut([1], in: whole.inset(60)).allSatisfy { $0.area == 0 })
    #expect(Treemap.layOut([5], in: whole) == [whole])
  }
}
