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
    "2b576c6b54c8a997ed9ec0fd51e6eb9e 84c9a37535606c7655907244ac75e550f190c6d459e1d64416eb2936fd6e671f",
    "4639c58978144a41fd64fe52f96204dd d4626b78cde38ab0883b513806680043b628e1998cf40c49a9138571b7817413",
    "a14d7fe3d4e639dc06361569375f8900 1b9996fd9b24c2a035f9f26b77bfc632bdea7c18b2247b05d7053c9480bbf299",
    "cfe5d1579e405e15752d92242bd8fedf b8fa48e6195412dfe2011d2192942c14abea4825526cbb6665e00c08fd155a62",
  ]
}
