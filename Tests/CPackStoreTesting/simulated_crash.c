/// Plans and builds the states that a power cut may leave.
///
/// A *plan* lists all undecided changes between the durable state and the live one:
/// - The log of a folder is divided into *components*. Operations on a common name depend on each other in log order,
///   directly or through a rename, which has two names. A component may survive up to any *cut*: a set of its
///   operations that contains, with each operation, the one before it on each of its names. Most components are chains,
///   whose cuts are their prefixes.
/// - A file may have any size in its log. Each written sector that begins below that size may have any of its versions.
///
/// An *outcome* fixes a choice for each (`survives` of the operations, `chosen` of the sectors, `size`); `build` makes
/// a disk of it. States are numbered in a mixed radix, one digit for each component and file. With all digits 0 it is
/// the durable state, with the highest digits everything survives.
#include "simulated_disk.h"

#include <stdlib.h>
#include <string.h>

enum {
  CUTS_COUNTED = 4096,      ///< cuts of a component that is not a chain; if there are more, states are not numbered
  OPERATIONS_COUNTED = 64,  ///< operations of a component that is not a chain: bits of a mask
};
static const uint64_t too_many = UINT64_MAX;
static const uint32_t no_op = UINT32_MAX;

typedef struct component {
  uint32_t *ops;  ///< positions in the folder's log, ascending
  size_t op_count;
  uint64_t *cuts;  ///< masks over `ops`, from none to all; NULL for a chain
  size_t cut_count;
  uint64_t state_count;
} component;

typedef struct folder_plan {
  sim__id id;
  char *path;
  size_t op_count;
  uint32_t (*before)[2];  ///< by operation: the one before it on each of its names, or `no_op`
  component *components;
  size_t component_count;
  bool *survives;  ///< the outcome
} folder_plan;

typedef struct sector_plan {
  uint64_t sector;
  size_t first;  ///< in `order`
  size_t versions;
  size_t chosen;  ///< the outcome: 0 durable, else version number
} sector_plan;

typedef struct file_plan {
  sim__id id;
  char *path;
  uint32_t *order;       ///< pieces by sector, then by time
  sector_plan *sectors;  ///< rising
  size_t sector_count;
  uint64_t state_count;
  uint64_t size;  ///< the outcome
} file_plan;

struct sim__plan {
  folder_plan *folders;
  size_t folder_count, folder_capacity;
  file_plan *files;
  size_t file_count, file_capacity;
  uint64_t state_count;
};

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return pks__mul_overflows(a, b, &product) ? too_many : product;
}

static uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return pks__add_overflows(a, b, &sum) ? too_many : sum;
}

// MARK: Planning a folder

typedef struct touch {  ///< an operation touches a name
  const sim__text *name;
  uint32_t op, slot;
} touch;

static int compare_touches(const void *left, const void *right) {
  const touch *a = left, *b = right;
  int order = strcmp(a->name->bytes, b->name->bytes);
  return order != 0 ? order : (a->op > b->op) - (a->op < b->op);
}

static uint32_t find_root(uint32_t *joined, uint32_t op) {
  while (joined[op] != op) { op = joined[op] = joined[joined[op]]; }
  return op;
}

/// Visits cuts with the operations from `place` on undecided, first without an operation, then with it. Returns false
/// if there are too many.
static bool list_cuts(component *part, const uint64_t *needed, size_t place, uint64_t mask, size_t *capacity) {
  if (place == part->op_count) {
    if (part->cut_count == CUTS_COUNTED) { return false; }
    part->cuts = sim__grow(part->cuts, capacity, part->cut_count, sizeof *part->cuts);
    part->cuts[part->cut_count++] = mask;
    return true;
  }
  if (!list_cuts(part, needed, place + 1, mask, capacity)) { return false; }
  if ((mask & needed[place]) != needed[place]) { return true; }
  return list_cuts(part, needed, place + 1, mask | (uint64_t)1 << place, capacity);
}

static void count_cuts(const folder_plan *folder, component *part) {
  bool chain = true;
  for (size_t i = 1; i < part->op_count; i++) {
    const uint32_t *before = folder->before[part->ops[i]];
    chain = chain && (before[0] == part->ops[i - 1] || before[1] == part->ops[i - 1]);
  }
  part->state_count = too_many;
  if (chain) {
    part->state_count = part->op_count + 1;
  } else if (part->op_count <= OPERATIONS_COUNTED) {
    uint64_t needed[OPERATIONS_COUNTED] = {0};
    for (size_t i = 0; i < part->op_count; i++) {
      for (size_t j = 0; j < i; j++) {
        const uint32_t *before = folder->before[part->ops[i]];
        if (before[0] == part->ops[j] || before[1] == part->ops[j]) { needed[i] |= (uint64_t)1 << j; }
      }
    }
    size_t capacity = 0;
    if (list_cuts(part, needed, 0, 0, &capacity)) { part->state_count = part->cut_count; }
  }
}

