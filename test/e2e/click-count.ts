import type { Page } from 'playwright-core'

/** Counts the page's clicks by mouse from now on; those by keyboard have no `detail`. Gives how many there were. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const { dataset } = document.documentElement
    const counts = dataset['clicks'] !== undefined
    dataset['clicks'] = '0'
    if (counts) return
    addEventListener(
      'click',
      ({ detail }) => {
        if (detail > 0) dataset['clicks'] = String(Number(dataset['clicks']) + 1)
      },
      { capture: true },
    )
  })
  return () => page.evaluate(() => Number(document.documentElement.dataset['clicks']))
}
