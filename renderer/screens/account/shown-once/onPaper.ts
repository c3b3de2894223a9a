/** Gives a text to the user as a file of that name. */
export function saveText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** Prints a title and lines, and nothing else of the page (styles/base.css hides the rest). */
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
