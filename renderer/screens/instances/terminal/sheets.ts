/**
 * xterm writes its styles into style elements of its own making, which `default-src 'self'` blocks. The elements made
 * while `work` runs hand their text to constructed style sheets instead, which the policy allows.
 */
export function withSheets<Result>(work: () => Result): Result {
  const make = document.createElement
  const backing = (name: string, options?: ElementCreationOptions) => {
    const element = make.call(document, name, options)
    return name === 'style' ? backed(element) : element
  }
  document.createElement = backing as typeof make
  try {
    return work()
  } finally {
    document.createElement = make
  }
}

function backed(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  Object.defineProperty(element, 'textContent', { set: (css: string) => sheet.replaceSync(css) })
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(one => one !== sheet)
    Element.prototype.remove.call(element)
  }
  return element
}
