import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '#simulator/simulator.ts'
import { problemOf, rentRunning } from '#test/berth/steps.ts'
import { createWorld, type World } from '#test/berth/world.ts'

/** Of both worlds: with it an instance's host key is the same. */
const seed = 44
let world: World
/** Another service whose instance has the same host key, as with images that contain one. */
let twin: Simulator

beforeEach(async () => {
  world = await createWorld({ seed })
  twin = await startSimulator({ port: 0, seed, speed: 60, offers: 200, calm: true })
})
afterEach(async () => {
  await twin.close()
  await world.close()
})

test('a host key known from another account is asked about once, with both names', async () => {
  const under = await world.startConnected()
  const home = under.account().id
  await under.run('renameAccount', { account: home, name: 'Home' })
  const first = await rentRunning(under, { label: 'train' })
  await under.run('listFiles', { instance: first.id })

  await under.run('connectAccount', { baseUrl: twin.baseUrl, key: twin.apiKey, name: 'Work' })
  await under.until(() => under.account().connection.status === 'online')
  const work = under.account().id
  const second = await rentRunning(under, { label: 'render' })
  const enter = () => under.run('listFiles', { account: work, instance: second.id })
  const asked = await problemOf(enter())
  expect(asked).toMatchObject({ code: 'host_key_known_elsewhere' })
  expect(asked.message).toContain(`render #${second.id} of Work`)
  expect(asked.message).toContain(`train #${first.id} of Home`)
  expect(await problemOf(enter())).toEqual(asked)
  const told = Object.values(under.berth.state().activity).filter(({ text }) => text === asked.message)
  expect(told).toMatchObject([{ account: work, instance: second.id, kind: 'error' }])

  const fingerprint = asked.facts?.['offered'] ?? ''
  await under.run('acceptHostKey', { account: work, instance: second.id, fingerprint })
  expect(await enter()).toMatchObject({ path: expect.stringMatching(/^\//) })
  // Each account's service knows only the key that Berth made for it.
  const keyOf = async (account: string) => {
    await under.run('showAccount', { account })
    return (await under.run('sshKeys', {})).find(({ name }) => name === 'berth')?.fingerprint
  }
  expect(await keyOf(home)).not.toBe(await keyOf(work))
})
