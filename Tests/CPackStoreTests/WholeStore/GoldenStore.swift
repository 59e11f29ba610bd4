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
    "0c8d8caa5b5b7d069c11a168a78b9505 bb2b37ad1cb1bbe707fc9761e3dab3d0a3369031b0c91c0c3ae2aea9f661d6d4",
    "0e45eb97145449bf46bf05f7977264d2 adee27ee3e2fcccc4c21a72b7e0120fc72f0836a0bf5b5de030a4f6024e69111",
    "5f7db590196c828730cd2c91615743fa 43102d52f9de4762d36431227591ed3d7785caa0bdeaf0c069bf530c95c081da",
    "f236ee9057f1baf94c97f849b1ef55da 01ee46ee579d3a5f1d24e3ae0c78e7d3839c68af4dc56c3983c6840e6ab607b4",
  ]
}
