#include "codec/chunker_gear.h"

#define VALUE(constant) constant,

const uint32_t pks__gear[256] = {PKS__GEAR_LIST(VALUE)};
