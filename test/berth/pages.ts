import { test as base, expect } from 'vitest'
import { openBrowser, pagesOnly } from './chromium.ts'
import { starter } from './start.ts'

/** A test that shares one Chromium per worker, and ends what it started. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const browser = await openBrowser([], pagesOnly)
    onCleanup(() => browser.close())
    return browser
  })
  .extend('start', async ({ browser, task }, { onCleanup }) => {
    const { start, endAll, errors, tellAll } = starter(browser)
    onCleanup(async () => {
      const isFailed = task.result?.state === 'fail'
      if (isFailed) await tellAll()
      // A page still tries to reach a Berth that the test has killed.
      const found = errors().filter(error => !error.includes('ERR_CONNECTION_REFUSED'))
      await endAll()
      if (!isFailed) expect(found, 'errors of pages').toEqual([])
    })
    return start
  })
  .extend('startForFile', { scope: 'file' }, async ({ browser }, { onCleanup }) => {
    const { start, endAll } = starter(browser)
    onCleanup(endAll)
    return start
  })
