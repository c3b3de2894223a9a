import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { screens } from '#renderer/features/screens.ts'
import { test } from '../berth/pages.ts'
import { openConnected, openPolling } from './account-steps.ts'

/** What stands still while something happens: the boxes of these elements. */
async function boxes(elements: readonly Locator[]) {
  return Promise.all(elements.map(element => element.boundingBox()))
}

const size = { width: 1280, height: 800 }

test('a further filter moves neither the table nor the kind of rental', async ({ start }) => {
  const { page } = await openConnected(start, { page: { viewport: size } })
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.locator('tr[data-offer]').first().waitFor()
  const filters = page.getByRole('group', { name: 'Filters' })
  const still = [
    page.getByRole('table', { name: 'Offers' }).locator('thead'),
    page.getByRole('radiogroup', { name: 'Kind of rental' }),
    page.getByRole('button', { name: 'Save search' }),
  ]
  const before = await boxes(still)
  for (const [name, value] of [
    ['Upload', '0.1'],
    ['CUDA', '11'],
    ['RAM', '8'],
    ['Disk', '10'],
  ] as const) {
    await page.getByRole('button', { name: '+ Filter' }).click()
    await page
      .getByRole('menuitem', { name: new RegExp(`^${name}`) })
      .first()
      .click()
    const field = page.getByRole('textbox', { name: 'At least' })
    await field.fill(value)
    await field.press('Enter')
    await field.waitFor({ state: 'detached' })
    expect(await boxes(still), name).toEqual(before)
  }
  expect(await filters.getByRole('button', { name: 'Reset' }).isVisible()).toBe(true)
})

test('opening Advanced moves neither the dialog nor its button', async ({ start }) => {
  const { page } = await openConnected(start, { page: { viewport: size } })
  await page.getByRole('link', { name: 'Offers' }).click()
  await page
    .getByRole('button', { name: /^Rent \d/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  const rent = dialog.getByRole('button', { name: /^Rent for/ })
  await rent.waitFor()
  const still = [dialog, rent, dialog.getByRole('button', { name: 'Cancel' })]
  const before = await boxes(still)
  await dialog.getByText('Advanced', { exact: true }).click()
  await dialog.getByLabel('Start script').waitFor()
  expect(await boxes(still)).toEqual(before)
})

test('figures that tick and messages that come move nothing beside them', async ({ start }) => {
  const { sim, page, ids } = await openConnected(start, {
    instances: [{ label: 'box' }],
    page: { viewport: size },
  })
  await page.evaluate(to => location.assign(to), `#/instances/${ids[0]}/details`)
  const details = page.getByRole('complementary', { name: /^Details of box/ })
  const header = page.getByRole('banner')
  const still = [
    header.getByRole('button', { name: /^Credit/ }),
    header.getByRole('button', { name: /^Lasts/ }),
    header.getByRole('button', { name: /^Spending/ }),
    details.getByRole('button', { name: /^Stop: box/ }),
    details.getByRole('tablist'),
    page.getByRole('table', { name: 'Instances' }),
  ]
  await still[1]?.waitFor()
  const before = await boxes(still)
  const lasts = await still[1]?.textContent()
  // The credit ticks through figures of other widths.
  for (const credit of [9.4, 31.17]) {
    await sim.control('POST', '/sim/credit', { credit })
    await header.getByText(`$${credit.toFixed(2).slice(0, -1)}`).waitFor()
    expect(await boxes(still)).toEqual(before)
  }
  expect(await still[1]?.textContent()).not.toBe(lasts)
  await details.focus().catch(() => undefined)
  await details.getByRole('heading').first().click()
  await page.keyboard.press('c')
  const toast = page.locator('.toasts .remark')
  await toast.waitFor()
  expect(await boxes(still)).toEqual(before)

  // Nor does a menu move the message beside it.
  const [place] = await boxes([toast])
  await details.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menu').waitFor()
  expect(await boxes([...still, toast])).toEqual([...before, place])
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })

  // Under the mouse it stays for as long as it's read.
  await page.clock.install()
  await page.keyboard.press('c')
  await toast.waitFor()
  await page.mouse.move((place?.x ?? 0) + 20, (place?.y ?? 0) + 20)
  await page.clock.fastForward(60_000)
  expect(await toast.count()).toBe(1)
  await page.mouse.move(0, 0)
  await page.clock.fastForward(60_000)
  await toast.waitFor({ state: 'detached' })
})

