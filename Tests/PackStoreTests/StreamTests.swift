import Foundation
import PackStore
import Testing

/// Files as sequences of buffers.
@Suite struct StreamTests {
  private static let files: [String: Data] = [
    "packed": text(3_000_001, seed: 1), "raw": noise(700_000, seed: 2), "small": Data("small".utf8), "empty": Data(),
  ]

  private static func makeStore(_ folder: borrowing TemporaryFolder) async throws -> Store {
    let store = try folder.store()
    try folder.makeFolder("source", files)
    try folder.makeLink("source/link", to: "raw")
    try await store.install(folder: FilePath(folder.path("source")), as: "P")
    return store
  }

  /// All buffers of a stream.
  private static func buffers(_ stream: AssetStream) async throws -> [Data] {
    var buffers: [Data] = []
    for try await buffer in stream { buffers.append(buffer) }
    return buffers
  }

  @Test(arguments: [1 << 20, 1 << 22, 4_096, 65_537, 999_983], files.keys.sorted())
  func wholeFiles(bufferByteCount: Int, path: String) async throws {
    let folder = TemporaryFolder(), expected = Self.files[path]!
    let store = try await Self.makeStore(folder)
    let stream = try store.stream(of: path, bufferByteCount: bufferByteCount)
    #expect(stream.byteCount == expected.count && stream.bufferByteCount == bufferByteCount)
    for _ in 0..<2 {
      let buffers = try await Self.buffers(stream)
      #expect(buffers.reduce(Data(), +) == expected)
      #expect(buffers.dropLast().allSatisfy { $0.count == bufferByteCount })
      #expect(buffers.count == (expected.count + bufferByteCount - 1) / bufferByteCount)
    }
  }

