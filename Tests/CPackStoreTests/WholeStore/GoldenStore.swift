/// Written by `GoldenTests`: what the golden store is made of.
enum GoldenStore {
  /// Versions with the SHA-256 of their catalogs' root pages, which depend on the folder and the chunker alone.
  static let catalogs: [String] = [
    "version 2 94ea3c786ed109f59775b79ef3177d21950e8646af0bc95b29a07574f459d76c",
    "version 1 282d571934ad12292a3e82daea6dfc489b992ed306c22857c2e9dba824dfb595",
  ]
  /// Segments with the SHA-256 of their files, as this version of libzstd makes them.
  static let zstdVersion: UInt32 = 10504
  static let segments: [String] = [
    "008ad6fe5ac22cb8ed7f989a274efdb2 dd66f5f6ed560e33c54979aafdebd9e45fe5fe20e15aeec2fe75328273ea63e4",
    "29012d40dc8862cc9e4d73f57519b352 0ec598cefde092dc82111a6597da078005b4b2bcb82df9bab4632dd2f4afd1fc",
    "4dffe95d8f668f233671931cfd863e38 14269488a74fb73094be4f07d32da0f1f7131ba9ab85219f65312d90187d3044",
    "7148698f30e74c257178ab871b3a94ae f409a56cabb119f71beb900fe24157b06e5e210fd987259b847d91e3b36b283a",
  ]
}
