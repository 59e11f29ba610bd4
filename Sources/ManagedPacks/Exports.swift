// `import ManagedPacks` also imports the types of its API: packs and sites, `FilePath` and `FileDescriptor`, and Foundation's
// `Data`, `URL`, `Locale` and `Progress`.

@_exported public import Foundation
@_exported public import PackDelivery
@_exported public import PackStore
