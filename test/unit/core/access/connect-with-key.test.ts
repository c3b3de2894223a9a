import { expect, test } from 'vitest'
import { createEnter } from '#core/access/connect-with-key.ts'
import type { ServiceClient } from '#service/client.ts'
import { BerthError } from '#shared/problem.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { instanceView } from '#test/unit/views.ts'

const refused = new BerthError({ code: 'key_refused', message: 'The key was refused.' })
const instance = instanceView({ id: 7, ssh: { direct: { host: '127.0.0.1', port: 22 } } })

/** Enters a machine that takes the key from the so manieth try on. */
function entering(takenFrom: number) {
  const clock = new HandClock()
  let [tries, attachings] = [0, 0]
  const enter = createEnter({
    clock,
    keyName: () => 'berth',
    async attachKey() {
      attachings += 1
    },
    onHostKey: () => expect.unreachable(),
  })
  const use = async () => {
    tries += 1
    if (tries < takenFrom) throw refused
    return 'in'
  }
  return {
    clock,
    counts: () => ({ tries, attachings }),
    async come(): Promise<unknown> {
      const coming = enter({ account: 'a00000001', instance, client: {} as ServiceClient }, use).catch(
        error => error.problem,
      )
      await clock.pass(7000)
      return coming
    },
  }
}

test('a key is attached where it is refused, and tried again until it is installed', async () => {
  const { come, counts } = entering(4)
  expect(await come()).toBe('in')
  expect(counts()).toEqual({ tries: 4, attachings: 1 })
})

test('a key that stays refused is tried once each time, until it may be attached again', async () => {
  const { clock, come, counts } = entering(Number.POSITIVE_INFINITY)
  for (let time = 0; time < 5; time++) expect(await come()).toMatchObject({ code: 'key_refused' })
  expect(counts()).toEqual({ tries: 5 + 4, attachings: 1 })
  await clock.pass(120_000)
  await come()
  expect(counts().attachings).toBe(2)
})