static folder_plan plan_folder(const sim__node *node, sim__id id, const char *path) {
  size_t count = node->op_count;
  folder_plan plan = {.id = id, .op_count = count};
  plan.path = sim__allocate(strlen(path) + 1);
  memcpy(plan.path, path, strlen(path));
  plan.before = sim__allocate(count * sizeof *plan.before);
  plan.survives = sim__allocate(count * sizeof *plan.survives);
  plan.components = sim__allocate(count * sizeof *plan.components);

  touch *touches = sim__allocate(2 * count * sizeof *touches);
  uint32_t *joined = sim__allocate(count * sizeof *joined);
  size_t touch_count = 0;
  for (uint32_t op = 0; op < count; op++) {
    joined[op] = op;
    plan.before[op][0] = plan.before[op][1] = no_op;
    for (uint32_t slot = 0; slot < node->ops[op].count; slot++) {
      touches[touch_count++] = (touch){.name = node->ops[op].name[slot], .op = op, .slot = slot};
    }
  }
  qsort(touches, touch_count, sizeof *touches, compare_touches);
  for (size_t i = 1; i < touch_count; i++) {
    if (strcmp(touches[i - 1].name->bytes, touches[i].name->bytes) != 0) { continue; }
    plan.before[touches[i].op][touches[i].slot] = touches[i - 1].op;
    joined[find_root(joined, touches[i].op)] = find_root(joined, touches[i - 1].op);
  }
  free(touches);

  uint32_t *component_of = sim__allocate(count * sizeof *component_of);  // by root, plus one
  for (uint32_t op = 0; op < count; op++) {
    uint32_t root = find_root(joined, op);
    if (component_of[root] == 0) { component_of[root] = (uint32_t)++plan.component_count; }
    plan.components[component_of[root] - 1].op_count++;
  }
  for (size_t c = 0; c < plan.component_count; c++) {
    plan.components[c].ops = sim__allocate(plan.components[c].op_count * sizeof(uint32_t));
    plan.components[c].op_count = 0;
  }
  for (uint32_t op = 0; op < count; op++) {
    component *part = &plan.components[component_of[find_root(joined, op)] - 1];
    part->ops[part->op_count++] = op;
  }
  for (size_t c = 0; c < plan.component_count; c++) { count_cuts(&plan, &plan.components[c]); }
  free(component_of);
  free(joined);
  return plan;
}

static void folder_plan_free(folder_plan *plan) {
  for (size_t c = 0; c < plan->component_count; c++) {
    free(plan->components[c].ops);
    free(plan->components[c].cuts);
  }
  free(plan->components);
  free(plan->survives);
  free(plan->before);
  free(plan->path);
}

// MARK: Planning a file

typedef struct numbered_piece {
  uint64_t sector;
  uint32_t index;
} numbered_piece;

static int compare_pieces(const void *left, const void *right) {
  const numbered_piece *a = left, *b = right;
  if (a->sector != b->sector) { return a->sector < b->sector ? -1 : 1; }
  return (a->index > b->index) - (a->index < b->index);
}

static uint64_t size_at(const sim__node *node, size_t choice) {
  return choice == 0 ? node->durable->size : node->sizes[choice - 1];
}

static uint64_t count_file(const file_plan *plan, const sim__node *node) {
  uint64_t below = 1, sum = 0;  // choices of the sectors below the size; of all sizes so far
  size_t sector = 0;
  for (size_t choice = 0; choice <= node->size_count; choice++) {
    for (; sector < plan->sector_count && plan->sectors[sector].sector * SIM__SECTOR < size_at(node, choice);
         sector++) {
      below = times(below, plan->sectors[sector].versions + 1);
    }
    sum = plus(sum, below);
  }
  return sum;
}

