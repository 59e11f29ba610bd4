/// The portable scan.
#ifndef PKS_CODEC_CHUNKER_SCALAR_H
#define PKS_CODEC_CHUNKER_SCALAR_H

#include "codec/chunker_scan.h"

pks__scan pks__scan_scalar;

#endif
