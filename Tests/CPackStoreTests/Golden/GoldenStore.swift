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
    "5a99b4cf600329682be90b00e4daa21f 9889cd7b0c9cb75dc3fee750c6e0dc2d136bf0164a018ecf08d0bd4794a49992",
    "82778f6e8eadb83b7f88c174e3e185af 960b76b05b95befb56b39d15b4e3cf6a128d11455e33eee67668ec86a77d9954",
    "9973e3a09244d982383690bd038c084c f84ab6a408bd84888c8fd531c9ab9f8d00f4deb84de52374d97144cc813b0983",
    "bf237c9a85e68502711d292b57a49258 e586c8557e784598f2b5a7d14f31ea5b0ecfb6fb1363affc084ffc39b5760c26",
  ]
}
