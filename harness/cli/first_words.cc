#include "harness/cli/cli.h"

namespace assay::cli {

std::string first_words() {
  return "Assay holds CPU kernels to golden tensors and to a reference, in units of a derived bound.\n"
         "\n"
         "  assay check              every kernel that this CPU runs, against every golden\n"
         "  assay check rms_norm     one op; add --isa avx2, --case NAME, --shape rows=3,n=1000\n"
         "  assay list               ops, variants, goldens and contracts\n"
         "  assay bench matvec_f16   time, and percent of this machine's roof\n"
         "  assay inspect FILE.h5    what a golden holds\n"
         "\n"
         "  assay run -p \"In the beginning\"    a model made of the same kernels; assay plan: its steps and memory\n"
         "  assay eval --against TRACE         how near it is to another engine's trace\n"
         "  assay attribute --golden TRACE     which layer and op differ, and whose fault it is\n"
         "  assay audit MODEL TRACE            another engine's trace held to the definition\n"
         "  assay diff A.h5 B.h5               where two traces of a model part\n"
         "\n"
         "assay COMMAND --help says more, with an example.\n";
}

}  // namespace assay::cli
