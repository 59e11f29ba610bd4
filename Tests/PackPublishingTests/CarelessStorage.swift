import PackDelivery
import PackStore

@testable import PackPublishing

/// A storage that does not keep to conditions.
final class CarelessStorage: ObjectStorage {
  enum Answer { case ignores, refuses }

  private let storage: SimulatedStorage
  private let answer: Answer
  var location: String { storage.location }
  let needsCheck = true

  init(_ bucket: SimulatedBucket, _ answer: Answer) {
    storage = SimulatedStorage(bucket)
    self.answer = answer
  }

  func write(
    _ body: ObjectBody, to key: ObjectKey, _ condition: WriteCondition, latest: Int64?
  ) async throws -> WriteOutcome {
    if answer == .refuses, condition != .always {
      throw DeliveryError(.badResponse, "the storage does not support the condition (501)", at: location)
    }
    return try await storage.write(body, to: key, .always, latest: latest)
  }

  func now() async throws -> Int64 { try await storage.now() }
  func read(_ key: ObjectKey, limit: Int) async throws -> StoredObject? { try await storage.read(key, limit: limit) }
  func examine(_ key: ObjectKey) async throws -> ObjectFacts? { try await storage.examine(key) }
  func delete(_ key: ObjectKey, latest: Int64) async throws -> Bool { try await storage.delete(key, latest: latest) }
  func close() async { await storage.close() }

  func read(_ key: ObjectKey, in range: Range<UInt64>) async throws -> [UInt8]? {
    try await storage.read(key, in: range)
  }

  func fetch(
    _ key: ObjectKey, byteCount: UInt64, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Bool {
    try await storage.fetch(key, byteCount: byteCount, restart: restart, body)
  }
}
