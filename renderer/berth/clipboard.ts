import type { Page } from './page.svelte.ts'

/**
 * Puts text on the clipboard, also where the page may not use the clipboard's own interface. Whether it is there:
 * browsers want a click that is not long past, and what had to be asked for first may come too late.
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

/** Puts text on the clipboard and says `said`, or that it did not get there. */
export async function copyAndSay(page: Page, text: string, said: string, more?: string): Promise<void> {
  if (await copyText(text)) page.say(said, more)
  else page.say('Nothing was copied.', 'The browser allows it only right after a click: click once more.')
}
