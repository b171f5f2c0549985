// Wrong sites as calls of their op that were recorded: explained by what `assay explain` tries of kernels.
#pragma once

#include "harness/forensics/audit/audit.h"

namespace assay {

// Adds explanations to the prompt's wrong sites that have none. All wrong sites of a kind are one kernel's failing cases, right ones of the kind
// its passing cases; those that no one cause explains are tried alone, at last without the right ones: a fault may be one layer's. Sites whose op
// judges even the right ones otherwise than the recipe does, and large ones, are left as they are.
void explain_by_calls(const AuditRequest& request, PromptAudit& prompt);

}  // namespace assay
