/// The bytes of files. A clone or a crash state shares every unchanged page, so 10^5 of them are cheap.
#include "simulated_disk.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *sim__allocate(size_t byte_count) {
  void *block = calloc(1, byte_count > 0 ? byte_count : 1);
  if (block == NULL) { abort(); }
  return block;
}

void *sim__grow(void *array, size_t *capacity, size_t count, size_t item_size) {
  if (count < *capacity) { return array; }
  size_t wanted = count < 4 ? 4 : count * 2;
  void *moved = realloc(array, wanted * item_size);
  if (moved == NULL) { abort(); }
  *capacity = wanted;
  return moved;
}

void sim__misuse(const char *what) {
  (void)fprintf(stderr, "simulated disk: misuse: %s\n", what);
  abort();
}

void sim__build(sim__builder *builder, const char *format, ...) {
  for (;;) {
    size_t room = builder->capacity - builder->length;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(builder->bytes == NULL ? NULL : builder->bytes + builder->length, room, format, arguments);
    va_end(arguments);
    if (length < 0) { abort(); }
    if ((size_t)length < room) {
      builder->length += (size_t)length;
      return;
    }
    builder->bytes = sim__grow(builder->bytes, &builder->capacity, builder->length + (size_t)length + 64, 1);
  }
}

// The holder of a reference keeps the object alive, so adding a reference needs no ordering. The last release must see
// all earlier uses.
static void retain(_Atomic uint32_t *references) { atomic_fetch_add_explicit(references, 1, memory_order_relaxed); }
static bool release(_Atomic uint32_t *references) {
  return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}
static bool is_shared(_Atomic uint32_t *references) {
  return atomic_load_explicit(references, memory_order_acquire) > 1;
}

sim__text *sim__text_new(const char *bytes, size_t length) {
  sim__text *text = sim__allocate(sizeof *text + length + 1);
  atomic_init(&text->references, 1);
  text->length = (uint32_t)length;
  memcpy(text->bytes, bytes, length);
  return text;
}

sim__text *sim__text_retain(sim__text *text) {
  if (text != NULL) { retain(&text->references); }
  return text;
}

void sim__text_release(sim__text *text) {
  if (text != NULL && release(&text->references)) { free(text); }
}

static sim__page *page_new(void) {
  sim__page *page = sim__allocate(sizeof *page);
  atomic_init(&page->references, 1);
  return page;
}

static void page_release(sim__page *page) {
  if (page != NULL && release(&page->references)) { free(page); }
}

sim__image *sim__image_new(void) {
  sim__image *image = sim__allocate(sizeof *image);
  atomic_init(&image->references, 1);
  return image;
}

sim__image *sim__image_retain(sim__image *image) {
  retain(&image->references);
  return image;
}

void sim__image_release(sim__image *image) {
  if (image == NULL || !release(&image->references)) { return; }
  for (size_t i = 0; i < image->page_count; i++) { page_release(image->pages[i]); }
  free(image->pages);
  free(image);
}

static void image_own(sim__image **image) {
  sim__image *old = *image;
  if (!is_shared(&old->references)) { return; }
  sim__image *copy = sim__image_new();
  copy->size = old->size;
  copy->page_count = copy->page_capacity = old->page_count;
  copy->pages = sim__allocate(old->page_count * sizeof *copy->pages);
  for (size_t i = 0; i < old->page_count; i++) {
    copy->pages[i] = old->pages[i];
    if (copy->pages[i] != NULL) { retain(&copy->pages[i]->references); }
  }
  sim__image_release(old);
  *image = copy;
}

static sim__page *page_own(sim__page **page) {
  if (*page == NULL) {
    *page = page_new();
  } else if (is_shared(&(*page)->references)) {
    sim__page *copy = page_new();
    memcpy(copy->bytes, (*page)->bytes, SIM__PAGE);
    page_release(*page);
    *page = copy;
  }
  atomic_store_explicit(&(*page)->sum, 0, memory_order_relaxed);
  return *page;
}

void sim__image_extend(sim__image **image, uint64_t size) {
  if (size <= (*image)->size) { return; }
  image_own(image);
  sim__image *grown = *image;
  size_t page_count = (size_t)((size + SIM__PAGE - 1) / SIM__PAGE);
  if (page_count > grown->page_capacity) {
    grown->pages = sim__grow(grown->pages, &grown->page_capacity, page_count - 1, sizeof *grown->pages);
  }
  for (; grown->page_count < page_count; grown->page_count++) { grown->pages[grown->page_count] = NULL; }
  grown->size = size;
}

void sim__image_write(sim__image **image, uint64_t offset, const void *bytes, size_t byte_count) {
  const uint8_t *from = bytes;
  sim__image_extend(image, offset + byte_count);
  image_own(image);
  while (byte_count > 0) {
    size_t within = (size_t)(offset % SIM__PAGE);
    size_t part = pks__min_size(SIM__PAGE - within, byte_count);
    sim__page *page = page_own(&(*image)->pages[offset / SIM__PAGE]);
    memcpy(page->bytes + within, from, part);
    from += part;
    offset += part;
    byte_count -= part;
  }
}

void sim__image_read(const sim__image *image, uint64_t offset, void *out, size_t byte_count) {
  uint8_t *to = out;
  while (byte_count > 0) {
    size_t within = (size_t)(offset % SIM__PAGE);
    size_t part = pks__min_size(SIM__PAGE - within, byte_count);
    uint64_t index = offset / SIM__PAGE;
    const sim__page *page = index < image->page_count ? image->pages[index] : NULL;
    if (page != NULL) {
      memcpy(to, page->bytes + within, part);
    } else {
      memset(to, 0, part);
    }
    to += part;
    offset += part;
    byte_count -= part;
  }
}

void sim__image_find_data(const sim__image *image, uint64_t offset, uint64_t *begin, uint64_t *end) {
  *begin = *end = UINT64_MAX;
  if (offset >= image->size) { return; }
  uint64_t first = offset / SIM__PAGE;
  while (first < image->page_count && image->pages[first] == NULL) { first++; }
  if (first >= image->page_count) { return; }
  uint64_t last = first + 1;
  while (last < image->page_count && image->pages[last] != NULL) { last++; }
  *begin = pks__max64(first * SIM__PAGE, offset);
  *end = pks__min64(last * SIM__PAGE, image->size);
}
