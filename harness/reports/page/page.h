// The pages: one file each, light and dark, which fetches nothing. A template (page.html beside its report) has style and script; they
// draw what is filled in here, the report's data as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace assay {

std::string fill_page(std::string_view page, const nlohmann::ordered_json& data);

}  // namespace assay
