// reserved: each sequence has addresses for its whole context, [layer, side, n_kv, context in whole 256, head_dim_padded],
// and behind them only the pages of what is reserved; so attention sees one span. The pages come from a heap of
// all sequences.
#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/kv/mapping.h"
#include "engine/kv/page_heap.h"
#include "engine/kv/policies.h"

namespace assay {
namespace {

constexpr std::int64_t kGroup = 256;  // positions; with rows of whole 32 bytes, whole pages

std::int64_t heap_groups(const KvConfig& config) {
  const std::int64_t groups = kv_pool_positions(config, kGroup) / kGroup;
  if (groups > std::numeric_limits<std::int32_t>::max()) throw KvError("kv reserved: a heap of more than 2^31 groups");
  (void)kv_bytes(config.shape, groups * kGroup);  // throws where that is too much
  return groups;
}

// Pages that hold `positions` rows of a lane.
std::int64_t lane_bytes(const KvShape& shape, std::int64_t positions) {
  return round_up(positions * kv_row_bytes(shape), page_bytes());
}

class ReservedCache final : public KvCache {
 public:
  explicit ReservedCache(const KvConfig& config)
      : KvCache("reserved", config, 1),
        capacity_(round_up(config.context, kGroup)),
        heap_(kv_lanes(config.shape), heap_groups(config), lane_bytes(config.shape, kGroup)),
        committed_(static_cast<std::size_t>(heap_.groups().blocks()), 0),
        storages_(static_cast<std::size_t>(config.sequences)) {
    if (lane_bytes(config.shape, kGroup) != kGroup * row_bytes()) throw KvError("kv reserved: pages larger than 256 rows");
    for (Storage& storage : storages_) storage.groups.reserve(static_cast<std::size_t>(capacity_ / kGroup));
  }

  std::int64_t held_bytes() const override {
    return std::accumulate(committed_.begin(), committed_.end(), std::int64_t{0}) * kv_lanes(config().shape);
  }

  KvUsage usage() const override {
    KvUsage usage = KvCache::usage();
    usage.heap_bytes = heap_.physical_bytes();
    return usage;
  }

 private:
  struct Storage {
    Mapping addresses;
    std::vector<int> groups;
  };

  Storage& at(Sequence sequence) { return storages_[static_cast<std::size_t>(sequence)]; }
  const Storage& at(Sequence sequence) const { return storages_[static_cast<std::size_t>(sequence)]; }

  std::int64_t piece_positions(Sequence) const override { return capacity_; }

  char* piece(Sequence sequence, std::int64_t, std::int64_t layer, KvSide side) const override {
    const std::int64_t lane = (layer * 2 + static_cast<std::int64_t>(side)) * config().shape.n_kv;
    return at(sequence).addresses.begin() + lane * capacity_ * row_bytes();
  }

  bool grow(Sequence sequence, std::int64_t positions) override {
    Storage& storage = at(sequence);
    const std::size_t before = storage.groups.size();
    const std::int64_t missing = ceil_div(positions, kGroup) - static_cast<std::int64_t>(before);
    if (missing > heap_.groups().free()) {
      run_out(sequence, std::to_string(missing) + " more groups of 256 positions are needed, " +
                            std::to_string(heap_.groups().free()) + " of " + std::to_string(heap_.groups().blocks()) +
                            " are free");
    }
    map_addresses(storage);
    try {
      const int last = before == 0 ? -1 : storage.groups.back();
      for (std::int64_t i = 0; i < missing; ++i)
        storage.groups.push_back(heap_.groups().take(i == 0 ? last : storage.groups.back()));
      const bool took = commit(storage, positions, before == 0 ? 0 : before - 1);
      for (std::size_t i = before; i < storage.groups.size(); ++i) map(storage, i);
      return took;
    } catch (...) {
      // A mapping that was made stays: no view shows it, and the next growth maps over it.
      release({storage.groups.begin() + static_cast<std::ptrdiff_t>(before), storage.groups.end()});
      storage.groups.resize(before);
      throw;
    }
  }

  // The pages of `positions` from the group that began to fill last; true if there were new ones.
  bool commit(const Storage& storage, std::int64_t positions, std::size_t first) {
    bool took = false;
    for (std::size_t i = first; i < storage.groups.size(); ++i) {
      const int group = storage.groups[i];
      std::int64_t& committed = committed_[static_cast<std::size_t>(group)];
      const std::int64_t rows = std::min(kGroup, positions - static_cast<std::int64_t>(i) * kGroup);
      const std::int64_t bytes = lane_bytes(config().shape, rows);
      if (bytes <= committed) continue;
      heap_.commit(group, bytes);
      committed = bytes;
      took = true;
    }
    return took;
  }

  void map_addresses(Storage& storage) const {
    if (!storage.addresses) storage.addresses = Mapping::address_space(kv_bytes(config().shape, capacity_));
  }

  void map(Storage& storage, std::size_t index) {
    char* const start = storage.addresses.begin() + static_cast<std::int64_t>(index) * kGroup * row_bytes();
    heap_.map(storage.groups[index], start, capacity_ * row_bytes());
  }

  void release(const std::vector<int>& groups) {
    heap_.release(groups);
    for (const int group : groups) committed_[static_cast<std::size_t>(group)] = 0;
  }

  void give_back(Sequence sequence) override {
    Storage& storage = at(sequence);
    storage.addresses = Mapping();
    release(storage.groups);
    storage.groups.clear();
  }

  std::vector<MemoryRange> ranges() const override {
    std::vector<MemoryRange> result;
    for (const Storage& storage : storages_) {
      if (storage.addresses) result.push_back({storage.addresses.begin(), storage.addresses.bytes()});
    }
    return result;
  }

  std::int64_t capacity_;
  PageHeap heap_;
  std::vector<std::int64_t> committed_;  // of each group, in each lane
  std::vector<Storage> storages_;
};

}  // namespace

KvPlan plan_reserved(const KvConfig& config, std::int64_t positions) {
  const std::int64_t bytes = kv_lanes(config.shape) * lane_bytes(config.shape, positions);
  (void)heap_groups(config);
  return {bytes, positions == 0 ? 0 : kv_bytes(config.shape, round_up(config.context, kGroup)), bytes};
}

std::unique_ptr<KvCache> make_reserved(const KvConfig& config) {
  return std::make_unique<ReservedCache>(config);
}

}  // namespace assay
