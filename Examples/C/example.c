/// PackStore from plain C: adds a folder to a store as the next version of a pack, and writes one asset to standard output.
///
///     cc example.c $(pkg-config --cflags --libs packstore) -o example
///     ./example STORE FOLDER PATH
///
/// The store calls a SHA-256 function of the program, here the one of `CPackHash.h`, which `make install-core` installs with it.
#include <CPackHash.h>
#include <packstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const pks_error *error) {
  const char *object = error->file, *separator = object[0] ? ": " : "";
  fprintf(stderr, "example: %s%s%s (%s)\n", object, separator, error->text, pks_status_name(error->status));
  return 1;
}

static pks_status add(pks_store *store, const char *folder, pks_add_result *result, pks_error *error) {
  pks_txn *txn;
  pks_status status = pks_txn_begin(&txn, store, NULL, error);
  if (status) { return status; }
  pks_add_request request = {.pack = "Example", .folder = folder};
  status = pks_txn_add_folder(result, txn, &request, error);
  if (status) {
    pks_txn_abort(txn);
    return status;
  }
  return pks_txn_commit(txn, NULL, error);  // ends the transaction, whatever it returns
}

/// The whole asset as a copy, for the caller to free.
static pks_status read_asset(
  const pks_snapshot *snapshot, const char *path, size_t path_length, uint8_t **out, size_t *length, pks_error *error
) {
  pks_asset asset;
  pks_status status = pks_snapshot_find(&asset, snapshot, path, path_length, PKS_ANY_PACK, error);
  if (status) { return status; }
  uint8_t *bytes = malloc(asset.size + 1);
  if (!bytes) { abort(); }
  status = pks_asset_read(&asset, 0, bytes, asset.size, error);
  if (status) {
    free(bytes);
    return status;
  }
  *out = bytes;
  *length = asset.size;
  return PKS_OK;
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: example STORE FOLDER PATH\n");
    return 2;
  }
  pks_error error;
  pks_store *store;
  pks_options options = {.sha256 = pkh_sha256, .create = true};
  if (pks_store_open(&store, arguments[1], &options, &error)) { return fail(&error); }

  pks_add_result result;
  pks_status status = add(store, arguments[2], &result, &error);
  if (!status) {
    fprintf(
      stderr, "Example@%llu: %llu files, %llu of %llu chunks are new\n", (unsigned long long)result.version.number,
      (unsigned long long)result.version.file_count, (unsigned long long)result.new_chunk_count,
      (unsigned long long)result.chunk_count
    );
  }

  pks_snapshot *snapshot = NULL;
  uint8_t *bytes = NULL;
  size_t length = 0;
  if (!status) { status = pks_snapshot_open(&snapshot, store, &error); }
  if (!status) { status = read_asset(snapshot, arguments[3], strlen(arguments[3]), &bytes, &length, &error); }
  int code = status ? fail(&error) : 0;
  if (!status && fwrite(bytes, 1, length, stdout) != length) { code = 1; }
  free(bytes);
  pks_snapshot_close(snapshot);
  pks_store_close(store);
  return code;
}
