"""The walk of docs/bisecting.md: `python bisecting.py MODEL GOLDEN.h5`. From wrong logits to the site, and to what explains it."""

import sys

import assay

model, golden = sys.argv[1:3]
prompt = sys.argv[3] if len(sys.argv) > 3 else "genesis"

far = assay.bisect(model, golden, prompt=prompt)
print(f"all by the reference {far.all_reference:.3g}, by the kernels {far.as_chosen:.3g}")
print("the plan, a weight or a recipe is wrong, and no kernel" if far.reference_is_far else f"kernels to blame: {far.sites or 'none'}")

found = assay.attribute(model, golden, prompt=prompt)
for site in found.prompts[0].to_blame:
    print(f"{site.verdict} {site.site}:", "; ".join(site.explanations))
print("passed" if found.passed else f"first: {found.prompts[0].to_blame[0].site}")
