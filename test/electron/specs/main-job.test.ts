import { expect, test } from 'vitest'
import { useDesk } from '../desk.ts'
import { doTheJob } from './job.ts'

const desk = useDesk()

test('an empty Home opens the demo; a GPU is rented, used and destroyed', async () => {
  const berth = await desk.start('--speed', '60')
  const page = await berth.page()
  await page.getByText('This is the demo market. Nothing here costs money.').waitFor()
  await doTheJob(page)
  expect(berth.errors).toEqual([])
})
