import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { answeredDialogs } from '#test/berth/machine.ts'
import { createWorld } from '#test/berth/world.ts'
import { agreedRun, jobOf, write } from '../core/projects/place.ts'

test('a simulated machine tries a failing command again, as a real one does', async () => {
  const world = await createWorld({ speed: 60 })
  onTestFinished(() => world.close())
  const folder = join(world.platform.home, 'code', 'again')
  write(folder, { 'berth.yaml': 'run: exit 137\nretry: { times: 1, on: [137] }\nresults: out\n' })
  world.platform.fileDialogs = answeredDialogs({ chooseTarget: () => world.platform.downloads.at(folder) })
  const under = await world.startConnected()
  const id = await agreedRun(under, (await under.run('addProject', {})) ?? '')
  await under.until(() => jobOf(under, id)?.step === 'failed', 120_000)
  expect(jobOf(under, id)).toMatchObject({ code: 137, retried: { times: 1, code: 137 } })
})
