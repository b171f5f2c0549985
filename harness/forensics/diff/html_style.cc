#include "harness/forensics/diff/html_parts.h"

namespace assay::diff::html {

// Errors up to the floor are cool, above it warm; in the dark more is brighter.
const char* const kStyle = R"css(
:root {
  --norm: #3d9bd6; --projection: #0b5cab; --rope: #0a8f68; --attention: #c0508d; --residual: #7b828a; --activation: #d98a00;
  --embedding: #5b4bb5; --logits: #5b4bb5; --other: #444b53;
  --h0: #f7f8fa; --h1: #e9f0f7; --h2: #d5e3f0; --h3: #b9d1e7; --h4: #94b9da; --h5: #689cc8;
  --h6: #ffd591; --h7: #ffab4a; --h8: #f2711c; --h9: #cf3f0e; --h10: #7d1407;
}
@media (prefers-color-scheme: dark) {
  :root {
    --norm: #6dbcf0; --projection: #4f94e8; --rope: #3fc79a; --attention: #ea8cbd; --residual: #a3abb5; --activation: #f0b042;
    --embedding: #a798f5; --logits: #a798f5; --other: #c0c6cd;
    --h0: #191d22; --h1: #1a2430; --h2: #1c2f44; --h3: #20405f; --h4: #26547f; --h5: #336fa6;
    --h6: #6b4412; --h7: #a3600f; --h8: #e06a12; --h9: #ff9a62; --h10: #ffe0cc;
  }
}
tr.diverges td { color: var(--bad); font-weight: 600; }
svg.plot, svg.heat { display: block; width: 100%; height: auto; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 10px; }
svg.panel { width: 100%; height: auto; background: var(--card); border-radius: 6px; }
svg.panel.bad { outline: 2px solid var(--bad); }
text { fill: var(--text); font-size: 12px; }
text.tick { fill: var(--faint); font-size: 11px; } tspan.exp { font-size: 8.5px; }
text.axis { fill: var(--faint); font-size: 12px; }
text.panel-title { font-weight: 600; font-size: 13px; }
text.mark-label { fill: var(--bad); font-weight: 600; font-size: 13px; }
path { fill: none; }
.grid { stroke: var(--line); stroke-width: 0.7; }
.stripe { fill: var(--stripe); }
.floor { stroke: var(--warn); stroke-width: 1.3; stroke-dasharray: 5 4; }
.thread { stroke: var(--faint); stroke-width: 0.7; opacity: 0.6; }
.against, .inherited { stroke: var(--faint); stroke-width: 1.2; stroke-dasharray: 2 2; }
.own { stroke-width: 1.2; opacity: 0.75; }
.mark { stroke: var(--bad); stroke-width: 1.6; }
.arrow { fill: var(--bad); }
.edge { stroke: var(--page); stroke-width: 1.2; }
.point.diverges { stroke: var(--bad); stroke-width: 2; fill: var(--page); }
.point:hover { stroke: var(--text); stroke-width: 2; }
circle.k-norm { fill: var(--norm); } path.k-norm { stroke: var(--norm); }
circle.k-projection { fill: var(--projection); } path.k-projection { stroke: var(--projection); }
circle.k-rope { fill: var(--rope); } path.k-rope { stroke: var(--rope); }
circle.k-attention { fill: var(--attention); } path.k-attention { stroke: var(--attention); }
circle.k-residual { fill: var(--residual); } path.k-residual { stroke: var(--residual); }
circle.k-activation { fill: var(--activation); } path.k-activation { stroke: var(--activation); }
circle.k-embedding { fill: var(--embedding); } circle.k-logits { fill: var(--logits); }
circle.k-other { fill: var(--other); } path.k-other { stroke: var(--other); }
.h0 { fill: var(--h0); background: var(--h0); } .h1 { fill: var(--h1); background: var(--h1); }
.h2 { fill: var(--h2); background: var(--h2); } .h3 { fill: var(--h3); background: var(--h3); }
.h4 { fill: var(--h4); background: var(--h4); } .h5 { fill: var(--h5); background: var(--h5); }
.h6 { fill: var(--h6); background: var(--h6); } .h7 { fill: var(--h7); background: var(--h7); }
.h8 { fill: var(--h8); background: var(--h8); } .h9 { fill: var(--h9); background: var(--h9); }
.h10 { fill: var(--h10); background: var(--h10); }
.legend { color: var(--faint); font-size: 13px; }
.legend span { display: inline-block; margin-right: 16px; }
svg.key { width: 10px; height: 10px; margin-right: 5px; } svg.key.wide { width: 24px; }
i.cell { display: inline-block; width: 14px; height: 14px; margin-right: 5px; vertical-align: -2px; border: 1px solid var(--line); }
#tip { position: fixed; display: none; pointer-events: none; z-index: 2; padding: 7px 10px; border-radius: 5px; white-space: pre;
  background: var(--text); color: var(--page); font: 12.5px/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
)css";

// A site's record: name, relative RMS, worst row's, its position, that of the inputs, max abs, cosine, where; then a value a row.
const char* const kScript = R"js(
(function () {
  'use strict';
  var data = JSON.parse(document.getElementById('data').textContent);
  var tip = document.getElementById('tip');
  function number(v) { return v === null ? 'infinite' : v === 0 ? '0' : v.toExponential(2); }
  function show(lines, event) {
    tip.textContent = lines.join('\n');
    tip.style.display = 'block';
    var x = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    var y = event.clientY + 16;
    if (y + tip.offsetHeight > window.innerHeight - 8) y = event.clientY - tip.offsetHeight - 12;
    tip.style.left = Math.max(x, 4) + 'px';
    tip.style.top = Math.max(y, 4) + 'px';
  }
  function hide() { tip.style.display = 'none'; }
  function promptOf(element) { return data[+element.closest('section').dataset.prompt]; }
  function siteLines(s) {
    return [s[0], 'relative RMS   ' + number(s[1]), 'worst row      ' + number(s[2]) + ' at ' + s[3],
            'of its inputs  ' + number(s[4]), 'max abs        ' + number(s[5]) + ' at ' + s[7], 'cosine         ' + s[6].toFixed(9)];
  }
  document.querySelectorAll('circle[data-i]').forEach(function (point) {
    point.addEventListener('mousemove', function (e) { show(siteLines(promptOf(point).sites[+point.dataset.i]), e); });
    point.addEventListener('mouseleave', hide);
  });
  document.querySelectorAll('svg.heat').forEach(function (map) {
    var d = map.dataset;
    map.addEventListener('mousemove', function (e) {
      var at = new DOMPoint(e.clientX, e.clientY).matrixTransform(map.getScreenCTM().inverse());
      var column = Math.floor((at.x - d.x) / d.w), row = Math.floor((at.y - d.y) / d.h);
      if (column < 0 || column >= +d.count || row < 0 || row >= +d.rows) { hide(); return; }
      var prompt = promptOf(map), site = prompt.sites[+d.first + column];
      show([site[0], 'position ' + prompt.rows[row], 'relative RMS of the row  ' + number(prompt.cells[+d.first + column][row])], e);
    });
    map.addEventListener('mouseleave', hide);
  });
  document.documentElement.dataset.ready = data.length;
})();
)js";

}  // namespace assay::diff::html
