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
    "87db0d15b41c67cb238b0da6f95a065b 75f819676ab610ce9cd6ad5c34ba877a52e1c93d10a985195e2022485ae9d48a",
    "9534754af312711cb056b6e17da4f8f1 f069edbadc94416ae050997102f10053e89ffd2fa2ee5dea63c9dc18bd2f354f",
    "d10df4813a93bf5570a6c232a48b9055 e063ca4a751f2611efc327a5f081809481c0bf77dc6d88d25493560c0f821c72",
    "e49f85a3cd86f80ea2a78aef3f235628 230fcebebbbb52e11b9a8414a656117f5de02482154c3aa0768d06401df1dacf",
  ]
}
