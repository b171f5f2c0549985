// A KV cache: keys and values of the sequences that a model works on. Where they lie is a policy's (policies.h); what
// attention reads of them are the same bits under each (docs/kv.md).
//
// A step of a sequence, in this order:
//   reserve(s, length(s) + n)    between steps; the only call that takes memory, and the one that can run out
//   append(s, n)                 the sequence is n tokens longer; their rows are still to be stored
//   for each layer: store(s, layer, side, rows, position, n) for both sides, then attention over view(s, layer)
//
// append, for_targets, store and view take no memory. A call that is refused changes nothing. Not for several threads at
// once, but for_targets may be; a view may be read by many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/kv/rows.h"
#include "engine/kv/shape.h"
#include "engine/kv/usage.h"
#include "kernels/kv_view.h"

namespace assay {

class KvCache {
 public:
  using Sequence = int;

  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;
  virtual ~KvCache() = default;

  const KvConfig& config() const { return config_; }
  const std::string& policy() const { return policy_; }

  // The lowest free sequence, empty. KvExhausted if all of config().sequences are open.
  Sequence open();
  // Room for positions 0 .. positions - 1 in all; never less than before. KvExhausted: context, pool or machine ran out.
  void reserve(Sequence sequence, std::int64_t positions);
  // The next `tokens` positions become the sequence's. KvExhausted if they were not reserved.
  void append(Sequence sequence, std::int64_t tokens);
  // each(const KvTarget&) for where rows position .. position + tokens - 1 go, in order. They must lie in the last append: what
  // was attended to is never rewritten.
  template <class Each>
  void for_targets(Sequence sequence, std::int64_t layer, KvSide side, std::int64_t position, std::int64_t tokens,
                   Each each) const {
    check_targets(sequence, layer, position, tokens);
    const std::int64_t size = piece_positions(sequence);
    for (std::int64_t done = 0; done < tokens;) {
      const std::int64_t slot = (position + done) % size;
      const std::int64_t count = std::min(tokens - done, size - slot);
      each(KvTarget{piece(sequence, (position + done) / size, layer, side), size, slot, done, count});
      done += count;
    }
  }
  // Stores them: rows are [tokens, n_kv, head_dim].
  void store(Sequence sequence, std::int64_t layer, KvSide side, const KvRows& rows, std::int64_t position, std::int64_t tokens);
  // All positions that the policy keeps. Valid until the next call for this sequence.
  std::span<const AssayKvSpan> view(Sequence sequence, std::int64_t layer);
  // The sequence is empty again; pools have its storage back.
  void reset(Sequence sequence);
  // As reset, and all that it held is given back. The sequence may be opened again.
  void close(Sequence sequence);
  // Gives the kernel back what no sequence needs: free blocks of a pool, unused capacity. Between steps.
  virtual void trim() {}

  std::int64_t length(Sequence sequence) const { return opened(sequence).length; }
  std::int64_t reserved(Sequence sequence) const { return opened(sequence).reserved; }
  std::int64_t appended(Sequence sequence) const { return opened(sequence).appended; }  // tokens of the last append
  std::int64_t growths() const { return growths_; }                                     // calls that took memory

  virtual std::int64_t held_bytes() const = 0;  // storage in the sequences' hands
  virtual KvUsage usage() const { return read_kv_usage(ranges()); }

 protected:
  // `most_pieces`: of storage that one sequence's view may cross.
  KvCache(std::string policy, const KvConfig& config, std::int64_t most_pieces);

  // A sequence's storage is a row of pieces, piece i for positions i * size .. (i + 1) * size - 1 (in a ring, all the
  // same piece), each [n_kv, size, head_dim_padded] for a layer and side. A multiple of 16 if there can be more than one.
  virtual std::int64_t piece_positions(Sequence sequence) const = 0;
  virtual char* piece(Sequence sequence, std::int64_t index, std::int64_t layer, KvSide side) const = 0;

  // Makes room for `positions`; true if that took memory. Throws with the sequence's storage as it was.
  virtual bool grow(Sequence sequence, std::int64_t positions) = 0;
  virtual void give_back(Sequence sequence) = 0;  // for reset
  virtual void give_all_back(Sequence sequence) { give_back(sequence); }

  virtual std::int64_t first_kept(Sequence) const { return 0; }
  virtual void check_append(Sequence, std::int64_t /*tokens*/) const {}
  virtual std::vector<MemoryRange> ranges() const = 0;

  [[noreturn]] void fail(Sequence sequence, const std::string& why) const;     // KvError
  [[noreturn]] void run_out(Sequence sequence, const std::string& why) const;  // KvExhausted
  const KvRowKernels& kernels() const { return kernels_; }
  std::int64_t row_bytes() const { return row_bytes_; }

 private:
  struct State {
    bool open = false;
    std::int64_t reserved = 0;
    std::int64_t length = 0;
    std::int64_t appended = 0;
    std::vector<AssayKvSpan> spans;
  };

  const State& opened(Sequence sequence) const;
  State& opened(Sequence sequence);
  void check_layer(Sequence sequence, std::int64_t layer) const;
  void check_targets(Sequence sequence, std::int64_t layer, std::int64_t position, std::int64_t tokens) const;

  std::string policy_;
  KvConfig config_;
  std::int64_t row_bytes_;
  KvRowKernels kernels_;
  std::int64_t growths_ = 0;
  std::vector<State> states_;
};

}  // namespace assay
