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

/** Copies text to the clipboard, and shows `said`, or that it failed. */
export async function copyAndSay(page: Page, text: string, said: string, more?: string): Promise<void> {
  if (await copyText(text)) page.say(said, more)
  else page.say('Nothing was copied.', 'The browser allows it only right after a click: click once more.')
}
