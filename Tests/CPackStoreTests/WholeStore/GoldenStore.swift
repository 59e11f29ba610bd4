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
    "102d42f614acb811768a9de8ad6154d0 2dbb501b71576386dd6a47dd70a21f9d22727334d7cc357bcc3c29c3b26412a9",
    "5a77378b2a5463c9f509218e03d0e738 a7a62266f4e1526bc21fdd3d87aa0d6e2e978d9031028388960a5f6b18c305be",
    "b544b818cfe09a961312d025324eca12 14ef7d6a3c30e9db55f080388d1bfca45a3aaf787ee1a74c3eb56ace4c1aeee3",
    "cbe2329373c88f59f3a96ea2e93c8259 8d1bc0bc44dc373917efb2fb239bc82ae5a087d408b5febc262bc993db107b16",
  ]
}