static file_plan plan_file(const sim__node *node, sim__id id, const char *path) {
  size_t count = node->piece_count;
  file_plan plan = {.id = id};
  plan.path = sim__allocate(strlen(path) + 1);
  memcpy(plan.path, path, strlen(path));
  plan.order = sim__allocate(count * sizeof *plan.order);
  plan.sectors = sim__allocate(count * sizeof *plan.sectors);
  numbered_piece *pieces = sim__allocate(count * sizeof *pieces);
  for (size_t i = 0; i < count; i++) {
    pieces[i] = (numbered_piece){.sector = node->pieces[i].sector, .index = (uint32_t)i};
  }
  qsort(pieces, count, sizeof *pieces, compare_pieces);
  for (size_t i = 0; i < count; i++) {
    plan.order[i] = pieces[i].index;
    if (i == 0 || pieces[i].sector != pieces[i - 1].sector) {
      plan.sectors[plan.sector_count++] = (sector_plan){.sector = pieces[i].sector, .first = i};
    }
    plan.sectors[plan.sector_count - 1].versions++;
  }
  free(pieces);
  plan.state_count = count_file(&plan, node);
  return plan;
}

static void file_plan_free(file_plan *plan) {
  free(plan->sectors);
  free(plan->order);
  free(plan->path);
}

// MARK: Planning a disk

/// Reaches all that some outcome may contain.
static void plan_below(const sim_disk *disk, sim__plan *plan, sim__id id, const char *path, bool *seen) {
  if (id == SIM__NONE || seen[id]) { return; }
  seen[id] = true;
  const sim__node *node = sim__node_of(disk, id);
  if (node->piece_count + node->size_count > 0) {
    plan->files = sim__grow(plan->files, &plan->file_capacity, plan->file_count, sizeof *plan->files);
    plan->files[plan->file_count++] = plan_file(node, id, path);
  }
  if (node->op_count > 0) {
    plan->folders = sim__grow(plan->folders, &plan->folder_capacity, plan->folder_count, sizeof *plan->folders);
    plan->folders[plan->folder_count++] = plan_folder(node, id, path);
  }
  for (size_t i = 0; i < node->entry_count; i++) {
    sim__builder below = {0};
    sim__build(&below, "%s/%s", path, node->entries[i].name->bytes);
    plan_below(disk, plan, node->entries[i].durable, below.bytes, seen);
    free(below.bytes);
  }
  for (size_t i = 0; i < node->op_count; i++) {
    for (size_t n = 0; n < node->ops[i].count; n++) {
      sim__builder below = {0};
      sim__build(&below, "%s/%s", path, node->ops[i].name[n]->bytes);
      plan_below(disk, plan, node->ops[i].value[n], below.bytes, seen);
      free(below.bytes);
    }
  }
}

static sim__plan *plan_of(sim_disk *disk) {
  sim__harvest(disk);
  if (disk->plan != NULL) { return disk->plan; }
  sim__plan *plan = sim__allocate(sizeof *plan);
  bool *seen = sim__allocate(disk->node_count * sizeof *seen);
  plan_below(disk, plan, SIM__ROOT, "", seen);
  free(seen);
  plan->state_count = 1;
  for (size_t f = 0; f < plan->folder_count; f++) {
    for (size_t c = 0; c < plan->folders[f].component_count; c++) {
      plan->state_count = times(plan->state_count, plan->folders[f].components[c].state_count);
    }
  }
  for (size_t f = 0; f < plan->file_count; f++) {
    plan->state_count = times(plan->state_count, plan->files[f].state_count);
  }
  disk->plan = plan;
  return plan;
}

void sim__plan_free(sim__plan *plan) {
  if (plan == NULL) { return; }
  for (size_t f = 0; f < plan->folder_count; f++) { folder_plan_free(&plan->folders[f]); }
  for (size_t f = 0; f < plan->file_count; f++) { file_plan_free(&plan->files[f]); }
  free(plan->folders);
  free(plan->files);
  free(plan);
}

// MARK: Choosing an outcome

typedef enum extent { NOTHING, EVERYTHING, SOME } extent;

static void choose_cut(folder_plan *folder, const component *part, uint64_t digit) {
  for (size_t i = 0; i < part->op_count; i++) {
    folder->survives[part->ops[i]] = part->cuts == NULL ? i < digit : (part->cuts[digit] >> i & 1) != 0;
  }
}

