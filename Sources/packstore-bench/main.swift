import CZstd
print(ZSTD_versionString() as Any)
