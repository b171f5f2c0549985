// What a page must have at any width, light or dark; run in it when it is drawn. Leaves what is wrong in <html data-audit="...">, "none" if nothing.
(() => {
  const wrong = [];
  const complain = (what, element) => wrong.length < 10 && wrong.push(`${what}: ${element.tagName} "${(element.textContent || '').trim().slice(0, 40)}"`);

  // Wider than the window: people would have to scroll the page sideways. Tables scroll in a box of their own.
  const root = document.documentElement;
  if (root.scrollWidth > window.innerWidth) wrong.push(`overflow: ${root.scrollWidth} in ${window.innerWidth}`);

  // Contrast of text against what lies behind it, by WCAG 2: (L1 + 0.05) / (L2 + 0.05), at least 4.5.
  const parse = text => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const canvas = parse(getComputedStyle(document.body).backgroundColor);
  const behind = element => {
    for (let one = element; one; one = one.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(one).backgroundColor);
      if (a > 0.99) return [r, g, b];
    }
    return canvas;
  };
  const luminance = rgb => {
    const [r, g, b] = rgb.slice(0, 3).map(value => value / 255).map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  let texts = 0;
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!own || !element.getClientRects().length || ['SCRIPT', 'STYLE', 'OPTION'].includes(element.tagName)) continue;
    ++texts;
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color);
    if (contrast(ink, behind(element)) < 4.5) complain(`contrast ${contrast(ink, behind(element)).toFixed(2)}`, element);
  }
  if (texts < 3) wrong.push(`only ${texts} texts were looked at`);

  // Whatever does something when it is clicked, or scrolls, can be reached by the keyboard and has a name.
  for (const element of document.querySelectorAll('a, button, input, select, summary, .scroll')) {
    if (element.tabIndex < 0) complain('not in the order of tabs', element);
    const label = element.closest('label') || element.getAttribute('aria-label') || element.textContent.trim();
    if (!label) complain('has no name', element);
  }
  root.dataset.audit = wrong.length ? wrong.join('; ') : 'none';
  root.dataset.dark = matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.wide = window.innerWidth;
})();