/// SOME: each operation with odds of `eighths`, if those before it survive.
static void choose_names(folder_plan *folder, const component *part, extent how, uint64_t *random) {
  static const uint64_t odds[] = {2, 4, 4, 7};
  uint64_t eighths = how == SOME ? odds[sim_next_random(random) % PKS_COUNT_OF(odds)] : 0;
  for (size_t i = 0; i < part->op_count; i++) {
    const uint32_t *before = folder->before[part->ops[i]];
    bool possible =
      (before[0] == no_op || folder->survives[before[0]]) && (before[1] == no_op || folder->survives[before[1]]);
    folder->survives[part->ops[i]] =
      how == EVERYTHING || (how == SOME && possible && sim_next_random(random) % 8 < eighths);
  }
}

static void choose_digit(file_plan *file, const sim__node *node, uint64_t digit) {
  uint64_t below = 1;
  size_t sector = 0, choice = 0;
  for (;; choice++) {
    file->size = size_at(node, choice);
    for (; sector < file->sector_count && file->sectors[sector].sector * SIM__SECTOR < file->size; sector++) {
      below *= file->sectors[sector].versions + 1;
    }
    if (digit < below) { break; }
    digit -= below;
  }
  for (size_t i = 0; i < file->sector_count; i++) {
    uint64_t radix = i < sector ? file->sectors[i].versions + 1 : 1;
    file->sectors[i].chosen = (size_t)(digit % radix);
    digit /= radix;
  }
}

/// SOME: sectors are changed with odds that differ from file to file, so that one lost of many and one kept of many
/// both happen.
static void choose_bytes(file_plan *file, const sim__node *node, extent how, uint64_t *random) {
  static const uint64_t odds[] = {1, 8, 8, 15};
  uint64_t sixteenths = how == SOME ? odds[sim_next_random(random) % PKS_COUNT_OF(odds)] : 0;
  size_t size_choice = how == EVERYTHING ? node->size_count : 0;
  if (how == SOME) {
    uint64_t draw = sim_next_random(random);
    size_choice = draw % 4 < 2 ? node->size_count : draw % 4 == 2 ? 0 : (size_t)(draw / 4 % (node->size_count + 1));
  }
  file->size = size_at(node, size_choice);
  for (size_t i = 0; i < file->sector_count; i++) {
    sector_plan *sector = &file->sectors[i];
    sector->chosen = how == EVERYTHING ? sector->versions : 0;
    if (how == SOME && sim_next_random(random) % 16 < sixteenths) {
      sector->chosen = 1 + (size_t)(sim_next_random(random) % sector->versions);
    }
  }
}

static extent drawn(extent how, uint64_t *random) {
  if (how != SOME) { return how; }
  uint64_t draw = sim_next_random(random) % 4;
  return draw == 0 ? NOTHING : draw == 1 ? EVERYTHING : SOME;
}

static void choose(const sim_disk *disk, sim__plan *plan, extent names, extent bytes, uint64_t *random) {
  for (size_t f = 0; f < plan->folder_count; f++) {
    for (size_t c = 0; c < plan->folders[f].component_count; c++) {
      choose_names(&plan->folders[f], &plan->folders[f].components[c], drawn(names, random), random);
    }
  }
  for (size_t f = 0; f < plan->file_count; f++) {
    choose_bytes(&plan->files[f], sim__node_of(disk, plan->files[f].id), drawn(bytes, random), random);
  }
}

static void choose_random(const sim_disk *disk, sim__plan *plan, uint64_t seed) {
  uint64_t random = seed;
  uint64_t style = sim_next_random(&random) % 8;
  extent names = style < 2 ? EVERYTHING : SOME;
  extent bytes = style == 2 || style == 3 ? EVERYTHING : style == 4 ? NOTHING : SOME;
  choose(disk, plan, names, bytes, &random);
}

// MARK: Building it

static sim__image *build_image(const file_plan *file, const sim__node *node) {
  bool nothing = file->size == node->durable->size, everything = !node->lost && file->size == node->live->size;
  for (size_t i = 0; i < file->sector_count; i++) {
    const sector_plan *sector = &file->sectors[i];
    nothing = nothing && sector->chosen == 0;
    everything = everything && sector->chosen == sector->versions;
  }
  if (everything) { return sim__image_retain(node->live); }
  sim__image *image = sim__image_retain(node->durable);
  if (nothing) { return image; }
  sim__image_extend(&image, file->size);
  for (size_t i = 0; i < file->sector_count; i++) {
    const sector_plan *sector = &file->sectors[i];
    uint64_t start = sector->sector * SIM__SECTOR;
    if (sector->chosen == 0 || start >= file->size) { continue; }
    const sim__piece *piece = &node->pieces[file->order[sector->first + sector->chosen - 1]];
    sim__image_write(&image, start, piece->bytes, (size_t)pks__min64(SIM__SECTOR, file->size - start));
  }
  return image;
}

