// Seen by all files of the module; its callers are in C.

@_exported public import CPackManaged
@_exported public import Foundation
@_exported public import ManagedPacks
