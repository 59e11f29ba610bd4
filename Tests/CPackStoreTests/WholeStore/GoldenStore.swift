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
    "44736ecc0c581c72d9653a2cfdcb5bbc b037c2a8f45de6213b3e35cac4fe0c89cd9249bab8af4b1cc7f3f43586d26c9d",
    "4b739334d61d19382b031baf51bb8d7a 0594c5668871b0b1afccacc8ab2892ed507746a121dec7f6a62fb188eb4102a3",
    "c0aeac84a3263a9538498ee1ff59ddf6 35538d00ca5442f4eff2978d158918b450bfd6426bb5abb28ce52c29f8cd53fa",
    "c8ffb368b24d07c32cd2e0f5bb4808c1 e75679b814b63077c61d52601ba5dee5146dbcf6d74d8a6a6caf274c59f40de5",
  ]
}