static void trace_outcome(const sim_disk *disk, sim__builder *trace) {
  for (size_t f = 0; f < disk->plan->folder_count; f++) {
    const folder_plan *folder = &disk->plan->folders[f];
    for (size_t i = 0; i < folder->op_count; i++) {
      const sim__name_op *op = &sim__node_of(disk, folder->id)->ops[i];
      sim__build(trace, "cut: %s/ %s", folder->path, folder->survives[i] ? "kept" : "lost");
      for (size_t n = 0; n < op->count; n++) {
        if (op->value[n] == SIM__NONE) {
          sim__build(trace, " -%s", op->name[n]->bytes);
        } else {
          sim__build(trace, " +%s (%u)", op->name[n]->bytes, op->value[n]);
        }
      }
      sim__build(trace, "\n");
    }
  }
  for (size_t f = 0; f < disk->plan->file_count; f++) {
    const file_plan *file = &disk->plan->files[f];
    const sim__node *node = sim__node_of(disk, file->id);
    sim__build(
      trace, "cut: %s (%u) size %llu of %llu..%llu, sectors", file->path, file->id, (unsigned long long)file->size,
      (unsigned long long)node->durable->size, (unsigned long long)size_at(node, node->size_count)
    );
    for (size_t i = 0; i < file->sector_count; i++) {
      const sector_plan *sector = &file->sectors[i];
      sim__build(trace, " %llu:%zu/%zu", (unsigned long long)sector->sector, sector->chosen, sector->versions);
    }
    sim__build(trace, "\n");
  }
}

typedef struct construction {
  const sim_disk *from;
  sim_disk *to;
  const folder_plan **folder_of;  ///< by node; NULL: nothing pending
  const file_plan **file_of;
} construction;

/// The folder's names after the cut, live in `made`, values still unchecked.
static void build_names(const construction *work, const sim__node *node, sim__id id, sim__node *made) {
  for (size_t i = 0; i < node->entry_count; i++) {
    if (node->entries[i].durable != SIM__NONE) {
      sim__append_entry(made, sim__text_retain(node->entries[i].name), node->entries[i].durable);
    }
  }
  const folder_plan *plan = work->folder_of[id];
  for (size_t o = 0; plan != NULL && o < node->op_count; o++) {
    for (size_t n = 0; plan->survives[o] && n < node->ops[o].count; n++) {
      sim__text *name = node->ops[o].name[n];
      size_t index = 0;
      sim__entry *entry = sim__find(made, name->bytes, name->length, &index);
      if (entry == NULL) {
        sim__append_entry(made, sim__text_retain(name), SIM__NONE);
        sim__entry added = made->entries[made->entry_count - 1];
        memmove(&made->entries[index + 1], &made->entries[index], (made->entry_count - 1 - index) * sizeof added);
        made->entries[index] = added;
        entry = &made->entries[index];
      }
      entry->live = entry->durable = node->ops[o].value[n];
    }
  }
}

static void build_below(const construction *work, sim__id id, sim__id parent) {
  const sim__node *node = sim__node_of(work->from, id);
  sim__node *made = sim__allocate(sizeof *made);
  work->to->nodes[id] = made;
  made->kind = node->kind;
  made->executable = node->executable;
  made->modified_ns = node->modified_ns;
  made->parent = parent;
  made->target = sim__text_retain(node->target);
  if (node->kind == PKS_VFS_KIND_FILE) {
    made->live = work->file_of[id] != NULL ? build_image(work->file_of[id], node) : sim__image_retain(node->durable);
    made->durable = sim__image_retain(made->live);
    made->stale = sim__image_retain(node->stale);
  }
  if (node->kind != PKS_VFS_KIND_FOLDER) { return; }

  build_names(work, node, id, made);
  size_t kept = 0;
  for (size_t i = 0; i < made->entry_count; i++) {
    sim__entry entry = made->entries[i];
    // A folder has one parent: of a move that survived in both, the first one met is taken.
    bool twice = entry.live != SIM__NONE && work->to->nodes[entry.live] != NULL
      && work->to->nodes[entry.live]->kind == PKS_VFS_KIND_FOLDER;
    if (entry.live == SIM__NONE || twice) {
      sim__text_release(entry.name);
      continue;
    }
    made->entries[kept++] = entry;
    if (work->to->nodes[entry.live] == NULL) { build_below(work, entry.live, id); }
    work->to->nodes[entry.live]->live_names++;
    work->to->nodes[entry.live]->kept_names++;
  }
  made->entry_count = kept;
}

