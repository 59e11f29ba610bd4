/// The on-disk format, as structs: the mirror of `Docs/FORMAT.md`, and the only place where bytes become values.
///
/// Integers are little-endian; offsets and lengths are in bytes.
///
/// Three kinds of file hold everything but the control file:
///   segment     frames, then a table that describes them
///   run         a table: a part of the index
///   generation  a small record that names the runs, the packs and their versions
///
/// A *table* is the checked tail of a file: a body of whole 4 KiB pages, the XXH3-64 of every page (page sums), the
/// XXH3-64 of every 4 KiB of page sums (group sums), and a trailer of fixed size that ends the file. Opening checks the
/// trailer and the group sums, which is O(1) for practical sizes; a page is checked when first touched, its page sums
/// before it.
#ifndef PKS_FORMAT_H
#define PKS_FORMAT_H

#include "base/bytes.h"
#include "base/status.h"
#include "codec/codec.h"

enum {
  PKS__FORMAT_VERSION = 1,
  /// the four bytes in settled kinds of file: the version, then a bit for each feature, none of which is defined so far
  PKS__FORMAT = PKS__FORMAT_VERSION,
  PKS__FORMAT_WRITER_SHIFT = 24,  ///< features from this bit on concern writers alone; a generation may have such
  PKS__FEATURE_EPOCHS = 1 << 16,  ///< of generations: each floor has an epoch and the highest number taken back
  PKS__DRAFT = 11,                ///< raised by every incompatible change of a kind that is not settled
  /// the four bytes in unsettled kinds of file: version 0, then the draft
  PKS__DRAFT_FORMAT = PKS__DRAFT << 16,
  PKS__PAGE = 4096,
  PKS__SUMS_PER_GROUP = PKS__PAGE / 8,
  PKS__ID_SIZE = 32,
  PKS__SEGMENT_ID_SIZE = 16,
  PKS__STORE_ID_SIZE = 16,
  PKS__BOOT_ID_SIZE = 16,
  PKS__PATH_KEY_SIZE = 32,
  PKS__CACHE_FOLDER_MAX = 4095,  ///< bytes of the path of a store's cache folder
};

/// Identity of a chunk (an asset's or a metadata page's): SHA-256 of its raw bytes.
typedef struct pks__id {
  uint8_t bytes[PKS__ID_SIZE];
} pks__id;

/// Identity of a segment: the first half of the SHA-256 of its table body.
typedef struct pks__segment_id {
  uint8_t bytes[PKS__SEGMENT_ID_SIZE];
} pks__segment_id;

static inline bool pks__id_equal(const pks__id *a, const pks__id *b) { return memcmp(a, b, sizeof *a) == 0; }
/// All zeros stand for no id.
static inline bool pks__id_is_zero(const pks__id *id) {
  static const pks__id zero;
  return pks__id_equal(id, &zero);
}
static inline bool pks__segment_id_equal(const pks__segment_id *a, const pks__segment_id *b) {
  return memcmp(a, b, sizeof *a) == 0;
}
/// The first eight bytes of an id as a big-endian number: uniform unless collisions were searched for, and never
/// trusted alone.
static inline uint64_t pks__id_prefix(const pks__id *id) {
  uint64_t value = 0;
  for (unsigned i = 0; i < 8; i++) { value = value << 8 | id->bytes[i]; }
  return value;
}

// MARK: - Table trailer

typedef enum pks__table_kind {
  PKS__TABLE_SEGMENT = 1,
  PKS__TABLE_RUN = 2,
} pks__table_kind;

#define PKS__TABLE_MAGIC "PKSTABLE"

typedef struct pks__table_trailer {
  uint8_t magic[8];      //  0  PKS__TABLE_MAGIC
  pks_le32 version;      //  8  PKS__FORMAT
  pks_le32 kind;         // 12  pks__table_kind
  pks_le64 body_offset;  // 16  where the body begins in the file, a multiple of 4096
  pks_le64 body_length;  // 24  a multiple of 4096, > 0
  pks_le64 file_length;  // 32  of the whole file, trailer included
  pks_le64 groups_sum;   // 40  XXH3-64 of the group sums
  pks_le64 reserved;     // 48  0
  pks_le64 sum;          // 56  XXH3-64 of the 56 bytes before
} pks__table_trailer;

// MARK: - Segment

#define PKS__SEGMENT_MAGIC "PKSSEGM0"

