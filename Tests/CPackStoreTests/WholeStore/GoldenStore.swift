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
    "4fab2c087260d6f20254bfbd798476e0 a9f243bc83949b8049e452adef3fa47f56c2b6bfb668d19cc5af92fd7fc4d971",
    "70be6245732b4cf45dee87fd13770ef7 4d9b7434bd19f07579e71a2045df2dc7cca66a89db9028f3b2c32a83561ed44c",
    "bdacb1fb377d30bc0b002b3517e48ff8 3e04b7b872292e08a64d59774625ac4780374ae665fa35faa7a0e424a1c93787",
    "cbe2329373c88f59f3a96ea2e93c8259 8d1bc0bc44dc373917efb2fb239bc82ae5a087d408b5febc262bc993db107b16",
  ]
}
