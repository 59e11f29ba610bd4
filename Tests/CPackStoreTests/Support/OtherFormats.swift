import CPackStore
import CPackStoreTesting

/// What stands in the four bytes of a file's format when it is of a later version, or of another draft, and what a reader
/// says of it.
let otherFormats: [([UInt8], pks_status)] = [
  ([1, 0, 0, 0], PKS_NEWER_FORMAT),
  ([0, 0, 0, 0], PKS_OTHER_DRAFT),
  ([0, 0, UInt8(PKS__FORMAT_DRAFT) + 1, 0], PKS_OTHER_DRAFT),
]
