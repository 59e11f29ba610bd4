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
    "35f06cda209d94e4a0e59d347515f80d b19958b6016d4a00312f747def7371366149a79cc7ea06a02e2863be679d9de6",
    "93a526cd3ba9665a522a4d6a16c6047b d0f166cacd33a07f5dca4802b7318dc50f297a39c0a7448a685d073c6479aa6f",
    "ae92818c6f493db8586293b7d880a9d1 5a0ff924aa98d6f3b85357d4a0847a622ea7925fffd17e962601adc41f78f9dc",
    "ef11bc73f81630d2eb159cb9be4ccd2c 5fec77ed67f2c41cf437dda0a2f64f3541aa5d8e14dc48bb87010483d7756c09",
  ]
}
