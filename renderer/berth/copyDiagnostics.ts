import { copyAndSay } from './clipboard.ts'
import type { Page } from './page.svelte.ts'

/** Copies diagnostics for a bug report to the clipboard, and shows what is in them. */
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
