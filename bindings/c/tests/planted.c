/* Ends by a panic of the library, which is built with a function for that. */
#include <stddef.h>
#include <stdint.h>

uint8_t nf_planted_panic(size_t index);

int main(int argc, char **argv) {
  (void)argv;
  return nf_planted_panic((size_t)argc + 2);
}
