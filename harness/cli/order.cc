#include "harness/forensics/order/order.h"
#include "harness/reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "golden/output_rule.h"
#include "harness/cli/cli.h"
#include "harness/cli/late_file.h"
#include "harness/cli/runner_options.h"
#include "harness/cli/shape.h"
#include "harness/cli/status_line.h"
#include "harness/forensics/order/report.h"

namespace assay::cli {
namespace {

struct OrderCliOptions {
  std::string op, variant, svg;
  std::vector<std::string> isas, shapes;
  RunnerCliOptions runner;
};

int run_order(const OrderCliOptions& options, const Common& common) {
  order::OrderRequest request;
  request.op = options.op;
  request.variant = options.variant;
  request.runner = options.runner.options();
  request.isas = wanted_isas(options.isas, request.runner.has_value());
  for (const std::string& shape : options.shapes) request.shapes.push_back(parse_shape(shape));
  LateFile svg(options.svg, "an XML file of assay");
  order::OrderResult result;
  {
    StatusLine line;
    result = order::find_orders(request, [&](const std::string& text) { line.show(text); });
  }
  svg.write([&] { return order::order_svg(result); });
  if (common.json) {
    fmt::print("{}", json_text(order::order_json(result)));
  } else {
    fmt::print("{}", order::order_text(result, common.style()));
  }
  const auto is_false = [](const order::KernelOrder& kernel) { return kernel.breaks_claim() || !kernel.refuted.empty(); };
  return std::ranges::any_of(result.kernels, is_false) ? kParityFailure : kPass;
}

}  // namespace

Action add_order(CLI::App& app, const Common& common) {
  auto options = std::make_shared<OrderCliOptions>();
  CLI::App* command = app.add_subcommand(
      "order", "Find the order in which a kernel adds; exit 1 if it is not the one that the kernel claims or declares");
  command->add_option("op", options->op, "The op")->required();
  add_isas(*command, options->isas);
  command->add_option("--variant", options->variant, "Only this variant, such as mine:dot");
  command
      ->add_option("--shape", options->shapes, "Sizes of the call, such as k=1000,n=32; repeatable; by default several lengths")
      ->allow_extra_args(false);
  command->add_option("--svg", options->svg, "Also write a drawing of the trees");
  options->runner.add_to(*command);
  options->runner.add_declare_to(*command);
  command->footer("Example: assay order matvec_f32 --isa avx2 --shape k=1000,n=32 --svg order.svg");
  return [options, &common] { return run_order(*options, common); };
}

}  // namespace assay::cli
