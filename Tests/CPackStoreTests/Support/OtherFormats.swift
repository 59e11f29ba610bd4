import CPackStore
import CPackStoreTesting

/// What stands in the four bytes of a file's format when it is of a later version, has a feature that is not known, or is of a
/// draft, and what a reader says of it.
let otherFormats: [([UInt8], pks_status)] = [
  ([2, 0, 0, 0], PKS_NEWER_FORMAT),
  ([1, 0, 2, 0], PKS_NEWER_FORMAT),
  ([1, 0, 0x80, 0], PKS_NEWER_FORMAT),
  ([0, 0, 0, 0], PKS_OTHER_DRAFT),
  ([0, 0, 8, 0], PKS_OTHER_DRAFT),
]

/// The same of kinds of file that are not settled.
let otherDrafts: [([UInt8], pks_status)] = [
  ([1, 0, 0, 0], PKS_NEWER_FORMAT),
  ([0, 0, 0, 0], PKS_OTHER_DRAFT),
  ([0, 0, UInt8(PKS__DRAFT) + 1, 0], PKS_OTHER_DRAFT),
]
