// Figures as people read them.
#pragma once

#include <string>

namespace assay {

// Three decimals of what may pass; three digits of what is far off.
std::string margin_text(double margin);

}  // namespace assay
