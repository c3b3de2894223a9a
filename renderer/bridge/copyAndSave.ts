import type { Page } from './page.svelte.ts'

/**
 * Copies text to the clipboard, also where the page may not use the Clipboard API. Returns whether it worked: browsers
 * demand a recent click, and a text that had to be fetched first may come too late.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'unseen'
    document.body.append(area)
    area.select()
    const copied = document.execCommand('copy')
    area.remove()
    return copied
  }
}

/** Copies text to the clipboard, and shows `message`, or that it failed. */
export async function copyAndSay(page: Page, text: string, message: string, more?: string): Promise<void> {
  if (await copyText(text)) page.say(message, more)
  else page.say('Couldn’t copy.', 'The browser only allows it right after a click. Click again.')
}

/** Copies a command line of ssh. A long one is not shown: it would fill the screen. */
export function copySshLine(page: Page, command: string): Promise<void> {
  const shorter = 'Switch on the SSH config in Settings, Other tools, to use a short name instead.'
  return copyAndSay(page, command, 'SSH command copied.', command.length > 60 ? shorter : command)
}

/** Downloads a text as a file of that name. */
export function saveText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
