/// The stream decoders of other programs' archives, with buffers of any size.
///
/// Input: u8 coding, u8 input bytes per call, u8 output bytes per call, the stream.
#include "../../../Sources/CPackArchives/include/packarchives.h"
#include "../fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count) {
  fuzz_input input = {bytes, byte_count};
  pka_coding coding = (pka_coding)(fuzz_take(&input, 1) % 3);
  size_t step = 1 + (size_t)fuzz_take(&input, 1) * 17, room = 1 + (size_t)fuzz_take(&input, 1) * 31;
  pka_stream *stream = pka_stream_create(coding, PKA_WINDOW_LEAST);
  FUZZ_ASSERT(stream);
  size_t total = 0, idle = 0;
  while (total < (1 << 22) && idle < 3) {
    size_t given = step < input.left ? step : input.left, made = room;
    uint8_t *source = fuzz_copy(input.next, given), *target = malloc(room);
    FUZZ_ASSERT(target);
    size_t taken = given;
    pka_state state = pka_stream_decode(stream, source, &taken, target, &made);
    FUZZ_ASSERT(taken <= given && made <= room);
    idle = taken == 0 && made == 0 ? idle + 1 : 0;
    total += made + 1;
    input.next += taken;
    input.left -= taken;
    free(target);
    free(source);
    if (state != PKA_MORE && state != PKA_END) { break; }
  }
  pka_stream_destroy(stream);
  return 0;
}
