import { expect, onTestFinished, test } from 'vitest'
import { parseBaseUrl } from '../../../electron/service/base-url.ts'
import { createClient } from '../../../electron/service/client.ts'
import { publicProfile } from '../../../simulator/deployment/profile.ts'
import { startSimulator } from '../../../simulator/simulator.ts'
import { HurriedClock } from '../../unit/service/virtual-clock.ts'

/** Seconds between two looks, as Berth is set when it is new, and for how long it looks. */
const INTERVAL = 15
const MINUTES = 10

test.each(['text', 'text-threshold', 'detail', 'msg', 'html'] as const)(
  'sixty instances are seen at every look for ten minutes, hardly ever too often (%s)',
  async refusal => {
    // One clock for the service's limits and for the client, which never waits by the wall.
    const clock = new HurriedClock()
    const profile = { ...publicProfile, refusal }
    const sim = await startSimulator({
      ...{ seed: 5, speed: 0, offers: 200, calm: true },
      ...{ deployment: profile, limitClock: () => clock.now() },
    })
    onTestFinished(() => sim.close())
    const client = createClient({ baseUrl: parseBaseUrl(sim.baseUrl), key: sim.apiKey, clock })
    const offers = await client.offers.search({ limit: 60 })
    for (const { id } of offers) {
      await clock.sleep(5000)
      await client.offers.createInstance(id, { image: 'a', disk: 8 })
    }
    const before = sim.controls.requests().length
    for (let at = 0; at < MINUTES * 60; at += INTERVAL) {
      const begun = clock.now()
      const [list, user] = await Promise.all([client.instances.list(), client.account.currentUser()])
      expect(list.instances).toHaveLength(60)
      expect(list.cutShort).toBeUndefined()
      expect(user.id).toBe(sim.userId)
      await clock.sleep(Math.max(0, INTERVAL * 1000 - (clock.now() - begun)))
    }
    const answers = sim.controls.requests().slice(before)
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.length).toBeGreaterThanOrEqual(4 * ((MINUTES * 60) / INTERVAL))
    expect(refused.length / answers.length).toBeLessThan(0.05)
  },
)
