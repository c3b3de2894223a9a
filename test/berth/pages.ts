import { test as base } from 'vitest'
import { openBrowser, pagesOnly } from './browser.ts'
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
    const { start, endAll, tellAll } = starter(browser)
    onCleanup(async () => {
      if (task.result?.state === 'fail') await tellAll()
      await endAll()
    })
    return start
  })
  .extend('startForFile', { scope: 'file' }, async ({ browser }, { onCleanup }) => {
    const { start, endAll } = starter(browser)
    onCleanup(endAll)
    return start
  })
