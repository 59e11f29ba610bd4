// A module with Apple's name, so that code written to Apple's documentation compiles unchanged.

@_exported public import ManagedPacks
