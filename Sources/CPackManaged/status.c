#include "packmanaged.h"

const char *pkm_status_name(pkm_status status) {
  switch (status) {
    case PKM_OK: return "PKM_OK";
    case PKM_CANCELLED: return "PKM_CANCELLED";
    case PKM_ASSET_PACK_NOT_FOUND: return "PKM_ASSET_PACK_NOT_FOUND";
    case PKM_FILE_NOT_FOUND: return "PKM_FILE_NOT_FOUND";
    case PKM_LOCAL_AVAILABILITY: return "PKM_LOCAL_AVAILABILITY";
    case PKM_CONFIGURATION: return "PKM_CONFIGURATION";
    case PKM_INVALID_ARGUMENT: return "PKM_INVALID_ARGUMENT";
    case PKM_DELIVERY: return "PKM_DELIVERY";
    case PKM_NO_SPACE: return "PKM_NO_SPACE";
    case PKM_STORE: return "PKM_STORE";
    case PKM_OTHER: break;
  }
  return "PKM_OTHER";
}
