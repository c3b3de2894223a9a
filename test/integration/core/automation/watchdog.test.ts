import { execSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { LimitAction, LimitWhen } from '#shared/automation/limit.ts'
import type { WatchdogView } from '#shared/automation/watchdog.ts'
import { accountNow } from '#shared/derived.ts'
import { watchdogStartScript } from '#ssh/watchdog/start-script.ts'
import { relayForm } from '#test/berth/relays.ts'
import { codeOf, everyFile } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld } from '#test/berth/world.ts'
import { sshd } from '#test/integration/ssh/own-root.ts'
import { lacks } from '#test/needs.ts'
import { ownPublicKey } from '#test/own-public-key.ts'
import { openInside } from './inside.ts'

const lacking = lacks(sshd, 'curl')

const patient = { timeout: 150_000, interval: 100 }

describe.skipIf(lacking)(`a watchdog that Berth puts into an instance${lacking}`, () => {
  const viewOf = (under: BerthUnderTest, instance: number): WatchdogView | undefined =>
    under.account().watchdogs[instance]
  /** Sets a limit that also counts while this computer sleeps; `limit`: the one to replace. Answers its id. */
  const watch = (
    under: BerthUnderTest,
    instance: number,
    when: LimitWhen,
    more: { action?: LimitAction; limit?: string } = {},
  ) =>
    under.run('setLimit', {
      instance,
      when,
      action: 'stop',
      asleep: true,
      warning: 0,
      missed: 'act',
      ...more,
    })

  test('is installed, restarted, changed and removed without leftovers', async () => {
    const { world, under, instance, home, intended, restart } = await openInside()
    const onstart = join(home, 'onstart.sh')
    writeFileSync(onstart, '#!/bin/bash\nexec sleep infinity\n')
    const folder = join(home, '.berth', 'watchdog')
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')

    const form = relayForm({ kind: 'slack', fromInstances: true })
    await under.run('addRelay', { form, address: 'https://hooks.example/T0/only-sends' })
    const away = await watch(under, instance, { kind: 'away', seconds: 60 })
    expect(viewOf(under, instance)).toMatchObject({
      step: 'watching',
      foreign: false,
      request: { action: 'stop', lease: 60 },
      report: { comesBack: true, key: 'kept' },
    })
    // It has the instance's own key and not the user's.
    const ownKey = await world.keychain.get(`${under.account().id} instance ${instance}`)
    expect(read('key').trim()).toBe(ownKey)
    for (const name of ['key', 'config', 'log', 'state', 'watchdog.sh', 'lease'])
      expect(read(name)).not.toContain(world.sim.apiKey)
    expect(read('tell')).toMatch(/^https:\/\/hooks\.example\/T0\/only-sends\n\{.*@TEXT@.*\}\n$/)
    await under.run('removeRelay', { relay: Object.keys(under.berth.state().relays)[0] ?? '' })
    await under.run('checkWatchdog', { instance })
    expect(existsSync(join(folder, 'tell'))).toBe(false)
    const kept = [...(await everyFile(world))].filter(([name]) => !name.startsWith(home))
    expect(kept.filter(([, text]) => ownKey && text.includes(ownKey))).toEqual([])

    // It follows its limits: a snooze moves its time, and switching off removes the time.
    const now = accountNow(under.account().clock, Date.now())
    const limit = await watch(under, instance, { kind: 'time', at: Math.ceil(now + 7200) })
    expect(viewOf(under, instance)?.request).toEqual({ action: 'stop', lease: 60, at: Math.ceil(now + 7200) })
    await under.run('snoozeLimit', { limit, minutes: 60 })
    const told = async (request: object) =>
      vi.waitFor(() => expect(viewOf(under, instance)).toMatchObject({ step: 'watching', request }), patient)
    await told({ lease: 60, at: Math.ceil(now + 10_800) })
    expect(read('config')).toContain(String(Math.ceil(now + 10_800)))
    await under.run('switchLimit', { limit, on: false })
    await told({ lease: 60 })
    expect(viewOf(under, instance)?.request.at).toBeUndefined()

    // An end that it has seen alone is none.
    writeFileSync(join(folder, 'done'), `${Math.ceil(now)} destroy time\n`)
    const lease = read('lease')
    await under.run('checkWatchdog', { instance })
    expect(read('lease')).not.toBe(lease)
    expect(viewOf(under, instance)?.report?.did).toMatchObject({ action: 'destroy' })
    await under.poll(1)
    const titles = () => world.notifier.shown.map(({ title }) => title).join()
    expect(viewOf(under, instance)?.lastAction).toBeUndefined()
    expect(titles()).not.toContain('its watchdog')

    // An image whose tools can't verify the service's certificate, behind a proxy that refuses curl.
    const tools = ['curl', 'wget', 'python3'].map(tool => join(world.platform.home, 'bin', tool))
    for (const tool of tools) writeFileSync(tool, '#!/bin/sh\nexit 77\n', { mode: 0o755 })
    const refused = 'HTTP/1.1 403 Forbidden\\n\\ncurl: (56) CONNECT tunnel failed, response 403\\n'
    writeFileSync(tools[0] ?? '', `#!/bin/sh\nprintf '${refused}'\nexit 56\n`)
    const unreached = await watch(under, instance, { kind: 'time', at: Math.ceil(now + 7200) })
    await vi.waitFor(() => expect(titles()).toContain('There’s no watchdog on'), patient)
    expect(viewOf(under, instance)).toMatchObject({
      step: 'putting',
      problem: { code: 'no_service_there' },
    })
    writeFileSync(tools[0] ?? '', `#!/bin/sh\nprintf 'HTTP/1.1 404 No\n\n{"error":"auth_error"}\n'\n`)
    const codeOfVisit = () => viewOf(under, instance)?.problem?.code
    await vi.waitFor(() => expect(codeOfVisit()).toBe('instance_key_refused'), patient)
    for (const tool of tools) rmSync(tool)
    await under.until(() => viewOf(under, instance)?.step === 'watching')
    await under.run('switchLimit', { limit: unreached, on: false })
    await told({ lease: 60 })

    // The start script starts it before the command that never ends, and only once.
    expect(readFileSync(onstart, 'utf8')).toMatch(/^#!\/bin\/bash\n# >>> berth watchdog\n[\s\S]*exec sleep/)
    const first = read('pid')
    process.kill(Number(first), 'SIGKILL')
    const hook = readFileSync(onstart, 'utf8').split('\n')[2] ?? ''
    execSync(hook, { shell: '/bin/sh' })
    await vi.waitFor(() => expect(read('pid')).not.toBe(first), patient)
    const pid = read('pid')
    execSync(hook, { shell: '/bin/sh' })
    expect(read('pid')).toBe(pid)

    // A killed watchdog is started again by a visit of a restarted Berth.
    process.kill(Number(pid), 'SIGKILL')
    await under.close()
    const again = await restart()
    await vi.waitFor(() => expect(read('pid')).not.toBe(pid), patient)

    const idle = { kind: 'idle', seconds: 3600, below: 5 } as const
    await expect(watch(again, instance, idle, { action: 'destroy' })).rejects.toMatchObject({
      problem: { code: 'invalid_argument', field: 'asleep' },
    })
    const destroys = await watch(again, instance, idle, { action: 'destroy', limit: away })
    expect(viewOf(again, instance)).toMatchObject({
      step: 'watching',
      request: { action: 'destroy', idle: { seconds: 3600, below: 5 } },
      report: { load: 80 },
    })
    const log = await again.run('watchdogLog', { instance })
    expect(log.at(-1)?.text).toContain(`watching instance ${instance}`)

    const last = Number(read('pid'))
    await again.run('watchLimit', { limit: destroys, asleep: false })
    await again.until(() => viewOf(again, instance) === undefined)
    expect(again.account().limits[destroys]).toMatchObject({ step: 'waiting', asleep: false })
    await expect.poll(() => readdirSync(folder)).toEqual(['removed'])
    expect(readdirSync(join(home, '.berth'))).toEqual(['watchdog'])
    expect(existsSync(`/proc/${last}/cmdline`) && readFileSync(`/proc/${last}/cmdline`, 'utf8')).toBeFalsy()
    expect(readFileSync(onstart, 'utf8')).toBe('#!/bin/bash\nexec sleep infinity\n')
    expect(await intended()).toBe('running')
  })

  test('stops it once Berth is gone, despite failed requests, and the next Berth says so', async () => {
    const { world, under, instance, home, intended, restart } = await openInside()
    await watch(under, instance, { kind: 'away', seconds: 24 })
    // Berth renews the lease well before it lapses, also where one visit failed.
    const lease = () => readFileSync(join(home, '.berth', 'watchdog', 'lease'), 'utf8')
    for (let renewals = 0; renewals < 2; renewals += 1) {
      const before = lease()
      const seen = () => ({
        lease: lease(),
        watchdog: viewOf(under, instance),
        state: under.account().instances[instance]?.state,
        clock: under.account().clock,
      })
      await vi.waitFor(() => expect(seen()).not.toMatchObject({ lease: before }), patient)
    }
    expect(await intended()).toBe('running')

    world.sim.controls.setFaults([{ method: 'PUT', path: '/instances/', kind: 'reset', times: 2 }])
    await under.close()
    // Shorter only now and than Berth would have it, since a busy machine might let it lapse.
    const config = join(home, '.berth', 'watchdog', 'config')
    writeFileSync(config, readFileSync(config, 'utf8').replace('lease=24', 'lease=1'))
    await vi.waitFor(async () => expect(await intended()).toBe('stopped'), patient)
    // The service has acted before the script has its answer.
    const log = () => readFileSync(join(home, '.berth', 'watchdog', 'log'), 'utf8')
    const attempts = /try 1 with \w+: no answer; again in 2 s\n.*try 2 .*no answer.*\n.*try 3 with \w+: done/
    await vi.waitFor(() => expect(log()).toMatch(attempts), patient)

    // Berth knows of the longer lease alone, which has lapsed by then.
    await world.sim.controls.advance(24)
    const again = await restart()
    await again.until(() =>
      world.notifier.shown.some(({ title }) => title.includes('stopped by its watchdog')),
    )
    expect(viewOf(again, instance)?.lastAction).toMatchObject({ action: 'stop', why: 'lease' })
  })

  test('is left as it is by another Berth, until that takes it over, which the first one hears', async () => {
    const { world, under, sshd, instance, home, restart } = await openInside()
    const first = await watch(under, instance, { kind: 'away', seconds: 7200 })
    const ownKey = await world.keychain.get(`${under.account().id} instance ${instance}`)
    const { baseUrl } = under.account()
    await under.close()
    const read = () => readFileSync(join(home, '.berth', 'watchdog', 'lease'), 'utf8')
    const lease = read()

    const elsewhere = await createWorld({ offers: 20 })
    onTestFinished(() => elsewhere.close())
    const other = await elsewhere.start()
    await other.run('connectAccount', { baseUrl, key: world.sim.apiKey })
    await other.until(() => other.account().instances[instance]?.state === 'running')
    const [key] = await other.run('sshKeys', {})
    sshd.authorize([key?.publicKey, await ownPublicKey(join(world.platform.home, 'berth'))].join('\n'))
    // A limit that is set without knowing of it is refused.
    const days = accountNow(other.account().clock, Date.now()) + 8 * 86_400
    expect(await codeOf(watch(other, instance, { kind: 'time', at: Math.ceil(days) }))).toBe(
      'others_watchdog',
    )
    expect(other.account().limits).toEqual({})
    // The other checks visit it.
    for (const _ of [1, 2, 3]) await other.run('checkWatchdog', { instance })
    expect(viewOf(other, instance)).toMatchObject({
      step: 'watching',
      foreign: true,
      request: { lease: 7200 },
    })
    expect(read()).toBe(lease)

    // The instance's own key is the first Berth's.
    expect(await codeOf(other.run('adoptWatchdog', { instance }))).toBe('no_instance_key')
    expect(other.account().limits).toEqual({})
    expect(viewOf(other, instance)).toMatchObject({ foreign: true, request: { lease: 7200 } })
    elsewhere.keychain.entries.set(`${other.account().id} instance ${instance}`, ownKey ?? '')
    await other.run('adoptWatchdog', { instance })
    await other.until(() => viewOf(other, instance)?.foreign === false)
    await vi.waitFor(() => expect(read()).not.toBe(lease), patient)
    expect(Object.values(other.account().limits)).toMatchObject([
      { instance, when: { kind: 'away', seconds: 7200 }, action: 'stop', asleep: true },
    ])

    const again = await restart()
    const told = () => world.notifier.shown.map(({ title }) => title).join()
    await vi.waitFor(() => expect(told()).toContain('Another Berth’s watchdog is on'), patient)
    expect(viewOf(again, instance)?.foreign).toBe(true)
    await again.run('removeLimit', { limit: first })
    await again.run('checkWatchdog', { instance })
    expect(viewOf(again, instance)).toMatchObject({ step: 'watching', foreign: true })
    await other.run('checkWatchdog', { instance })
    expect(viewOf(other, instance)).toMatchObject({ step: 'watching', foreign: false })
  })

  test('comes with a start script, to stay only where its limits do, and learns its instance', async () => {
    const { world, under: renting, sshd, instance, home, restart } = await openInside()
    const request = { action: 'stop', idle: { seconds: 3600, below: 5 } } as const
    const onstart = await watchdogStartScript(request, renting.account().baseUrl, 10)
    expect(onstart).not.toContain(world.sim.apiKey)
    expect(onstart.length).toBeLessThan(10_000)
    const script = join(sshd.folder, 'onstart.sh')
    writeFileSync(script, onstart)
    /** The container starts, twice. */
    const begin = () => {
      for (let start = 0; start < 2; start += 1) execSync(`HOME=${home} sh ${script}`)
    }
    begin()
    const folder = join(home, '.berth', 'watchdog')
    // Whoever rented it has taken its limit away since.
    await renting.run('checkWatchdog', { instance })
    await vi.waitFor(() => expect(readdirSync(folder)).toEqual(['removed']), patient)
    await renting.until(() => viewOf(renting, instance) === undefined)
    begin()
    expect(readdirSync(folder)).toEqual(['removed'])
    expect(renting.account().limits).toEqual({})

    // Another Berth, and a container that was made anew.
    await renting.close()
    await world.platform.files.delete(`accounts/${renting.account().id}/rentals.json`)
    rmSync(join(home, '.berth'), { recursive: true })
    begin()
    const under = await restart()
    await vi.waitFor(
      () => expect(readFileSync(join(folder, 'log'), 'utf8')).toContain('watching instance it is on'),
      patient,
    )
    await under.run('checkWatchdog', { instance })
    await under.until(() => viewOf(under, instance)?.step === 'watching')
    expect(viewOf(under, instance)).toMatchObject({ request, foreign: false })
    expect(Object.values(under.account().limits)).toMatchObject([
      { instance, when: { kind: 'idle', ...request.idle }, action: 'stop', asleep: true },
    ])
    const isPlaced = () =>
      existsSync(join(folder, 'config')) &&
      readFileSync(join(folder, 'config'), 'utf8').includes(`instance=${instance}\n`)
    expect(isPlaced()).toBe(true)
    execSync(`kill ${readFileSync(join(folder, 'pid'), 'utf8')}`)
    rmSync(join(home, '.berth'), { recursive: true })
    begin()
    expect(isPlaced()).toBe(false)
    await under.run('checkWatchdog', { instance })
    await vi.waitFor(() => expect(isPlaced()).toBe(true), patient)

    // An image whose home isn't that of a login.
    const image = join(home, 'workspace')
    execSync(`mkdir ${image}; HOME=${image} CONTAINER_ID=C.${instance} sh ${script}`)
    const elsewhere = join(image, '.berth', 'watchdog')
    await vi.waitFor(() => expect(existsSync(join(elsewhere, 'state'))).toBe(true), patient)
    const [limit = ''] = Object.keys(under.account().limits)
    await under.run('switchLimit', { limit, on: false })
    await under.until(() => viewOf(under, instance) === undefined)
    expect(readdirSync(elsewhere)).toEqual(['removed'])
  })

  test.each([
    ['tells none', 'echo "[N/A]"', 'nvidia-smi says “[N/A]”'],
    ['knows one of two', 'echo 0; echo "[N/A]"', 'nvidia-smi says “[N/A]”'],
    ['finds no device', 'echo "No devices were found"; exit 6', 'nvidia-smi says “No devices were found”'],
  ])('that goes by the load is refused where the driver %s', async (_about, script, why) => {
    const { under, instance, home, setNvidiaSmi } = await openInside()
    setNvidiaSmi(script)
    await expect(watch(under, instance, { kind: 'idle', seconds: 3600, below: 5 })).rejects.toMatchObject({
      problem: { code: 'gpu_load_unread', message: `A watchdog can’t tell when it’s idle: ${why}.` },
    })
    // It is removed again in its own visit.
    await under.until(() => viewOf(under, instance) === undefined)
    await expect.poll(() => existsSync(join(home, '.berth', 'watchdog', 'config'))).toBe(false)
  })

  test('is refused without an instance key, and leaves nothing on the instance', async () => {
    const { world, under, instance, home } = await openInside()
    world.keychain.entries.delete(`${under.account().id} instance ${instance}`)
    const set = watch(under, instance, { kind: 'away', seconds: 60 })
    expect(await codeOf(set)).toBe('no_instance_key')
    expect(under.account().limits).toEqual({})
    // It is removed again in its own visit.
    await under.until(() => viewOf(under, instance) === undefined)
    await expect.poll(() => existsSync(join(home, '.berth'))).toBe(false)
  })
})
