/** Puts text on the clipboard, also where the page may not use the clipboard's own interface. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'unseen'
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
}
