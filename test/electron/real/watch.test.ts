import { afterEach, expect, test } from 'vitest'
import { startSession } from '../../integration/local/session-bus.ts'
import { startTrayWatcher } from '../../integration/local/tray-watcher.ts'
import { startUnderDouble, type UnderDouble } from '../start-under-double.ts'
import { bundleWatch } from './bundle-watch.ts'
import type { Watch } from './watch.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** Starts Berth under the double and adds the watch once it runs, as for a package. */
async function startWatched(): Promise<{ berth: UnderDouble; ask: AskWatch }> {
  const session = await startSession()
  endings.push(() => session.end())
  const watcher = await startTrayWatcher(session.env['DBUS_SESSION_BUS_ADDRESS'] ?? '')
  endings.push(() => watcher.end())
  const berth = await startUnderDouble(
    {
      ...session.env,
      BERTH_HOME: session.home,
      TMPDIR: session.home,
    },
    ['--demo'],
  )
  endings.push(async () => {
    berth.kill()
    await berth.ended
  })
  await expect.poll(() => berth.ask('windows'), { timeout: 60_000 }).toMatchObject([{ visible: true }])
  await berth.ask('evaluate', await bundleWatch())
  const ask: AskWatch = (name, ...args) =>
    berth.ask('evaluate', `return berthWatch.${name}(...${JSON.stringify(args)})`) as Promise<never>
  return { berth, ask }
}
type AskWatch = <Name extends keyof Watch>(
  name: Name,
  ...args: Parameters<Watch[Name]>
) => Promise<Awaited<ReturnType<Watch[Name]>>>

test('a watch added late sees the tray from its next menu on, notifications and handlers', async () => {
  const { berth, ask } = await startWatched()
  const give = (call: number, name: string, args: object) =>
    berth.ask('post', { kind: 'command', call, name, args })
  await give(1, 'pausePolling', { minutes: 60 })
  await expect.poll(() => ask('trayMenu')).toContainEqual(expect.objectContaining({ enabled: false }))
  expect(await ask('trayMenu')).toEqual((await berth.ask('tray'))?.menu)
  await give(2, 'resumePolling', {})
  const labels = async () => ((await ask('trayMenu')) ?? []).map(({ label }) => label)
  await expect.poll(labels).toContain('Pause polling for an hour')
  await ask('forgetNotifications')

  expect(await ask('windowVisible')).toBe(true)
  await ask('closeWindow')
  expect(await ask('windowVisible')).toBe(false)
  await ask('clickMenu', ['Open Berth'])
  await expect.poll(() => ask('windowVisible')).toBe(true)
  await ask('closeWindow')

  await ask('clickMenu', ['Make something happen', 'The credit runs low'])
  const told = async () => (await ask('notifications')).map(({ title }) => title)
  await expect.poll(told, { timeout: 60_000 }).toEqual([expect.stringContaining('of credit left')])
  await ask('clickNotification', 0)
  await expect.poll(() => ask('windowVisible')).toBe(true)

  expect(await ask('navigates', 'will-navigate', 'https://example.com/')).toBe(false)
  expect(await ask('navigates', 'will-navigate', 'app://berth/index.html')).toBe(true)
  expect(await ask('attachesWebview', 'https://example.com/')).toBe(false)
  // These handlers were set before the watch; in a package only the page tests them.
  expect(await ask('opens', 'https://example.com/')).toBeUndefined()
  expect(await ask('grants', 'clipboard-sanitized-write', 'app://berth/index.html')).toBe(false)
})
