/// A seam over another that tries again what failed to be read.
///
/// Whoever repairs a store drops what cannot be read: a disk that fails once in a while must not cost an asset. Calls
/// that change something, and listings, go through once.
///
/// A sector that cannot be read would end the process when it is looked at in a mapping. So before a file is mapped for
/// reading, its table is read (`table.h`; nothing else of a mapping is looked at): the failure to read is an error then.
#ifndef PKS_PATIENT_H
#define PKS_PATIENT_H

#include "vfs.h"

typedef struct pks__patient {
  pks_vfs vfs;  ///< whose context is this struct, which must not move
  const pks_vfs *below;
} pks__patient;

void pks__patient_init(pks__patient *patient, const pks_vfs *below);

#endif