static sim_disk *build(sim_disk *disk, const sim__plan *plan) {
  enum { REBOOT_NS = 1000000000 };
  sim_disk *made = sim__new_like(disk);
  made->clock_ns += REBOOT_NS;
  made->boots++;
  made->nodes = sim__allocate(disk->node_count * sizeof(sim__node *));
  made->node_count = made->node_capacity = disk->node_count;
  construction work = {.from = disk, .to = made};
  work.folder_of = sim__allocate(disk->node_count * sizeof *work.folder_of);
  work.file_of = sim__allocate(disk->node_count * sizeof *work.file_of);
  for (size_t f = 0; f < plan->folder_count; f++) { work.folder_of[plan->folders[f].id] = &plan->folders[f]; }
  for (size_t f = 0; f < plan->file_count; f++) { work.file_of[plan->files[f].id] = &plan->files[f]; }
  build_below(&work, SIM__ROOT, SIM__ROOT);
  made->nodes[SIM__ROOT]->holders = 1;
  free(work.folder_of);
  free(work.file_of);
  if (disk->tracing) { trace_outcome(disk, &made->trace); }
  return made;
}

// MARK: Interface

sim_disk *sim_crash(sim_disk *disk, sim_crash_mode mode, uint64_t seed) {
  sim__plan *plan = plan_of(disk);
  if (mode == SIM_CRASH_RANDOM) {
    choose_random(disk, plan, seed);
  } else {
    extent all = mode == SIM_CRASH_MIN ? NOTHING : EVERYTHING;
    choose(disk, plan, all, all, &seed);
  }
  return build(disk, plan);
}

uint64_t sim_crash_state_count(sim_disk *disk) { return plan_of(disk)->state_count; }

sim_disk *sim_crash_state(sim_disk *disk, uint64_t index) {
  sim__plan *plan = plan_of(disk);
  if (plan->state_count == too_many) {
    return sim_crash(disk, index == 0 ? SIM_CRASH_MIN : index == 1 ? SIM_CRASH_MAX : SIM_CRASH_RANDOM, index);
  }
  if (index >= plan->state_count) { sim__misuse("a crash state beyond the last"); }
  for (size_t f = 0; f < plan->folder_count; f++) {
    for (size_t c = 0; c < plan->folders[f].component_count; c++) {
      const component *part = &plan->folders[f].components[c];
      choose_cut(&plan->folders[f], part, index % part->state_count);
      index /= part->state_count;
    }
  }
  for (size_t f = 0; f < plan->file_count; f++) {
    file_plan *file = &plan->files[f];
    choose_digit(file, sim__node_of(disk, file->id), index % file->state_count);
    index /= file->state_count;
  }
  return build(disk, plan);
}

uint64_t sim_sample_count(sim_disk *disk, uint64_t budget) { return pks__min64(sim_crash_state_count(disk), budget); }

sim_disk *sim_sample(sim_disk *disk, uint64_t budget, uint64_t seed, uint64_t index) {
  if (sim_crash_state_count(disk) <= budget) { return sim_crash_state(disk, index); }
  uint64_t mixed = seed ^ index * 0xd1342543de82ef95;
  return sim_crash(
    disk,
    index == 0     ? SIM_CRASH_MIN
      : index == 1 ? SIM_CRASH_MAX
                   : SIM_CRASH_RANDOM,
    sim_next_random(&mixed)
  );
}

void sim__sync_some(sim_disk *disk, sim__id id) {
  sim__node *node = sim__node_of(disk, id);
  if (node->kind == PKS_VFS_KIND_FOLDER) {
    folder_plan plan = plan_folder(node, id, "");
    for (size_t c = 0; c < plan.component_count; c++) { choose_names(&plan, &plan.components[c], SOME, &disk->random); }
    sim__sync_folder(disk, id, plan.survives);
    folder_plan_free(&plan);
    return;
  }
  file_plan plan = plan_file(node, id, "");
  choose_bytes(&plan, node, SOME, &disk->random);
  sim__image *durable = build_image(&plan, node);
  sim__image_release(node->durable);
  node->durable = durable;
  node->lost = node->lost || durable != node->live;
  sim__file_forget_log(node);
  file_plan_free(&plan);
  sim__changed(disk);
}
