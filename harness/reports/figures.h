// Figures as people read them.
#pragma once

#include <cstddef>
#include <string>

namespace assay {

// Three decimals of what may pass; three digits of what is far off.
std::string margin_text(double margin);

// "1 case", "2 cases"; `many`: of a word that takes more than an s.
std::string counted(std::size_t count, const std::string& one, const std::string& many = "");

}  // namespace assay
