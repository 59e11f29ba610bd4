// `import PackStore` also exports the types in its API: `FilePath`, `FileDescriptor` and `Errno` of swift-system, and `Data`,
// `Date` and `URL`. String literals are paths; `FilePath(text)` converts any other text.

@_exported public import SystemPackage

#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
