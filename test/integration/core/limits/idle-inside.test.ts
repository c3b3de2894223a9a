import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { wire } from '#service/http/wire.ts'
import { rentRunning } from '#test/berth/steps.ts'
import { createWorld } from '#test/berth/world.ts'

/** Removes the GPU load from a service's answers. */
function withoutLoads(service: string): () => void {
  const plain = wire.send
  wire.send = async request => {
    const answer = await plain(request)
    if (!request.url.startsWith(service) || !request.url.includes('/instances/')) return answer
    const told = (await text(answer.body)).replaceAll(/"gpu_util":[^,}]+,/g, '')
    return { ...answer, body: Readable.from([Buffer.from(told)]) }
  }
  return () => {
    wire.send = plain
  }
}

test('an idle limit reads the GPU load over SSH where the service omits it, and acts', async ({
  onTestFinished,
}) => {
  const world = await createWorld()
  onTestFinished(() => world.close())
  world.sim.controls.setCredit(1000)
  onTestFinished(withoutLoads(world.sim.baseUrl))
  const under = await world.startConnected()
  const { id, gpuLoad } = await rentRunning(under)
  expect(gpuLoad).toBeUndefined()
  const when = { kind: 'idle' as const, below: 100, seconds: 120 }
  const preview = await under.run('previewLimit', { instance: id, when, action: 'stop' })
  // It was read for the preview, so there is nothing to doubt.
  expect(preview.doubt).toBeUndefined()
  await under.run('setLimit', { instance: id, when, action: 'stop', warning: 0, missed: 'act' })
  await under.until(() => under.account().instances[id]?.state === 'stopped')
  expect(Object.values(under.account().limits)[0]?.history.at(-1)?.text).toMatch(/^Stopped .*below 100%/)
})
