// `import ManagedPacks` brings along what its API speaks of: packs and sites, `FilePath` and `FileDescriptor`, and from
// Foundation `Data`, `URL`, `Locale` and `Progress`.

@_exported public import Foundation
@_exported public import PackDelivery
@_exported public import PackStore
