/* Links the static archive of the library beside another one of Rust: see archive.rs. */
#include <nonfinite.h>
#include <stdio.h>
#include <stdlib.h>

size_t beside(size_t length);

int main(void) {
  const float data[3] = {0, 1, 2};
  bool finite = false;
  if (beside(5) != 6 || nf_all(data, NF_FORMAT_F32, 3, NF_IS_FINITE, &finite) != NF_OK ||
      !finite) {
    return EXIT_FAILURE;
  }
  return beside(7) == 8 ? EXIT_SUCCESS : EXIT_FAILURE;
}
