import { expect, test } from 'vitest'
import { requestLike } from '#core/renting/replacement.ts'
import { withWatchdogScript } from '#core/watchdogs/rental-script.ts'
import type { Instance } from '#service/instances.ts'
import { describedCapabilities, publicCapabilities } from '#shared/account/capabilities.ts'
import type { Limit } from '#shared/automation/limit.ts'
import { type RentRequest, watchdogFrom } from '#shared/market/rent-request.ts'
import { requestInScript } from '#ssh/watchdog/start-script.ts'
import { instanceView } from '#test/unit/views.ts'

const now = 5000
const limits = [
  { when: { kind: 'duration', seconds: 3600 }, action: 'destroy', asleep: true, missed: 'act' },
] as unknown as Limit[]

const scripted = (onstart: string, capabilities = publicCapabilities, given = limits) =>
  withWatchdogScript({ onstart } as RentRequest, { baseUrl: 'https://service', capabilities }, now, {
    limits: given,
  })

test('a rental brings a watchdog, a short one where scripts must be short, none where it has no room', async () => {
  const own = `#!/bin/sh\n${'x'.repeat(1500)}`
  for (const capabilities of [publicCapabilities, describedCapabilities]) {
    const { onstart = '' } = await scripted(own, capabilities)
    expect(onstart.length).toBeLessThanOrEqual(capabilities.longestStartScript)
    expect(onstart).toMatch(/^#!\/bin\/sh\n# >>> berth watchdog\n/)
    expect(onstart).toMatch(/x{1500}$/)
    expect(requestInScript(onstart)).toMatchObject({ action: 'destroy', at: now + 3600 })
    // One that is rented like it begins without: its time would be another machine's.
    expect(requestLike(instanceView(), { id: 1, onstart } as Instance).onstart).toBe(own)
  }
  for (const [length, isThere] of [
    [1600, true],
    [4000, false],
  ] as const) {
    const long = 'x'.repeat(length)
    expect(requestInScript((await scripted(long)).onstart) !== undefined).toBe(isThere)
    expect(watchdogFrom({ access: 'ssh', onstart: long }, publicCapabilities)).toBe(
      isThere ? 'start' : 'connected',
    )
  }
  // A template whose script isn't known, one that no shell runs, and a machine that runs none.
  for (const [request, from] of [
    [{ access: 'ssh', template: 'a template' }, 'connected'],
    [{ access: 'jupyter', template: 'a template', onstart: '' }, 'start'],
    [{ access: 'ssh', onstart: '#!/usr/bin/env python3\nprint(1)' }, 'connected'],
    [{ access: 'ssh', onstart: '#! /usr/bin/env -S bash -e\ntrue' }, 'start'],
    [{ access: 'none' }, 'never'],
  ] as const) {
    expect(watchdogFrom(request, publicCapabilities)).toBe(from)
    const account = { baseUrl: 'https://service', capabilities: publicCapabilities }
    const sent = await withWatchdogScript(request as unknown as RentRequest, account, now, { limits })
    expect(requestInScript(sent.onstart) !== undefined).toBe(from === 'start')
  }
  // The short one knows no load.
  const idle = [{ ...limits[0], when: { kind: 'idle', seconds: 600, below: 5 } }] as Limit[]
  expect(await scripted(own, publicCapabilities, idle)).toEqual({ onstart: own })
  expect(requestInScript((await scripted(own, describedCapabilities, idle)).onstart)?.idle?.seconds).toBe(600)
})