typedef enum pks__segment_kind {
  PKS__SEGMENT_DATA = 1,      ///< chunks of assets
  PKS__SEGMENT_METADATA = 2,  ///< pages of catalogs and layouts; each page is a chunk
} pks__segment_kind;

/// The first bytes of a segment file, for people and `file(1)`; everything that matters is in the table.
typedef struct pks__segment_header {
  uint8_t magic[8];   //  0  PKS__SEGMENT_MAGIC
  pks_le32 version;   //  8
  pks_le32 kind;      // 12  pks__segment_kind
  uint8_t zeros[48];  // 16
} pks__segment_header;

/// The first page of a segment's table body. Columns follow, each at a multiple of 64 bytes from the start of the body.
typedef struct pks__segment_columns {
  pks_le32 version;           //  0
  pks_le32 kind;              //  4  pks__segment_kind
  pks_le32 frame_count;       //  8
  pks_le32 chunk_count;       // 12
  pks_le64 frames;            // 16  offset in the body of `pks__frame_row` x frame_count
  pks_le64 ids;               // 24  of `pks__id` x chunk_count
  pks_le64 ends;              // 32  of le32 x chunk_count: where each chunk ends within its frame, raw bytes
  pks_le64 frames_end;        // 40  file offset after the last frame and the last dictionary
  pks_le64 dictionaries;      // 48  offset in the body of `pks__dictionary_row` x dictionary_count; 0: none
  pks_le32 dictionary_count;  // 56  at most PKS__DICTIONARIES_MAX
  pks_le32 reserved;          // 60
} pks__segment_columns;

/// A dictionary that frames of the segment were encoded with (`segment/dictionaries.h`).
typedef struct pks__dictionary_row {
  pks_le64 place;          //  0  low 56 bits: file offset; high 8 bits: codec, raw or plain zstd
  pks_le32 stored_length;  //  8
  pks_le32 raw_length;     // 12
  pks_le64 sum;            // 16  XXH3-64 of the stored bytes
  pks__id id;              // 24  SHA-256 of the raw bytes
} pks__dictionary_row;

/// One frame of a segment. Its chunks are rows [first_chunk, next frame's first_chunk).
typedef struct pks__frame_row {
  pks_le64 place;          //  0  low 56 bits: file offset; high 8 bits: codec
  pks_le32 stored_length;  //  8  bytes in the file
  pks_le32 first_chunk;    // 12
  pks_le64 sum;            // 16  XXH3-64 of the stored bytes
} pks__frame_row;

/// The place of a frame in its segment file, and the facts for reading and checking it: a row in memory.
typedef struct pks__frame_ref {
  uint64_t offset;
  uint32_t stored_length;
  uint32_t raw_length;
  uint32_t codec;
  uint64_t sum;
} pks__frame_ref;

static inline bool pks__frame_ref_equal(const pks__frame_ref *a, const pks__frame_ref *b) {
  return a->offset == b->offset && a->stored_length == b->stored_length && a->raw_length == b->raw_length
    && a->codec == b->codec && a->sum == b->sum;
}

/// Whether a dictionary may be stored so, wherever that is.
static inline bool pks__dictionary_ref_is_valid(const pks__frame_ref *ref) {
  bool lengths = ref->stored_length > 0 && ref->stored_length <= ref->raw_length
    && ref->raw_length >= PKS__DICTIONARY_RAW_MIN && ref->raw_length <= PKS__DICTIONARY_RAW_MAX;
  return lengths
    && (ref->codec == PKS__CODEC_ZSTD || (ref->codec == PKS__CODEC_RAW && ref->stored_length == ref->raw_length));
}

static inline uint64_t pks__place_offset(uint64_t place) { return place & 0x00ffffffffffffffu; }
static inline uint32_t pks__place_codec(uint64_t place) { return (uint32_t)(place >> 56); }

/// Creates it from a row on disk, and the raw length, which follows from the neighbouring rows.
static inline pks__frame_ref pks__frame_ref_make(
  pks_le64 place, pks_le32 stored_length, uint32_t raw_length, pks_le64 sum
) {
  return (pks__frame_ref){
    .offset = pks__place_offset(pks__get64(place)),
    .stored_length = pks__get32(stored_length),
    .raw_length = raw_length,
    .codec = pks__place_codec(pks__get64(place)),
    .sum = pks__get64(sum),
  };
}
static inline uint64_t pks__place_make(uint64_t offset, uint32_t codec) {
  PKS_ASSERT(offset >> 56 == 0);
  return offset | (uint64_t)codec << 56;
}

