import { expect, test } from 'vitest'
import { useDesk } from './berth.ts'
import { doTheJob } from './job.ts'

const desk = useDesk()

test('from an empty home: the demo opens, and a GPU is rented, entered and destroyed, by preload and IPC', async () => {
  const berth = await desk.start('--speed', '60')
  const page = await berth.page()
  await page.getByText('This is the demo market. Nothing here costs money.').waitFor()
  await doTheJob(page)
  expect(berth.errors()).toEqual([])
})
