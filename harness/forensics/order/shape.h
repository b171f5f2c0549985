// Usual orders of a sum as data, and the one that a tree is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/forensics/order/tree.h"

namespace assay::order {

// How partial sums become one.
enum class Join : std::uint8_t {
  in_order,    // ((a + b) + c) + d
  in_reverse,  // a + (b + (c + d))
  neighbours,  // (a + b) + (c + d)
  halves,      // (a + c) + (b + d)
};

// What becomes of the terms after the last whole stride.
enum class Tail : std::uint8_t {
  in_lanes,  // as if zeros stood behind
  appended,  // one by one to the total
  apart,     // a sum of its own, added to the total
};

// Terms in blocks; in a block, term i goes to partial sum i mod (lanes x accumulators), ascending. Accumulators become one first, lane by
// lane, then the lanes; then the blocks. All that in each span, whose sums are added in order.
struct Shape {
  int span = 0;   // 0: one, of all terms
  int block = 0;  // likewise
  int lanes = 1;
  int accumulators = 1;
  Join accumulated = Join::in_order;
  Join joined = Join::in_order;
  Tail tail = Tail::in_lanes;
  Join blocks = Join::in_order;
  bool reversed = false;  // the terms, from last to first

  bool operator==(const Shape&) const = default;
  // "16 lanes, 4 accumulators joined pairwise, lanes by halves, the tail appended".
  std::string words() const;
};

Tree tree_of(const Shape& shape, int terms);

// The simplest of the usual orders that gives this tree.
std::optional<Shape> shape_of(const Tree& tree);

}  // namespace assay::order
