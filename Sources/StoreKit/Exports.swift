// Apple's name of a module, so that code written to its documentation compiles unchanged.

@_exported public import ManagedPacks
