import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MainMessage } from '#contract/messages.ts'
import type { Problem } from '#shared/problem.ts'
import { everyFile, problemOf, rentRunning } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { type Detour, startDetour } from '#test/e2e/detour.ts'
import { nastyHosts } from '#test/hostile/hosts.ts'

let world: World
let detour: Detour
let host: string | undefined
const launched: (readonly string[])[] = []

beforeEach(async () => {
  world = await createWorld()
  detour = await startDetour(world.sim.baseUrl, 22, () => host)
  world.platform.programs = {
    find: async name => `/usr/bin/${name}`,
    // What runs to its end is ssh, asked which options it knows.
    launch: async (program, args, how) => {
      if (!how?.untilEnd) launched.push([program, ...args])
    },
  }
})
afterEach(async () => {
  await world.close()
  await detour.close()
})

/** The refusal that a page gets. */
async function refusalOnPage({ berth }: BerthUnderTest, name: string, args: object): Promise<Problem> {
  return new Promise((resolve, reject) => {
    const page = berth.connectPage((message: MainMessage) => {
      if (!('call' in message)) return true
      page.close()
      if (message.kind === 'refusal') resolve(message.problem)
      else reject(new Error(`${name} was answered`))
      return true
    })
    page.receive({ kind: 'command', call: 1, name, args })
  })
}

test('every connection rejects invalid hosts and starts nothing', async () => {
  expect(nastyHosts.length).toBeGreaterThan(55)
  const under = await world.startConnected(detour.baseUrl)
  const { id: instance } = await rentRunning(under)
  await under.run('changeSettings', { settings: { sshConfig: true, pollInterval: 300 } })
  const config = async () => (await world.platform.files.read('ssh/config')) ?? ''
  await expect.poll(config).toContain(`Host berth-${instance}`)

  // Blanks around a host are trimmed, so those that are valid then are left out.
  for (const nasty of nastyHosts.filter(host => host.trim() !== 'example.com')) {
    host = nasty
    await under.run('refresh', {})
    const view = under.account().instances[instance]
    const told = `of ${JSON.stringify(nasty.slice(0, 60))}`
    expect(view?.ssh?.direct ?? view?.ssh?.proxy, told).toBeUndefined()
    const args = { instance }
    const ways: [string, Promise<Problem>][] = [
      ['openTerminal', refusalOnPage(under, 'openTerminal', { ...args, columns: 80, rows: 24 })],
      ...(['listFiles', 'sshCommand', 'openSystemTerminal', 'openJupyter', 'openEditor'] as const).map(
        name => [name, problemOf(under.berth.dispatch(name, args))] as [string, Promise<Problem>],
      ),
    ]
    for (const [way, refusal] of ways) {
      const { code, message, field } = await refusal
      // A blank host counts as none, so that the instance may be refused as not running.
      const wanted = nasty.trim() === '' ? ['not_running', 'bad_address'] : ['bad_address']
      expect(wanted, `${way} ${told}`).toContain(code)
      if (way !== 'openEditor' && nasty.trim() !== '') expect(field, `${way} ${told}`).toBe('ssh_host')
      if (nasty.trim().length > 4) expect(message, way).not.toContain(nasty)
    }
    await expect.poll(config, { message: told }).not.toContain(`Host berth-${instance}`)
  }
  expect(launched).toEqual([])
  const kept = [...(await everyFile(world)).values()].join('\n')
  expect(kept).not.toMatch(/ProxyCommand|\/etc\/passwd/)

  host = undefined
  await under.run('refresh', {})
  await expect.poll(config).toContain(`Host berth-${instance}`)
  expect(await under.run('sshCommand', { instance })).toBe(`ssh berth-${instance}`)
})
