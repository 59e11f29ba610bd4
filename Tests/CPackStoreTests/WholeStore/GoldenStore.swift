/// Written by `GoldenTests`: what the golden store is made of.
enum GoldenStore {
  /// Versions with the SHA-256 of their catalogs' root pages, which depend on the folder and the chunker alone.
  static let catalogs: [String] = [
    "version 2 582452de9ff8cbed434813911ce768b5ce7d65ebe7eb65aaffafef4d723179ba",
    "version 1 047afb6169a76eb138d5088bb7b15b78f02e8dab54c7485b69dbc0c8335817e4",
  ]
  /// Segments with the SHA-256 of their files, as this version of libzstd makes them.
  static let zstdVersion: UInt32 = 10504
  static let segments: [String] = [
    "22f1593c3f2b3117af8e77d7beaa8035 4e5b5cc678d34c00af818c4a5557fa9488de70c199c976bf451b4461a00ac551",
    "61979b76e3d7a3f9b55f9993cac65438 6c27c21bd5e14d40234d0ad7de17b1aaad583e10a15f8a66d45f6365bb375519",
    "8e7e69a3da11d7f6ed256af38c13cc68 1aabf6e2a951893c018d0cd62e87e8a7492dc7ce8f30370600fa988e47e3511b",
    "9ad4c7e135f9c98ae0b51c08c8815855 74cc5f2940cfeed6d91bc5329c876a640506c3caf6295bf8041da4ad226873cd",
  ]
}