// MARK: - Run

/// The first page of a run's table body. Sections follow, each at a multiple of 64 bytes from the start of the body.
typedef struct pks__run_header {
  pks_le32 version;         //   0
  pks_le32 pack_count;      //   4  packs that records speak of, numbered 0 ..< pack_count within this run
  pks_le64 record_count;    //   8
  pks_le32 salt;            //  16  of `pks__bucket_hash`
  pks_le32 frame_count;     //  20
  pks_le32 segment_count;   //  24
  pks_le32 chunk_bits;      // 28  log2 of the number of prefixes in the chunk directory
  pks_le64 bucket_count;    //  32
  pks_le64 buckets;         //  40  `pks__bucket` x bucket_count
  pks_le64 records;         //  48  records in order of (path, pack), back to back
  pks_le64 records_length;  //  56
  pks_le64 starts;  //  64  le16 per page of the records section: where its first record begins, 0xffff: none does
  ///  72  paths of folders: le16 length, then the bytes, without a slash at the end; the root is empty
  pks_le64 folders;
  pks_le64 folders_length;  //  80
  pks_le64 frames;    //  88  `pks__run_frame` x (frame_count + 1); the last is a sentinel with the final raw_start
  pks_le64 segments;  //  96  `pks__run_segment` x segment_count
  pks_le64 chunk_directory;  // 104  le32 x (2^chunk_bits + 1): first row of each prefix
  pks_le64 chunk_rows;       // 112  `pks__chunk_row` x chunk_count
  pks_le64 chunk_count;      // 120
} pks__run_header;

/// Ten slots of 48 bits: low 36 bits the offset of a record in the records section plus one (0: empty), high 12 bits a
/// fingerprint. The first record of a path has a slot, in its bucket or, where that is full, in the next one with room
/// (cyclically), which is among the first PKS__BUCKETS_MAX from its own on: no look-up inspects more.
enum { PKS__BUCKET_SLOTS = 10, PKS__SLOT_SIZE = 6, PKS__BUCKETS_MAX = 32 };
typedef struct pks__bucket {
  uint8_t slots[PKS__BUCKET_SLOTS][PKS__SLOT_SIZE];
  uint8_t zeros[4];
} pks__bucket;