/** The elements whose scroll bars are to see at the same right edge, in pixels from the left. */
function barsAtOneEdge(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const bars = [...document.querySelectorAll('body *')].filter(element => {
      const { overflowY, scrollbarWidth } = getComputedStyle(element)
      return (
        (overflowY === 'auto' || overflowY === 'scroll') &&
        scrollbarWidth !== 'none' &&
        element.scrollHeight > element.clientHeight + 1 &&
        element.checkVisibility()
      )
    })
    const edges = bars.map(element => Math.round(element.getBoundingClientRect().right / 24))
    return bars.filter((_, at) => edges.indexOf(edges[at] ?? -1) !== at).map(({ className }) => className)
  })
}

test('no screen has two scroll bars side by side in a small window', async ({ start }) => {
  const { page } = await openConnected(start, {
    instances: [{ label: 'one' }, { label: 'two' }],
    page: { viewport: { width: 720, height: 480 } },
  })
  for (const { label } of screens) {
    await page.getByRole('link', { name: label, exact: true }).click()
    await page.getByRole('heading', { name: label, level: 1 }).waitFor()
    await page.locator('main .screen').waitFor()
    expect(await barsAtOneEdge(page), label).toEqual([])
  }
})

test('no screen asks again for what it shows when the credit changes', async ({ start }) => {
  const { sim, berth, page } = await openConnected(start, { instances: [{ label: 'one' }] })
  const poll = await openPolling(start, berth.address)
  let asked: string[] = []
  page.on('websocket', socket =>
    socket.on('framesent', ({ payload }) => {
      const what = /^\{"kind":"command","call":\d+,(.*)/.exec(String(payload))?.[1]
      if (what) asked.push(what)
    }),
  )
  await page.reload()
  let credit = 20
  const changeCredit = async () => {
    credit += 1
    await sim.control('POST', '/sim/credit', { credit })
    await poll()
    await page.getByRole('banner').getByText(`$${credit}.`).waitFor()
  }
  for (const { label } of screens) {
    await page.getByRole('link', { name: label, exact: true }).click()
    await page.locator('main .screen').waitFor()
    await changeCredit()
    asked = []
    await changeCredit()
    await changeCredit()
    // What it asks for late is asked once. Spending is counted anew at times.
    const again = asked.filter((what, at) => asked.indexOf(what) < at && !what.includes('moneyHistory'))
    expect(again, label).toEqual([])
  }
})

test.for([size, { width: 720, height: 480 }])(
  'long screens stay where they are scrolled to: %j',
  async (viewport, { start }) => {
    const { page } = await openConnected(start, { page: { viewport } })
    for (const label of ['Settings', 'Account']) {
      await page.getByRole('link', { name: label, exact: true }).click()
      const screen = page.getByRole('region', { name: label, exact: true })
      await screen.getByRole('navigation').waitFor()
      const moved = await screen.evaluate(async element => {
        const found: [number, number][] = []
        for (let top = 0; top < element.scrollHeight - element.clientHeight; top += 150) {
          element.scrollTop = top
          const before = element.scrollTop
          for (let frame = 0; frame < 4; frame += 1) await new Promise(requestAnimationFrame)
          if (element.scrollTop !== before) found.push([before, element.scrollTop])
        }
        return found
      })
      expect(moved, label).toEqual([])
    }
  },
)