  @Test func byteByByte() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let buffers = try await Self.buffers(store.stream(of: "small", bufferByteCount: 1))
    #expect(buffers == "small".utf8.map { Data([$0]) })
  }

  @Test(arguments: ["packed", "raw"]) func ranges(path: String) async throws {
    let folder = TemporaryFolder(), expected = Self.files[path]!
    let store = try await Self.makeStore(folder)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<20 {
      let start = Int.random(in: 0...expected.count, using: &generator)
      let range = start..<Int.random(in: start...expected.count, using: &generator)
      let stream = try store.stream(of: path, range: range, bufferByteCount: 77_777)
      #expect(stream.byteCount == range.count)
      #expect(try await Self.buffers(stream).reduce(Data(), +) == expected[range], "\(range)")
    }
    for range in [0..<0, 500..<500, expected.count..<expected.count] {
      #expect(try await Self.buffers(store.stream(of: path, range: range)).isEmpty)
    }
  }

  @Test func whatCannotBeStreamed() async throws {
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path("source/void"), withIntermediateDirectories: true)
    let store = try await Self.makeStore(folder)
    for range in [-1..<1, 0..<700_001, 700_000..<700_001, Int.min..<0, 0..<Int.max] {
      #expect { try store.stream(of: "raw", range: range) } throws: {
        ($0 as? PackStoreError)?.code == .invalidArgument
      }
    }
    for (path, code) in [("link", PackStoreError.Code.wrongKind), ("void", .wrongKind), ("nothing", .notFound)] {
      #expect { try store.stream(of: path) } throws: { ($0 as? PackStoreError)?.code == code }
    }
  }

  /// A stream retains its generation: it reads the version it was made from, with any later changes of snapshot and
  /// pack.
  @Test func versionsThatGo() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let streams = try store.read { snapshot in
      try ["packed", "raw"].map { ($0, try snapshot.stream(of: $0, bufferByteCount: 300_000)) }
    }
    var iterator = streams[0].1.makeAsyncIterator()
    var first = try #require(try await iterator.next())
    try folder.makeFolder("next", ["packed": "another version"])
    let next = folder.path("next")
    try await store.write(options: .init(keptVersionCount: 1)) { try $0.install(folder: FilePath(next), as: "P") }
    try await store.remove("P")
    try await store.install(folder: FilePath(folder.path("next")), as: "Q")
    #expect(try store.packs().map(\.id) == ["Q"])
    while let buffer = try await iterator.next() { first += buffer }
    #expect(first == Self.files["packed"])
    for (path, stream) in streams {
      #expect(try await Self.buffers(stream).reduce(Data(), +) == Self.files[path], "\(path)")
    }
  }

  /// No bytes are read before they are requested. Damage that occurs further on is not noticed until then; the bytes
  /// before it arrive intact.
  @Test func nothingIsReadAhead() async throws {
    let folder = TemporaryFolder(), bytes = noise(4_000_000, seed: 9)
    let store = try folder.store()
    try folder.makeFolder("source", ["raw": bytes])
    try await store.install(folder: FilePath(folder.path("source")), as: "P")
    let segment = try Self.segment(holding: bytes.prefix(5_000), in: folder.path("store"))
    let start = try #require(try Data(contentsOf: segment).firstRange(of: bytes.prefix(5_000))).lowerBound
    var iterator = try store.stream(of: "raw", bufferByteCount: 500_000).makeAsyncIterator()
    #expect(try await iterator.next() == bytes[0..<500_000])
    // Damage every byte from the fourth buffer on.
    let file = try FileHandle(forUpdating: segment)
    try file.seek(toOffset: UInt64(start + 1_500_000))
    try file.write(contentsOf: Data(repeating: 0, count: 2_500_000))
    try file.close()
    #expect(try await iterator.next() == bytes[500_000..<1_000_000])
    // A frame can cross the border; all of its content is refused.
    let third = await Result { try await iterator.next() }
    if let buffer = try? third.get() { #expect(buffer == bytes[1_000_000..<1_500_000]) }
    let last = await Result { try await iterator.next() }
    let error = try #require([third, last].compactMap { $0.failure as? PackStoreError }.first)
    #expect(error.code == .corrupt && error.asset == "raw")
    // A sequence that threw is over.
    #expect(try await iterator.next() == nil)
  }

  private static func segment(holding bytes: Data, in store: String) throws -> URL {
    let folder = URL(fileURLWithPath: store + "/segments")
    let all = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try #require(try all.first { try Data(contentsOf: $0).firstRange(of: bytes) != nil })
  }

  /// A cancelled task gets no more buffers, large or small.
  @Test(arguments: [1 << 20, 1_000]) func cancelled(bufferByteCount: Int) async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let stream = try store.stream(of: "packed", bufferByteCount: bufferByteCount)
    let task = Task {
      var count = 0
      for try await buffer in stream {
        count += buffer.count
        withUnsafeCurrentTask { $0?.cancel() }
      }
      return count
    }
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(try await Self.buffers(stream).count == (3_000_001 + bufferByteCount - 1) / bufferByteCount)
  }

  /// Many tasks go through one stream at once; each has its own place.
  @Test func manyTasks() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let stream = try store.stream(of: "packed", bufferByteCount: 200_000)
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 { group.addTask { try await Self.buffers(stream).reduce(Data(), +) } }
      for try await bytes in group { #expect(bytes == Self.files["packed"]) }
    }
  }

  /// Cut off by another process while it is streamed, a file is corrupt: no signal, no wrong byte.
  @Test func cutOffMeanwhile() async throws {
    let folder = TemporaryFolder(), bytes = noise(2_000_000, seed: 12)
    let store = try folder.store()
    try folder.makeFolder("source", ["raw": bytes])
    try await store.install(folder: FilePath(folder.path("source")), as: "P")
    let segment = try Self.segment(holding: bytes.prefix(5_000), in: folder.path("store"))
    var iterator = try store.stream(of: "raw", bufferByteCount: 100_000).makeAsyncIterator(), got = Data()
    got += try #require(try await iterator.next())
    let file = try FileHandle(forUpdating: segment)
    try file.truncate(atOffset: 1_000_000)
    try file.close()
    var code: PackStoreError.Code?
    do {
      while let buffer = try await iterator.next() { got += buffer }
    } catch {
      code = (error as? PackStoreError)?.code
    }
    #expect(code == .corrupt && got == bytes.prefix(got.count) && got.count < 1_000_000)
  }
}

extension Result where Failure == any Error {
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }

  fileprivate var failure: (any Error)? {
    guard case .failure(let error) = self else { return nil }
    return error
  }
}