/// Returns the hash for a path's bucket and fingerprint in a run with this salt, from the one hash that a look-up computes.
static inline uint64_t pks__bucket_hash(uint64_t path_hash, uint32_t salt) {
  return (path_hash ^ salt * (uint64_t)0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
}
static inline uint64_t pks__bucket_of(uint64_t bucket_hash, uint64_t bucket_count) {
  return (bucket_hash >> 32) * bucket_count >> 32;
}
static inline uint64_t pks__fingerprint_of(uint64_t bucket_hash) { return bucket_hash >> 20 & 0xfff; }

typedef enum pks__record_kind {
  PKS__RECORD_ABSENT = 0,  ///< the pack no longer has this path: hides records of older runs
  PKS__RECORD_FILE = 1,
  PKS__RECORD_LINK = 2,
  PKS__RECORD_FOLDER = 3,
} pks__record_kind;

enum {
  PKS__FLAG_EXECUTABLE = 1,
  PKS__FLAG_ONE_EXTENT = 2,  ///< the extent is in the record; no list follows
  PKS__FLAG_CONTIGUOUS = 4,  ///< raw, in one piece
  PKS__FLAG_MAPPED = 8,      ///< contiguous by contract, beginning at a page of the segment file
  PKS__FLAG_FOLLOWED = 16,   ///< of any kind: the next record is of the same path
};

/// A record of a run: this, `name_length` bytes of name, then for a link its target (`size` bytes), for a file without
/// PKS__FLAG_ONE_EXTENT its `extent_count` extents.
typedef struct pks__record {
  uint8_t kind;          //  0  pks__record_kind
  uint8_t flags;         //  1
  pks_le16 pack;         //  2  within this run
  pks_le16 name_length;  //  4  of the last part of the path
  pks_le32 folder;       // 6  offset of its parent folder in the folders section
  pks_le64 size;         // 10  bytes of the file, or of the link's target
  union {
    struct {
      pks_le32 frame;
      pks_le32 skip;
    } extent;               // 18  PKS__FLAG_ONE_EXTENT: covers the whole file
    pks_le64 extent_count;  // 18
  } place;
} pks__record;

/// A part of a file: from `skip` bytes into the run's frame `frame` on, through consecutive frames of the run.
typedef struct pks__extent {
  pks_le32 frame;
  pks_le32 skip;
  pks_le64 end;  ///< offset in the file after this extent; it begins where the one before ends
} pks__extent;

/// A frame that records of this run refer to. Its raw length is the next row's `raw_start` less its own.
typedef struct pks__run_frame {
  pks_le64 raw_start;      //  0  sum of raw lengths before
  pks_le64 place;          //  8  as in `pks__frame_row`
  pks_le32 stored_length;  // 16
  pks_le32 segment;        // 20  within this run
  pks_le64 sum;            // 24  XXH3-64 of the stored bytes
} pks__run_frame;

typedef struct pks__run_segment {
  pks__segment_id id;    //  0
  pks_le32 first_chunk;  // 16  number of its first chunk among those this run lists
  pks_le32 chunk_count;  // 20  0 when another run lists its chunks
  pks_le64 length;       // 24  low 56 bits: of the file; high 8 bits: pks__segment_kind
} pks__run_segment;

/// A chunk that this run brought: `number` counts through the chunks of its segments in order.
typedef struct pks__chunk_row {
  pks_le32 fingerprint;  ///< low half of the id's prefix
  pks_le32 number;
} pks__chunk_row;

// MARK: - Limits

enum {
  PKS__PATH_MAX = 4095,                ///< bytes of an asset's path
  PKS__NAME_MAX = 255,                 ///< bytes of one part
  PKS__DEPTH_MAX = 2000,               ///< parts
  PKS__LINK_TARGET_MAX = 4095,         ///< bytes
  PKS__GENERATION_FILE_MAX = 1 << 28,  ///< bytes
  PKS__PACK_NAME_MAX = 128,            ///< bytes
  PKS__PACKS_MAX = 65535,
  PKS__VERSIONS_MAX = 1000,  ///< kept per pack
  PKS__ORIGINS_MAX = 4096,
  PKS__PRODUCT_MAX = 64,      ///< bytes of a product's name
  PKS__FLOORS_MAX = 1 << 20,  ///< version floors of a generation
};

/// The last number of a version: programs that read JSON take larger ones for their neighbours.
#define PKS__VERSION_MAX (((uint64_t)1 << 53) - 1)
static inline bool pks__version_is_valid(uint64_t number) { return number > 0 && number <= PKS__VERSION_MAX; }

/// Checks the four bytes at `offset` that say which format a file of a settled kind is of. Errors: NEWER_FORMAT (a later version,
/// or a feature that is not known), OTHER_DRAFT.
pks_status pks__check_format(uint32_t format, const char *name, uint64_t offset, pks_error *error);
/// The same of a kind that is not settled.
pks_status pks__check_draft(uint32_t format, const char *name, uint64_t offset, pks_error *error);
/// Whether a status means another format that this library does not read: nothing is damaged.
static inline bool pks__is_other_format(pks_status status) {
  return status == PKS_NEWER_FORMAT || status == PKS_OTHER_DRAFT;
}

/// Whether `path` is a path that a store can hold: relative, UTF-8, no NUL, no empty, `.` or `..` part, within the
/// limits. The one rule for C, Swift, the command line and servers.
bool pks__path_is_valid(const char *path, size_t length);
bool pks__is_utf8(const char *text, size_t length);
bool pks__pack_name_is_valid(const char *name);
/// 1 to 64 of the characters `a-z 0-9 - _ .`, beginning with a letter or digit.
bool pks__product_is_valid(const char *name);

/// Segment file name: 32 hexadecimal digits. `out` has room for `PKS__SEGMENT_NAME`.
enum { PKS__SEGMENT_NAME = 2 * PKS__SEGMENT_ID_SIZE + 1 };
void pks__segment_name(const pks__segment_id *id, char out[PKS__SEGMENT_NAME]);
/// The reverse; false when `name` is not one.
bool pks__segment_name_parse(const char *name, pks__segment_id *out);
void pks__hex(const uint8_t *bytes, size_t byte_count, char *out);  ///< lower case, NUL-terminated
bool pks__hex_parse64(const char *text, uint64_t *out);             ///< exactly 16 digits
void pks__hex64(uint64_t value, char out[17]);

#endif
