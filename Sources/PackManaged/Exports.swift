// Imported for all files of the module. Its functions are called from C.

@_exported public import CPackManaged
@_exported public import Foundation
@_exported public import ManagedPacks
