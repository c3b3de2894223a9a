import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { openPage } from '#test/berth/browser.ts'
import { openBrowser } from '#test/berth/chromium.ts'
import { test } from '#test/berth/pages.ts'
import type { Start } from '#test/berth/start.ts'
import { connectAccount, rentRunning, rentWithJupyter } from '#test/e2e/account-steps.ts'

/** Berth in its own browser, with two instances that run Jupyter: one that Berth rented, and another. */
async function openTwo(start: Start, switches: readonly string[] = []) {
  const browser = await openBrowser(switches)
  start.atEnd(() => browser.close())
  const sim = await start.simulator()
  const id = await rentRunning(sim, { runtype: 'jupyter' })
  const berth = await start.berth()
  const { page } = await openPage(browser, berth.address)
  await connectAccount(page, sim)
  const own = await rentWithJupyter(page, 'RTX 4090')
  const other = page.getByRole('row', { name: new RegExp(`#${id}`) })
  const openJupyter = async (row: Locator) => {
    // Behind another, a page draws once a second.
    await page.bringToFront()
    const opening = page.context().waitForEvent('page')
    await row.getByRole('button', { name: 'Jupyter' }).click()
    return opening
  }
  return { page, own, other, openJupyter }
}

/** The cookies that the server gets with a page's own request. */
async function cookiesSent(page: Page, load: () => unknown = () => page.goto(page.url())): Promise<string> {
  const asking = page.waitForRequest(request => request.isNavigationRequest())
  await load()
  return (await (await asking).allHeaders())['cookie'] ?? ''
}

const jupyterText = 'A real instance shows its notebooks here.'

test('instances and Berth don’t share cookies, even when one sets too many', async ({ start }) => {
  const { page, own, other, openJupyter } = await openTwo(start)
  const [first, second] = [await openJupyter(own), await openJupyter(other)]
  for (const tab of [first, second]) await tab.getByText(jupyterText).waitFor()

  // Each page sends only the cookie that its server set.
  const ownCookie = /^jupyter-\d+=[0-9a-f]+$/
  const [ofFirst, ofSecond] = [await cookiesSent(first), await cookiesSent(second)]
  expect([ofFirst, ofSecond]).toEqual([expect.stringMatching(ownCookie), expect.stringMatching(ownCookie)])
  expect(ofFirst).not.toBe(ofSecond)
  expect(await cookiesSent(page, () => page.reload())).toBe('')

  await first.evaluate(() => {
    for (const domain of ['', '; domain=localhost', '; domain=127.0.0.1'])
      for (let at = 0; at < 150; at++)
        Object.assign(document, { cookie: `c${at}=${'x'.repeat(4000)}; path=/; max-age=3600${domain}` })
  })
  // A browser stores a script's cookies with a delay.
  await expect.poll(() => first.evaluate(() => document.cookie.length)).toBeGreaterThan(500_000)
  // The first page may only harm itself.
  const alone = () => first.goto(first.url()).catch(() => undefined)
  expect((await cookiesSent(first, alone)).length).toBeGreaterThan(500_000)
  expect(await cookiesSent(second)).toBe(ofSecond)
  await second.getByText(jupyterText).waitFor()
  expect(await cookiesSent(page, () => page.reload())).toBe('')
  await page.getByRole('table', { name: 'Instances' }).waitFor()
})

test('a browser without *.localhost opens pages at 127.0.0.1 if the user asks', async ({ start }) => {
  const switches = ['--host-resolver-rules=MAP i*.localhost ~NOTFOUND']
  const { page, own, other, openJupyter } = await openTwo(start, switches)
  const failing = await openJupyter(own)
  await expect.poll(() => failing.url()).toMatch(/^chrome-error:/)
  await page.bringToFront()
  const told = page.getByText(/^Jupyter waits for your browser at i\d+-[0-9a-f]+\.localhost:\d+\./)
  await told.waitFor()
  expect(await told.innerText()).toMatch(/share cookies that scripts can read\.$/)
  const opening = page.context().waitForEvent('page')
  const line = page.getByRole('row').filter({ has: told })
  await line.getByRole('button', { name: 'Open at 127.0.0.1' }).click()
  const first = await opening
  await first.getByText(jupyterText).waitFor()
  expect(new URL(first.url())).toMatchObject({ hostname: '127.0.0.1', pathname: '/lab' })
  await first.reload()
  await first.getByText(jupyterText).waitFor()
  await told.waitFor({ state: 'detached' })

  // The next one begins there, and neither page leads into the other.
  const second = await openJupyter(other)
  await second.getByText(jupyterText).waitFor()
  await second.evaluate(url => location.assign(url), first.url())
  await second.getByText('Open the page from Berth.').waitFor()

  await page.bringToFront()
  await other.getByRole('link').first().click()
  await page.getByRole('tab', { name: 'Details' }).click()
  await page.getByText(/^Pages open at 127\.0\.0\.1, as chosen in Settings\./).waitFor()
})
