import PackDelivery
import PackStore

/// Checks whether a storage supports the operations of the protocol: `Docs/ObjectStorage.md`. Uses objects of its own, below the
/// prefix of the publishers' files, and deletes them.
public struct BucketCheck: Sendable {
  /// One check and its result.
  public struct Finding: Hashable, Codable, Sendable {
    /// The checked operation, in a few English words.
    public let subject: String

    /// The fault; `nil` if it works.
    public let fault: String?

    /// Whether publishing requires it.
    public let isNeeded: Bool

    /// The consequence if it does not work.
    public let consequence: String
  }

  public struct Result: Hashable, Codable, Sendable {
    public let location: String
    public let findings: [Finding]

    /// Whether sites can be published there.
    public var isSafe: Bool { findings.allSatisfy { $0.fault == nil || !$0.isNeeded } }
  }

  private let storage: any ObjectStorage
  private let folder = "check/\(ID128.random().hex)"
  private static let racerCount = 8

  private static let withoutConditions =
    "publish to a folder, by one job at a time, and copy it: the files first, then roots/, then root"

  package init(_ storage: any ObjectStorage) { self.storage = storage }

  private func key(_ name: String) -> ObjectKey { ObjectKey(space: .hidden, path: "\(folder)/\(name)") }

  private static func body(_ text: String) -> ObjectBody { .bytes(Array("packstore check \(text)\n".utf8)) }

  /// Runs the checks, and closes all connections. The check cannot be used afterwards.
  ///
  /// - Throws: `denied` if the credentials do not allow it; `unreachable`; `noSpace`.
  public func run() async throws -> Result {
    do {
      let result = try await examine()
      await storage.close()
      return result
    } catch {
      await storage.close()
      throw error
    }
  }

  /// Runs the checks, and leaves the connections open.
  func examine() async throws -> Result {
    let names = ["absent", "match", "nothing", "race", "swap", "wrong"]
    do {
      let findings = try await probes()
      await clean(names)
      return Result(location: storage.location, findings: findings)
    } catch {
      await clean(names)
      throw error
    }
  }

  private func probes() async throws -> [Finding] {
    let conditions = Self.withoutConditions
    return [
      try await probe("an existing object is not overwritten (If-None-Match)", without: conditions, absent),
      try await probe("an object is replaced only with its ETag (If-Match)", without: conditions, matching),
      try await probe("of concurrent writers creating an object, one wins", without: conditions, race),
      try await probe("of concurrent writers replacing an object, one wins", without: conditions, swap),
      try await probe("reads return the last write", without: conditions, readBack),
      try await probe("answers have a date", without: conditions, dated),
      try await probe(
        "the SHA-256 of an object is reported", isNeeded: false,
        without: "existing objects are downloaded for comparison",
        checksum),
      try await probe(
        "a damaged upload is refused", isNeeded: false, without: "use https, which detects the damage",
        damaged),
      try await probe("a deleted object does not exist", without: "files that left a site stay there", deleted),
    ]
  }

  /// Runs one check. A refusal by the storage is a finding, not an error.
  private func probe(
    _ subject: String, isNeeded: Bool = true, without consequence: String, _ body: () async throws -> String?
  ) async throws -> Finding {
    let fault: String?
    do {
      fault = try await body()
    } catch let error as DeliveryError where error.code == .badResponse {
      fault = error.reason
    }
    return Finding(subject: subject, fault: fault, isNeeded: isNeeded, consequence: consequence)
  }

  private func clean(_ names: [String]) async {
    let storage = storage, keys = names.map(key)
    // Also if this task was cancelled.
    await Task { for key in keys { _ = try? await storage.delete(key, latest: .max) } }.value
  }

  private func absent() async throws -> String? {
    guard case .written = try await storage.write(Self.body("1"), to: key("absent"), .absent, latest: nil) else {
      return "a new object was refused"
    }
    guard try await storage.write(Self.body("2"), to: key("absent"), .absent, latest: nil) == .refused else {
      return "the object was overwritten: the condition is ignored"
    }
    return nil
  }

  private func matching() async throws -> String? {
    let first = try await storage.write(Self.body("1"), to: key("match"), .always, latest: nil)
    guard case .written(let old) = first else { return "a write without a condition was refused" }
    guard
      case .written(let new) = try await storage.write(Self.body("2"), to: key("match"), .matching(old), latest: nil)
    else { return "a true condition was refused" }
    guard old != new else { return "the ETag is the same for other content" }
    guard try await storage.write(Self.body("3"), to: key("match"), .matching(old), latest: nil) == .refused else {
      return "the object was replaced with an old ETag: the condition is ignored"
    }
    guard try await storage.write(Self.body("3"), to: key("nothing"), .matching(old), latest: nil) == .refused else {
      return "a missing object was replaced"
    }
    return nil
  }

  private func race() async throws -> String? { try await winners("race") { .absent } }

  private func swap() async throws -> String? {
    guard case .written(let tag) = try await storage.write(Self.body("0"), to: key("swap"), .always, latest: nil) else {
      return "a write without a condition was refused"
    }
    return try await winners("swap") { .matching(tag) }
  }

  private func winners(_ name: String, _ condition: @Sendable () -> WriteCondition) async throws -> String? {
    let storage = storage, key = key(name), condition = condition()
    let count = try await withThrowingTaskGroup(of: Bool.self) { group in
      for racer in 0..<Self.racerCount {
        group.addTask {
          let outcome = try await storage.write(Self.body("racer \(racer)"), to: key, condition, latest: nil)
          return outcome != .refused
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    return count == 1 ? nil : "\(count) of \(Self.racerCount) writers received success"
  }

  private func readBack() async throws -> String? {
    for round in 0..<5 {
      let body = Self.body("round \(round)")
      guard case .written = try await storage.write(body, to: key("match"), .always, latest: nil),
        let object = try await storage.read(key("match"), limit: 1 << 10)
      else { return "the written object does not exist" }
      guard Digest256(hashing: object.bytes) == body.digest else { return "a read returned the previous content" }
    }
    return nil
  }

  private func checksum() async throws -> String? {
    let body = Self.body("1")
    guard let facts = try await storage.examine(key("absent")) else { return "the object does not exist" }
    guard facts.byteCount == body.byteCount else { return "the object's length is wrong" }
    guard let digest = facts.digest else { return "the SHA-256 is missing" }
    return digest == body.digest ? nil : "the SHA-256 is wrong"
  }

  private func dated() async throws -> String? {
    (try? await storage.now()) == nil ? "answers have no Date" : nil
  }

  private func damaged() async throws -> String? {
    guard let storage = storage as? any DamageProbe else { return nil }
    return try await storage.takesDamage(at: key("wrong")) ? "the upload was accepted" : nil
  }

  private func deleted() async throws -> String? {
    _ = try await storage.delete(key("match"), latest: .max)
    return try await storage.examine(key("match")) == nil ? nil : "the object still exists"
  }
}

/// A storage whose uploads can be damaged deliberately.
protocol DamageProbe: ObjectStorage {
  /// Uploads bytes that differ from their checksum; returns whether the storage accepted them.
  func takesDamage(at key: ObjectKey) async throws -> Bool
}

#if Delivery
  extension BucketCheck {
    /// - Throws: `invalidLocation`; `denied` without credentials.
    public init(_ location: S3Location, options: BucketSite.Options = .init()) throws {
      self.init(try S3Storage.open(at: location, options, environment: processEnvironment()))
    }
  }

  extension S3Storage: DamageProbe {
    func takesDamage(at key: ObjectKey) async throws -> Bool {
      let status = try await sendDamaged(to: key)
      return status < 300
    }
  }
#endif
