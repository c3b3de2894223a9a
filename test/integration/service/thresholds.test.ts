import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FullClient } from '#service/client.ts'
import { profileNames, profiles } from '../profiles.ts'
import { type Connected, connect, failure } from './connected.ts'

/** How many of several calls at once are answered: thresholds of section 8 allow bursts, intervals do not. */
const passing = {
  interface: (threshold: number) => Math.max(1, Math.floor(threshold)),
  public: () => 1,
}

/** Only the interface's refusal names the threshold. */
const named = {
  interface: (threshold: string) => ({ detail: expect.stringContaining(`threshold=${threshold}`) }),
  public: () => ({}),
}

const copy = { src_id: '1', src_path: '/a', dst_id: '2', dst_path: '/b' }

describe.each(profileNames)('limits of the %s', name => {
  /** Its client does not wait, so that it hits every threshold of section 8. */
  let service: Connected
  let client: FullClient
  beforeAll(async () => {
    service = await connect({ limits: true, deployment: profiles[name] })
    client = service.client
  })
  afterAll(() => service.simulator.close())

  test.each<[endpoint: string, threshold: string, call: () => Promise<unknown>]>([
    ['a change of bid', '5.5', () => client.instances.changeBid(1, 1)],
    ['a clean-up', '8.0', () => client.machines.cleanup(1)],
    ['a new key', '2.0', () => client.apiKeys.create({ name: 'a' })],
    ['the list of keys', '1.0', () => client.apiKeys.list()],
    ['a copy', '3.5', () => client.transfers.copy(copy)],
    ['the end of a copy', '3.5', () => client.transfers.cancelCopy(1)],
  ])(
    '%s over its threshold of %s is refused, and the error says when to try again',
    async (_, threshold, call) => {
      const answers = await Promise.allSettled(Array.from({ length: 40 }, call))
      const limited = answers.flatMap(answer =>
        answer.status === 'rejected' && answer.reason.status === 429 ? [answer.reason] : [],
      )
      expect(limited.length).toBeGreaterThan(0)
      expect(limited.length).toBeLessThanOrEqual(40 - passing[name](Number(threshold)))
      expect(limited[0]).toMatchObject(
        failure('rate_limited', 429, {
          ...named[name](threshold),
          retryAfter: expect.any(Number),
        }),
      )
    },
  )
})
