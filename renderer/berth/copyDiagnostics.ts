import { copyAndSay } from './clipboard.ts'
import type { Page } from './page.svelte.ts'

/** Puts what helps to find a fault on the clipboard, and says what is in it. */
export async function copyDiagnostics(page: Page): Promise<void> {
  const text = await page.attempt(page.berth.diagnostics({}))
  if (text === undefined) return
  await copyAndSay(
    page,
    text,
    'Diagnostics copied.',
    'Versions, settings and recent errors. No keys, names or addresses are in it.',
  )
}
