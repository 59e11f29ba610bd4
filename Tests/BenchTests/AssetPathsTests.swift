import Testing

@testable import packstore_bench

@Suite struct AssetPathsTests {
  @Test func everyFormSaysTheSame() {
    let strings = ["a", "Textures/größe.png", "", "z/y/x"]
    let paths = AssetPaths(strings)
    #expect(paths.map(\.string) == strings)
    #expect(paths.map { String(cString: $0.utf8) } == strings)
    #expect(paths.map(\.utf8Count) == strings.map(\.utf8.count))
  }

  @Test func bytesLieInOrder() {
    let paths = AssetPaths(["second", "first"])
    #expect(paths[0].utf8 + 7 == paths[1].utf8)
  }
}
