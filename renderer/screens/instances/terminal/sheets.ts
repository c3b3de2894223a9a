/**
 * xterm writes its styles into new style elements, which `default-src 'self'` blocks. While `work` runs, it gets
 * elements that pass their text to constructed style sheets instead, which the policy allows.
 */
export function withSheets<Result>(work: () => Result): Result {
  const make = document.createElement
  const plain: (name: string, options?: ElementCreationOptions) => HTMLElement = make.bind(document)
  const backing = (name: string, options?: ElementCreationOptions) =>
    name === 'style' ? backed(plain('div')) : plain(name, options)
  document.createElement = backing as typeof make
  try {
    return work()
  } finally {
    document.createElement = make
  }
}

function backed(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet()
  element.hidden = true
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  Object.defineProperty(element, 'textContent', { set: (css: string) => sheet.replaceSync(css) })
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(one => one !== sheet)
    Element.prototype.remove.call(element)
  }
  return element
}

/**
 * Without a graphics card, xterm sets a cell's own colour by the attribute `style` of a span, which the same policy
 * blocks. From now on, spans set that attribute through their property, which the policy allows.
 */
export function allowCellStyles(): void {
  HTMLSpanElement.prototype.setAttribute = function setAttribute(name, value) {
    if (name === 'style') this.style.cssText = value
    else Element.prototype.setAttribute.call(this, name, value)
  }
}
