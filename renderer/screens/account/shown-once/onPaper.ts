/** Prints a title and lines alone (styles/base.css hides the rest of the page). */
export function printLines(title: string, lines: readonly string[]): void {
  const sheet = document.createElement('section')
  sheet.className = 'print-sheet'
  const heading = document.createElement('h1')
  heading.textContent = title
  const list = document.createElement('pre')
  list.textContent = lines.join('\n')
  sheet.append(heading, list)
  document.body.append(sheet)
  window.addEventListener('afterprint', () => sheet.remove(), { once: true })
  window.print()
}
