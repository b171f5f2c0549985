// The tree of a sum that can only be called (FPRev: Xie et al., USENIX ATC 2025).
//
// Put +M at term i, -M at term j and 1 at all others, M so large that a 1 added to it is lost. The ones that are added to a sum that holds
// one of the two vanish; those added after +M and -M have met remain. So the result counts the terms outside the smallest sum that holds both
// i and j, and n minus the result is the number of terms in it, l(i, j). The sizes of these sums are the tree.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/forensics/order/tree.h"

namespace assay::order {

// What was measured is that of no tree: compensated sums, wider accumulators, an order that changes from call to call.
struct NotATree : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The result does not show enough of the sum.
struct NotObservable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// l(i, j) of each pair i < j: how many of the n terms lie in the smallest sum that holds both.
using Pair = std::pair<int, int>;
using Below = std::function<std::vector<int>(std::span<const Pair> pairs)>;

// About n pairs for sums in order, in reverse, in lanes or in blocks; n log n for balanced trees, n^2 / 2 at most. Throws NotATree, naming
// the terms.
Tree reveal(int n, const Below& below);

// Of each triple whether a and b are in one sum before c is.
struct Triple {
  int a, b, c;
};
using JoinedFirst = std::function<std::vector<bool>(std::span<const Triple> triples)>;

// The same by triples alone, one term after the other put where it belongs: n log n of them at least, n^2 for a sum in order. For trees whose
// nodes join two; throws NotATree where one joins more.
Tree reveal_by_triples(int n, const JoinedFirst& joined_first);

// Whether the sum's tree is `tree`, whose nodes join two each: by two triples for each of its inner edges, which no other tree meets. The
// children of a node are in one sum before the node's sibling is, and no child is with that sibling before the other.
bool is_tree(const Tree& tree, const JoinedFirst& joined_first);

}  // namespace assay::order
