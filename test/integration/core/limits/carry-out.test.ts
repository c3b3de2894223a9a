import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { wire } from '#service/http/http-request.ts'
import { instancesOf, rentalsOf, rentCheapest, rentRunning, setLimit } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'
import { retriesRequest } from '../renting/request.ts'

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
  connected,
  onTestFinished,
}) => {
  const { world, under } = await connected()
  onTestFinished(withoutLoads(world.sim.baseUrl))
  const { id, gpuLoad } = await rentRunning(under)
  expect(gpuLoad).toBeUndefined()
  const when = { kind: 'idle' as const, below: 100, seconds: 120 }
  const preview = await under.run('previewLimit', { instance: id, when, action: 'stop' })
  // It was read for the preview, so there is nothing to doubt.
  expect(preview.doubt).toBeUndefined()
  await setLimit(under, { instance: id, when })
  await under.until(() => under.account().instances[id]?.state === 'stopped')
  const last = () => Object.values(under.account().limits)[0]?.history.at(-1)?.text
  await expect.poll(last).toMatch(/^Stopped .*below 100%/)
})

test('stop everything stops instances, cancels rentals and lists what failed', async ({ connected }) => {
  const { world, under } = await connected()
  const first = await rentRunning(under)
  const second = await rentRunning(under)
  await rentCheapest(under)
  await under.until(() => rentalsOf(under)[0]?.instance !== undefined)

  const path = `/instances/${second.id}/$`
  world.sim.controls.setFaults([{ method: 'PUT', path, kind: 'status', status: 400, times: 1 }])
  const { stopped, cancelled, failed } = await under.run('stopEverything', {})
  expect({ stopped, cancelled }).toEqual({ stopped: 1, cancelled: 1 })
  expect(failed).toEqual([expect.stringContaining(`#${second.id}`)])
  // The instance of the cancelled rental is destroyed meanwhile, and may run until then.
  await under.until(() => rentalsOf(under).length === 0 && instancesOf(under).length === 2)
  expect(await under.run('stopEverything', {})).toMatchObject({ stopped: 1, failed: [] })
  await under.until(() => instancesOf(under).every(({ state }) => state === 'stopped'))
  expect(new Set(instancesOf(under).map(({ id }) => id))).toEqual(new Set([first.id, second.id]))
})

test('stop everything pauses the watches that rent, not those that only alert', async ({ connected }) => {
  const { under } = await connected()
  const { search, request, limits } = retriesRequest()
  const watch = { name: 'Nothing matches', search: { ...search, filter: { priceTo: 0.000001 } }, every: 1 }
  const tells = await under.run('saveWatch', { request: watch })
  const rents = await under.run('saveWatch', {
    request: { ...watch, rents: { request, limits: { ...limits, price: 1 }, most: 1 } },
  })
  await under.run('stopEverything', {})
  expect(under.account().watches).toMatchObject({ [tells]: { paused: false }, [rents]: { paused: true } })
})
