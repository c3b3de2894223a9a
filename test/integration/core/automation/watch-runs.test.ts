import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { WatchRequest } from '#shared/automation/watch.ts'
import { everCreated } from '#test/berth/steps.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { openInside } from './inside.ts'
import { plainRun } from './run-steps.ts'

const request: WatchRequest = {
  name: 'Bargains',
  search: {
    query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 100 },
    filter: {},
    order: { column: 'price', descending: false },
  },
  every: 1,
  rents: {
    request: { image: 'pytorch/pytorch', access: 'ssh', disk: 20, env: [], ports: [] },
    limits: { attempts: 3, ceiling: 5, deadline: 3600 },
    most: 1,
  },
}

describe.skipIf(noSshd)(`a watch${noSshd}`, () => {
  test('runs a command on the instance it rents, across a restart, and then stops it', async () => {
    const { world, under, home, restart } = await openInside()
    const command = 'touch "$HOME/trained"'
    const run = { ...plainRun, name: 'train', command, afterwards: 'stop' as const }
    const before = everCreated(world)
    const id = await under.run('saveWatch', { request, run })
    await under.until(() => Object.values(under.account().runs).length > 0)
    await under.until(() => everCreated(world) > before)
    await under.close()

    const again = await restart()
    const only = () => Object.values(again.account().runs)[0]
    expect(only()).toMatchObject({ name: 'train', step: 'waiting' })
    expect(again.account().watches[id]).toMatchObject({ run: { name: 'train', command, afterwards: 'stop' } })
    expect(existsSync(join(home, 'trained'))).toBe(false)
    await world.sim.controls.advance(900)
    await again.until(() => only()?.step === 'done')
    expect(existsSync(join(home, 'trained'))).toBe(true)
    const { instance = 0 } = only() ?? {}
    await again.until(() => again.account().instances[instance]?.state === 'stopped')
    expect(only()).toMatchObject({ code: 0, finalAction: 'stop' })
    expect([everCreated(world), again.account().watches[id]?.rented]).toEqual([before + 1, 1])
    await expect
      .poll(() =>
        Object.values(again.berth.state().activity).some(({ detail }) =>
          detail?.includes('It will run “train”'),
        ),
      )
      .toBe(true)
  })
})
