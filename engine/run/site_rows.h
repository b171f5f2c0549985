// Observer that keeps what sites gave, for some of the tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/run/observer.h"
#include "golden/hdf5.h"

namespace assay {

// Row `row` of a view, dense, appended to `out`.
void append_row(const RowsView& view, std::int64_t row, std::vector<std::uint8_t>& out);

// The site's values: its output; of rope_table cosines then sines; of kv_store the stored rows. Dense [rows, ...].
class SiteRows final : public Observer {
 public:
  // `positions` ascending, empty for all; `wanted` says which sites, empty for all.
  SiteRows(std::vector<std::int32_t> positions, std::function<bool(const std::string& site)> wanted = {});

  bool wants(const Step& step) const override;
  void after(const StepRun& run) override;

  const std::map<std::string, Array>& sites() const { return sites_; }
  // Throws std::out_of_range for a site that no pass came to.
  const Array& at(const std::string& site) const;

 private:
  std::vector<std::int32_t> positions_;
  std::function<bool(const std::string&)> wanted_;
  std::map<std::string, Array> sites_;
};

}  // namespace assay
