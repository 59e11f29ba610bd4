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
    "45e46b5674498b6791e368415cc7d0c6 4fcf9d7d37cc0ddf60a72288f3e8e02766ac5185f1bb48f4e2df0728fd7c7484",
    "9cab016cc88e581ead1a0f31f4058641 2290ec581556259922cb557948d64bf860a94c67b121e9714f812048224e79c4",
    "b0a615110b13ba86e45876b2d3bcfa93 da5e1eef0da44bdae8b1b35e8092bc75aeb465c3182aed1edb7a7bc1e2abaeba",
    "e1cdf5d2029217dbe189150b0ebf8ed2 0d74810db630a3b0fe6668ee04634b7a7da2c7e5398e349fe246b3a9907a775c",
  ]
}
