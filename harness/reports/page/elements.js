'use strict';
// What the pages' scripts draw with. Whatever comes from the data becomes text or an attribute's value, never markup.
const data = JSON.parse(document.getElementById('data').textContent);
const svgSpace = document.createRange().createContextualFragment('<svg></svg>').firstChild.namespaceURI;

// Attributes that are undefined, and children that are false or undefined, are left out.
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
  node.append(...children.flat(Infinity).filter(child => child !== undefined && child !== false));
  return node;
}
const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(svgSpace, name), attributes, children);

// A column whose head begins with '>' holds numbers. A cell is text or a <td>; a row may be {style, cells}.
function table(style, head, rows) {
  const kind = i => head[i].startsWith('>') ? 'number' : undefined;
  const row = one => html('tr', {class: one.style}, (one.cells || one).map(
    (cell, i) => cell instanceof HTMLTableCellElement ? cell : html('td', {class: kind(i)}, cell)));
  return html('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': head.filter(Boolean).map(name => name.replace(/^>/, '')).join(', ')}, html('table', {class: style},
    html('tr', {}, head.map((name, i) => html('th', {class: kind(i)}, name.replace(/^>/, '')))), rows.map(row)));
}
const named = name => html('td', {class: 'name'}, name);
const list = (style, lines) => lines.length > 0 && html('ul', {class: style}, lines.map(line => html('li', {}, line)));
const note = (...text) => html('p', {class: 'note'}, text);
const banner = (good, ...content) => html('p', {class: 'banner ' + (good ? 'good' : 'bad')}, content);
const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;
// null is infinity, which JSON has not.
const scientific = value => value === null ? 'inf' : value.toExponential(2);
const digits = (value, count) => value === null ? 'inf' : String(Number(value.toPrecision(count)));
