#include "format/format.h"

_Static_assert(sizeof(pks__table_trailer) == 64, "on-disk size");
_Static_assert(sizeof(pks__segment_header) == 64, "on-disk size");
_Static_assert(sizeof(pks__dictionary_row) == 56, "on-disk size");
_Static_assert(sizeof(pks__segment_columns) == 64, "on-disk size");
_Static_assert(sizeof(pks__frame_row) == 24, "on-disk size");
_Static_assert(sizeof(pks__run_header) == 128, "on-disk size");
_Static_assert(sizeof(pks__bucket) == 64, "on-disk size");
_Static_assert(sizeof(pks__record) == 26, "on-disk size");
_Static_assert(sizeof(pks__extent) == 16, "on-disk size");
_Static_assert(sizeof(pks__run_frame) == 32, "on-disk size");
_Static_assert(sizeof(pks__run_segment) == 32, "on-disk size");
_Static_assert(sizeof(pks__chunk_row) == 8, "on-disk size");

/// Length of the UTF-8 sequence at `text`, 0 when it is none: overlong forms, surrogates and values past U+10FFFF are
/// refused.
static size_t utf8_sequence(const uint8_t *text, size_t left) {
  uint8_t lead = text[0];
  if (lead < 0x80) { return 1; }
  size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || length > left) { return 0; }
  uint8_t low = 0x80, high = 0xbf;
  if (lead == 0xe0) { low = 0xa0; }
  if (lead == 0xed) { high = 0x9f; }
  if (lead == 0xf0) { low = 0x90; }
  if (lead == 0xf4) { high = 0x8f; }
  if (text[1] < low || text[1] > high) { return 0; }
  for (size_t i = 2; i < length; i++) {
    if ((text[i] & 0xc0) != 0x80) { return 0; }
  }
  return length;
}

bool pks__is_utf8(const char *text, size_t length) {
  for (size_t at = 0; at < length;) {
    size_t step = utf8_sequence((const uint8_t *)text + at, length - at);
    if (step == 0) { return false; }
    at += step;
  }
  return true;
}

bool pks__path_is_valid(const char *path, size_t length) {
  if (length == 0 || length > PKS__PATH_MAX || memchr(path, 0, length) || !pks__is_utf8(path, length)) { return false; }
  size_t depth = 0;
  for (size_t begin = 0; begin <= length;) {
    const char *slash = memchr(path + begin, '/', length - begin);
    size_t end = slash ? (size_t)(slash - path) : length;
    size_t part = end - begin;
    bool dots = (part == 1 && path[begin] == '.') || (part == 2 && path[begin] == '.' && path[begin + 1] == '.');
    if (part == 0 || part > PKS__NAME_MAX || dots || ++depth > PKS__DEPTH_MAX) { return false; }
    begin = end + 1;
  }
  return true;
}

bool pks__pack_name_is_valid(const char *name) {
  size_t length = strlen(name);
  if (length == 0 || length > PKS__PACK_NAME_MAX || name[0] == '-' || name[0] == '.') { return false; }
  for (size_t i = 0; i < length; i++) {
    char c = name[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '-' && c != '_' && c != '.') { return false; }
  }
  return true;
}

uint32_t pks_format(void) { return PKS__FORMAT; }

uint32_t pks_draft_format(void) { return PKS__DRAFT_FORMAT; }

bool pks__product_is_valid(const char *name) {
  size_t length = strlen(name);
  if (length == 0 || length > PKS__PRODUCT_MAX || name[0] == '-' || name[0] == '_' || name[0] == '.') { return false; }
  for (size_t i = 0; i < length; i++) {
    char c = name[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!plain && c != '-' && c != '_' && c != '.') { return false; }
  }
  return true;
}

static pks_status fail_later(const char *name, uint64_t offset, pks_error *error) {
  return pks__fail(error, PKS_NEWER_FORMAT, "written by a later version of this library", name, offset);
}

static pks_status fail_draft(const char *name, uint64_t offset, pks_error *error) {
  return pks__fail(error, PKS_OTHER_DRAFT, "written in another draft of the format", name, offset);
}

pks_status pks__check_format(uint32_t format, const char *name, uint64_t offset, pks_error *error) {
  if (format == PKS__FORMAT) { return PKS_OK; }
  bool is_draft = (format & 0xffff) < PKS__FORMAT_VERSION;
  return is_draft ? fail_draft(name, offset, error) : fail_later(name, offset, error);
}

pks_status pks__check_draft(uint32_t format, const char *name, uint64_t offset, pks_error *error) {
  if (format == PKS__DRAFT_FORMAT) { return PKS_OK; }
  bool is_draft = (format & 0xffff) == 0;
  return is_draft ? fail_draft(name, offset, error) : fail_later(name, offset, error);
}

void pks__hex(const uint8_t *bytes, size_t byte_count, char *out) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < byte_count; i++) {
    out[2 * i] = digits[bytes[i] >> 4];
    out[2 * i + 1] = digits[bytes[i] & 15];
  }
  out[2 * byte_count] = 0;
}

static bool hex_digit(char c, uint8_t *out) {
  if (c >= '0' && c <= '9') {
    *out = (uint8_t)(c - '0');
    return true;
  }
  if (c >= 'a' && c <= 'f') {
    *out = (uint8_t)(c - 'a' + 10);
    return true;
  }
  return false;
}

void pks__segment_name(const pks__segment_id *id, char out[PKS__SEGMENT_NAME]) {
  pks__hex(id->bytes, sizeof id->bytes, out);
}

bool pks__segment_name_parse(const char *name, pks__segment_id *out) {
  if (strlen(name) != PKS__SEGMENT_NAME - 1) { return false; }
  for (size_t i = 0; i < sizeof out->bytes; i++) {
    uint8_t high, low;
    if (!hex_digit(name[2 * i], &high) || !hex_digit(name[2 * i + 1], &low)) { return false; }
    out->bytes[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

void pks__hex64(uint64_t value, char out[17]) {
  uint8_t bytes[8];
  for (unsigned i = 0; i < 8; i++) { bytes[i] = (uint8_t)(value >> (56 - 8 * i)); }
  pks__hex(bytes, sizeof bytes, out);
}

bool pks__hex_parse64(const char *text, uint64_t *out) {
  if (strlen(text) != 16) { return false; }
  uint64_t value = 0;
  for (size_t i = 0; i < 16; i++) {
    uint8_t digit;
    if (!hex_digit(text[i], &digit)) { return false; }
    value = value << 4 | digit;
  }
  *out = value;
  return true;
}
