import CPackStore
import CPackStoreTesting
import Testing

/// What finds paths under a key, on loan to C as long as this lives.
final class PathHasher {
  let raw = UnsafeMutablePointer<pks__path_hasher>.allocate(capacity: 1)

  init(key: [UInt8] = Array(0..<32)) { pks__path_hasher_init(raw, key) }
  deinit { raw.deallocate() }

  /// The hasher of the store on a disk, at its first generation: what its owner knows, and the author of a pack does not.
  convenience init(of disk: Disk) throws {
    let file = try #require(disk.read("/store/index/0000000000000001.generation"))
    var generation = pks__generation()
    try attempt { pks__generation_decode(file, file.count, "generation", &generation, $0) }
    defer { pks__generation_free(&generation) }
    self.init(key: withUnsafeBytes(of: generation.path_key) { Array($0) })
  }

  func hash(_ path: String) -> UInt64 { pks__path_hash(raw, path, path.utf8.count) }

  /// Names of the first of so many buckets in a run of a salt.
  func names(_ count: Int, ofBucketIn bucketCount: UInt64, salt: UInt32, from first: UInt64 = 0) -> [String] {
    chosenNames(count, chosen_names(hasher: raw, salt: salt, bucket_count: bucketCount, next: first))
  }

  /// Names of which no salt finds all a place: for each more than a look-up may inspect. They are the only ones of a run.
  func hostileNames() -> [String] {
    let each = 330, salts: UInt32 = 4
    let buckets = UInt64(each) * UInt64(salts) / 7 + 1
    return (0..<salts).flatMap { names(each, ofBucketIn: buckets, salt: $0, from: UInt64($0) << 32) }.sorted()
  }
}

/// Names that shared a bucket when XXH3 without a secret placed them.
func unkeyedNames(_ count: Int, ofBucketIn bucketCount: UInt64) -> [String] {
  chosenNames(count, chosen_names(hasher: nil, salt: 0, bucket_count: bucketCount, next: 0))
}

private func chosenNames(_ count: Int, _ names: chosen_names) -> [String] {
  var names = names
  return (0..<count).map { _ in
    var name = [CChar](repeating: 0, count: 17)
    chosen_names_next(&names, &name)
    return String(decoding: name.prefix(16).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
