#pragma once

#include <nanobind/nanobind.h>

namespace rarefy::text {

// Adds the submodule `text` to the extension module `m`.
void BindText(nanobind::module_& m);

}  // namespace rarefy::text
