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
    "26066de6aa6ed19bd641ae8fd586adc8 5255901a1776f05f9a60125585ae9c1c40db330aea3e33a6801c1bcf13873b22",
    "61979b76e3d7a3f9b55f9993cac65438 6c27c21bd5e14d40234d0ad7de17b1aaad583e10a15f8a66d45f6365bb375519",
    "8e7e69a3da11d7f6ed256af38c13cc68 1aabf6e2a951893c018d0cd62e87e8a7492dc7ce8f30370600fa988e47e3511b",
    "f5a0fdcc7471e41d1550f63c788618aa 920093fc55c288de2a7f6da2e40494221d4b7b627c811439f9c7811e976d9399",
  ]
}
