/// The API speaks of `FilePath`, `FileDescriptor` and `Errno`, which `import PackStore` alone makes usable: string literals
/// are paths, and `FilePath(text)` is one of any text. swift-system is part of what is built anyway.
@_exported public import SystemPackage
