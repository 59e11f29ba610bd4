// The imports of ManagedPacks, whose files are part of one module here.
@_exported import Foundation
@_exported import PackFormats
@_exported import PackStore
