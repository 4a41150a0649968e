// What the C++ tests and fuzz targets fail with.
#pragma once

#include <cstdio>
#include <cstdlib>

// Ends the program, with the place, unless `condition` holds; also in builds without asserts.
#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
