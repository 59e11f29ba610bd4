// `import PackStore` brings along the types that its API speaks of: `FilePath`, `FileDescriptor` and `Errno` of swift-system, and
// `Data`, `Date` and `URL`. String literals are paths, and `FilePath(text)` is one of any text.

@_exported public import SystemPackage

#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
