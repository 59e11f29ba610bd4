// What the files of ManagedPacks see of other modules, which are one here.
@_exported import Foundation
@_exported import PackStore
