#if Hosting
  import Foundation
  import PackAuthoring
  import PackStore
  import Testing

  @testable import PackHosting

  /// Anyone who has the name of a segment can fetch all of it. So no segment of a live version has frames that only unreleased
  /// versions need.
  @Suite struct EmbargoTests {
    /// Processes a version with these files.
    private func upload(_ files: [String: String], pack: PackID = "City", _ host: TestHost) async throws
      -> VersionRecord
    {
      let version = try await host.version(of: pack.name)
      _ = try await host.upload(try await host.archive(of: pack, files), to: version)
      await host.work()
      let done = try await host.version(version.id)
      #expect(done.state == .complete)
      return done
    }

    private func release(_ versions: VersionRecord..., in host: TestHost) async throws {
      _ = try await host.submit(versions)
      await host.work()
    }

    private func segments(_ number: UInt64, of pack: PackID = "City", _ host: TestHost) throws -> Set<SegmentID> {
      let snapshot = try Site(existingAt: host.siteFolder).store.makeSnapshot()
      let version = try #require(snapshot.version(number, of: pack))
      return Set(try snapshot.segments(of: version).map(\.id))
    }

    /// A text that does not compress, so that it has frames of its own.
    private func text(_ seed: UInt64) -> String {
      var generator = SeededGenerator(seed: seed)
      return String((0..<50_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &generator))) })
    }

    @Test func laterVersionsShareNothingWithUnreleasedOnes() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let first = try await upload(["a": text(1)], host)
      try await release(first, in: host)
      // Version 2 stays with testers. Version 3 has its new file as well, and is released.
      _ = try await upload(["a": text(1), "b": text(2), "secret": text(3)], host)
      let third = try await upload(["a": text(1), "b": text(2)], host)
      try await release(third, in: host)
      #expect(try await host.offered(.store) == [3])
      let released = try segments(1, host), live = try segments(3, host)
      let secret = try segments(2, host).subtracting(released)
      #expect(!secret.isEmpty && secret.isDisjoint(with: live))
      #expect(!live.isDisjoint(with: released), "released data is shared")
    }

    @Test func otherPacksShareNothingWithUnreleasedOnes() async throws {
      let host = try await TestHost()
      try await host.delegate()
      _ = try await upload(["a": text(1), "secret": text(2)], pack: "City", host)
      let forest = try await upload(["a": text(1)], pack: "Forest", host)
      try await release(forest, in: host)
      #expect(try segments(1, of: "City", host).isDisjoint(with: try segments(1, of: "Forest", host)))
    }

    /// For any choice of released versions, a segment that an unreleased version created is not a segment of a live one.
    @Test(arguments: [[4], [1, 4], [2, 4], [1, 3], [2, 3, 4], []]) func liveVersionsUseNoSegmentsOfUnreleasedOnes(
      _ released: [UInt64]
    ) async throws {
      let host = try await TestHost()
      try await host.delegate()
      var created: [UInt64: Set<SegmentID>] = [:], known: Set<SegmentID> = []
      for number in UInt64(1)...4 {
        let files = Dictionary(uniqueKeysWithValues: (1...number).map { ("file\($0)", text($0)) })
        let version = try await upload(files, host), segments = try segments(number, host)
        created[number] = segments.subtracting(known)
        known.formUnion(segments)
        if released.contains(number) { try await release(version, in: host) }
      }
      #expect(try await host.offered(.store) == released.suffix(1))
      for live in released {
        for other in UInt64(1)...4 where !released.contains(other) {
          #expect(try segments(live, host).isDisjoint(with: try #require(created[other])), "\(live) and \(other)")
        }
      }
    }
  }
#endif
