// What a site gave, for people and for programs: shape, extent, first values, digest.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plan/plan.h"
#include "golden/hdf5.h"

namespace assay::cli {

std::string site_text(const Step& step, const Array& values);
nlohmann::ordered_json site_json(const Step& step, const Array& values);

}  // namespace assay::cli
