import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  @Suite struct SmokeTests {
    @Test func roundTrip() throws {
      let disk = Disk()
      disk.put(.sample(seed: 1), at: "/source")
      disk.startTrace()
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/source") }
      #expect(try store.state() == ["p": PackState(priority: 0, version: 1, content: .sample(seed: 1))])
      print(disk.trace)
    }

    @Test func emptyFolderBeforeSibling() throws {
      let disk = Disk()
      disk.put(["x": .folder, "x.txt": .file("1")], at: "/source")
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/source") }
      #expect(try store.state()["p"]?.content == ["x": .folder, "x.txt": .file("1")])
    }
  }
}
