/// A pattern is a row of tokens, and a *place* is a token that may come next. All places that the path so far allows are
/// kept at once, so that no wildcard is ever tried a second time.
#include "format/glob.h"

typedef enum token_kind {
  TOKEN_CHARACTER,
  TOKEN_ANY,      ///< `?`
  TOKEN_CLASS,    ///< `[...]`
  TOKEN_PART,     ///< `*`: characters of one part
  TOKEN_PATH,     ///< `**`: characters and slashes
  TOKEN_FOLDERS,  ///< `**/` where a part begins: nothing, or whole parts with their slashes
} token_kind;

typedef struct token {
  token_kind kind;
  uint32_t character;   ///< TOKEN_CHARACTER
  uint16_t begin, end;  ///< TOKEN_CLASS: the text between the brackets, without `!`
  bool is_negative;     ///< TOKEN_CLASS
} token;

// MARK: - Characters

/// Reads one character of UTF-8. An invalid byte is a character of its own.
static uint32_t take_character(const char **at, const char *end) {
  uint8_t first = (uint8_t) * (*at)++;
  int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  if (end - *at < more) { return first; }
  uint32_t character = more == 0 ? first : first & (0x3fu >> more);
  for (; more > 0; more--) { character = character << 6 | ((uint8_t) * (*at)++ & 0x3f); }
  return character;
}

/// Takes one character of a pattern; a backslash takes the next one as it is.
static uint32_t take_literal(const char **at, const char *end) {
  if (**at == '\\' && end - *at > 1) { (*at)++; }
  return take_character(at, end);
}

// MARK: - Classes

/// The bracket that ends a class whose inside begins at `at`, or NULL. A bracket right at the beginning is one of the
/// class.
static const char *class_end(const char *at, const char *end) {
  for (const char *begin = at; at < end; at++) {
    if (*at == ']' && at > begin) { return at; }
    if (*at == '\\') { at++; }
  }
  return NULL;
}

static bool class_has(const char *at, const char *end, uint32_t character) {
  while (at < end) {
    uint32_t low = take_literal(&at, end), high = low;
    if (end - at > 1 && *at == '-') {
      at++;
      high = take_literal(&at, end);
    }
    if (low <= character && character <= high) { return true; }
  }
  return false;
}

// MARK: - Tokens

/// Takes one or more stars.
static token take_stars(const char **at, const char *end, bool begins_part) {
  const char *first = *at;
  while (*at < end && **at == '*') { (*at)++; }
  if (*at - first == 1) { return (token){.kind = TOKEN_PART}; }
  bool is_folders = begins_part && *at < end && **at == '/';
  if (is_folders) { (*at)++; }
  return (token){.kind = is_folders ? TOKEN_FOLDERS : TOKEN_PATH};
}

static token take_class(const char **at, const char *end, const char *pattern) {
  token token = {.kind = TOKEN_CLASS};
  (*at)++;
  token.is_negative = **at == '!';
  if (token.is_negative) { (*at)++; }
  const char *close = class_end(*at, end);
  token.begin = (uint16_t)(*at - pattern);
  token.end = (uint16_t)(close - pattern);
  *at = close + 1;
  return token;
}

static size_t tokenize(const char *pattern, size_t length, token tokens[PKS__GLOB_MAX]) {
  const char *at = pattern, *end = pattern + length;
  size_t count = 0;
  while (at < end) {
    bool begins_part = at == pattern || at[-1] == '/';
    token *next = &tokens[count++];
    if (*at == '*') {
      *next = take_stars(&at, end, begins_part);
    } else if (*at == '[') {
      *next = take_class(&at, end, pattern);
    } else if (*at == '?') {
      *next = (token){.kind = TOKEN_ANY};
      at++;
    } else {
      *next = (token){.kind = TOKEN_CHARACTER, .character = take_literal(&at, end)};
    }
  }
  return count;
}

// MARK: - Matching

/// The places that a path so far allows: one per token, and one behind the last.
typedef struct places {
  bool open[PKS__GLOB_MAX + 1];
  size_t first, end;  ///< outside of these none is open
} places;

/// Opens a place, and those behind it that wildcards which match nothing give way to. Calls come in rising order of `at`.
static void open_place(places *places, const token *tokens, size_t count, size_t at, bool begins_part) {
  if (places->first == places->end) { places->first = places->end = at; }
  for (;; at++) {
    for (; places->end <= at; places->end++) { places->open[places->end] = false; }
    if (places->open[at]) { return; }
    places->open[at] = true;
    if (at == count) { return; }
    token_kind kind = tokens[at].kind;
    bool gives_way = kind == TOKEN_PART || kind == TOKEN_PATH || (kind == TOKEN_FOLDERS && begins_part);
    if (!gives_way) { return; }
  }
}

/// How many tokens the character takes a place on: 0 or 1; -1: it does not fit.
static int step(const token *token, const char *pattern, uint32_t character) {
  switch (token->kind) {
    case TOKEN_CHARACTER: return token->character == character ? 1 : -1;
    case TOKEN_ANY: return character != '/' ? 1 : -1;
    case TOKEN_PART: return character != '/' ? 0 : -1;
    case TOKEN_PATH:
    case TOKEN_FOLDERS: return 0;
    case TOKEN_CLASS: break;
  }
  bool has = class_has(pattern + token->begin, pattern + token->end, character);
  return character != '/' && has != token->is_negative ? 1 : -1;
}

static bool matches(const char *pattern, size_t pattern_length, const char *path, size_t length) {
  token tokens[PKS__GLOB_MAX];
  size_t count = tokenize(pattern, pattern_length, tokens);
  places both[2], *now = &both[0], *next = &both[1];
  now->first = now->end = 0;
  open_place(now, tokens, count, 0, true);
  for (const char *at = path, *end = path + length; at < end && now->first < now->end;) {
    uint32_t character = take_character(&at, end);
    next->first = next->end = 0;
    for (size_t i = now->first; i < now->end && i < count; i++) {
      int steps = now->open[i] ? step(&tokens[i], pattern, character) : -1;
      if (steps >= 0) { open_place(next, tokens, count, i + (size_t)steps, character == '/'); }
    }
    places *before = now;
    now = next;
    next = before;
  }
  return now->first <= count && count < now->end && now->open[count];
}

bool pks_glob_matches(const char *pattern, const char *path, size_t path_length) {
  size_t length = strlen(pattern);
  if (!memchr(pattern, '/', length)) {
    for (size_t at = path_length; at > 0; at--) {
      if (path[at - 1] == '/') { return matches(pattern, length, path + at, path_length - at); }
    }
  }
  bool is_anchored = pattern[0] == '/';
  return matches(pattern + is_anchored, length - is_anchored, path, path_length);
}

// MARK: - Faults

const char *pks_glob_fault(const char *pattern) {
  size_t length = pattern ? strlen(pattern) : 0;
  if (length == 0 || length > PKS__GLOB_MAX) { return "the length is not in 1 to 1024 bytes"; }
  if (!pks__is_utf8(pattern, length)) { return "not UTF-8"; }
  for (const char *at = pattern, *end = pattern + length; at < end; at++) {
    if (*at == '\\') {
      if (++at == end) { return "ends in a backslash; write two for the character"; }
    } else if (*at == '[') {
      at = class_end(at + 1 + (at[1] == '!'), end);
      if (!at) { return "a '[' lacks its ']'; write a backslash before it for the character"; }
    }
  }
  return NULL;
}
