import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { openDbusNotifier } from '#platform/dbus-notifier.ts'
import type { Notice, Notifier } from '#platform/platform.ts'
import { startNotificationService } from '#test/electron/notification-service.ts'
import { startSession, type TestSession } from './session-bus.ts'
import { startDisplay, type TestDisplay } from './x-display.ts'

let display: TestDisplay
let session: TestSession
let notifier: Notifier
let dunst: ChildProcess
const log: string[] = []
const slow = { timeout: 150_000 }

/** The notifications dunst showed, in order: it calls a script for each, replacements too. */
async function shown(): Promise<
  { app: string; summary: string; body: string; urgency: string; id: string }[]
> {
  const text = await readFile(join(session.home, 'shown'), 'utf8').catch(() => '')
  return text
    .split('\x1e')
    .filter(record => record !== '')
    .map(record => {
      const [app = '', summary = '', body = '', urgency = '', id = ''] = record.split('\x1f')
      return { app, summary, body, urgency, id }
    })
}

async function startDunst() {
  const started = session.start('dunst', ['-config', join(session.home, 'dunstrc')])
  await vi.waitFor(async () => {
    const names = await session.run('dbus-send', [
      '--session',
      '--print-reply',
      '--dest=org.freedesktop.DBus',
      '/',
      'org.freedesktop.DBus.ListNames',
    ])
    expect(names.output).toContain('org.freedesktop.Notifications')
  }, 45_000)
  return started
}

beforeAll(async () => {
  display = await startDisplay()
  session = await startSession({ DISPLAY: display.name })
  const hook = join(session.home, 'hook.sh')
  const record = `printf '%s\\037%s\\037%s\\037%s\\037%s\\036' "$1" "$2" "$3" "$5" "$DUNST_ID" >> "$HOME/shown"`
  await writeFile(hook, `#!/bin/sh\n${record}\n`)
  await chmod(hook, 0o755)
  // Stands in for dmenu: picks the action for each call of `dunstctl context`.
  const pick = join(session.home, 'pick.sh')
  await writeFile(pick, '#!/bin/sh\ngrep "$(cat "$HOME/wanted")" | head -n 1\n')
  await chmod(pick, 0o755)
  const config = `[global]\n markup = full\n dmenu = ${pick}\n[all]\n script = ${hook}\n`
  await writeFile(join(session.home, 'dunstrc'), config)
  dunst = await startDunst()
  notifier = await openDbusNotifier(session.env, line => log.push(line))
})
afterAll(async () => {
  await session.end()
  await display.end()
})

const notice = (changes: Partial<Notice> = {}): Notice => ({
  id: 'low-credit',
  title: 'Credit is low',
  body: 'It lasts 2 h 10 min.',
  urgency: 'critical',
  actions: [],
  ...changes,
})

test('a notice is shown by the desktop, once, with its urgency', async () => {
  expect(notifier.available).toBe(true)
  await notifier.show(notice())
  await expect
    .poll(shown, slow)
    .toMatchObject([
      { app: 'Berth', summary: 'Credit is low', body: 'It lasts 2 h 10 min.', urgency: 'CRITICAL' },
    ])
})

test('markup in a notice is escaped and shown as text', async () => {
  await notifier.show(
    notice({ id: 'hostile', title: '<b>x</b> & y', body: '<img src="http://evil/"> & <b>bold</b>' }),
  )
  await expect
    .poll(async () => (await shown()).at(-1)?.body, slow)
    .toBe('&lt;img src="http://evil/"&gt; &amp; &lt;b&gt;bold&lt;/b&gt;')
})

test('a later notice with the same id takes the place of the earlier one', async () => {
  await Promise.all([
    notifier.show(notice({ id: 'outbid', title: 'first' })),
    notifier.show(notice({ id: 'outbid', title: 'second' })),
  ])
  // The recording scripts may overtake each other.
  const recorded = async (summary: string) =>
    (await shown()).find(notification => notification.summary === summary)
  await expect.poll(() => recorded('first'), slow).toBeDefined()
  await expect.poll(() => recorded('second'), slow).toMatchObject({ id: (await recorded('first'))?.id })
})

test('a click reports the notice and the button, or no button for the body', async () => {
  const clicks: unknown[] = []
  notifier.onClick((id, action) => clicks.push([id, action]))
  await session.run('dunstctl', ['close-all'])
  const actions = [
    { id: 'raise_bid', label: 'Raise bid' },
    { id: 'show', label: 'Show' },
  ]
  await writeFile(join(session.home, 'wanted'), 'Raise bid')
  await notifier.show(notice({ id: 'outbid-4711', title: 'Outbid', actions }))
  await expect.poll(async () => (await shown()).at(-1)?.summary, slow).toBe('Outbid')
  await session.run('dunstctl', ['context'])
  await expect.poll(() => clicks, slow).toEqual([['outbid-4711', 'raise_bid']])

  await writeFile(join(session.home, 'wanted'), 'Open Berth')
  await notifier.show(notice({ id: 'outbid-4712', title: 'Outbid again' }))
  await session.run('dunstctl', ['context'])
  await expect.poll(() => clicks.at(-1), slow).toEqual(['outbid-4712', undefined])
})

test('notices are still shown after the notification service restarts', async () => {
  await session.run('dunstctl', ['close-all'])
  dunst.kill('SIGKILL')
  await once(dunst, 'exit')
  dunst = await startDunst()
  await notifier.show(notice({ id: 'low-credit', title: 'after the restart' }))
  await expect.poll(async () => (await shown()).at(-1)?.summary, slow).toBe('after the restart')
})

test('without a notification service or a bus, notifications are unavailable', async () => {
  const empty = await startSession()
  try {
    const none = await openDbusNotifier(empty.env, line => log.push(line))
    expect(none.available).toBe(false)
    await none.show(notice())
  } finally {
    await empty.end()
  }
  expect((await openDbusNotifier({}, () => undefined)).available).toBe(false)
  const wrong = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/at/all' }
  expect((await openDbusNotifier(wrong, () => undefined)).available).toBe(false)
})

test('a click that comes together with the number of its notice counts', async () => {
  const other = await startSession({})
  onTestFinished(() => other.end())
  const service = await startNotificationService(
    other.env['DBUS_SESSION_BUS_ADDRESS'] ?? '',
    ['actions'],
    true,
  )
  onTestFinished(service.end)
  const clicked: string[] = []
  const quick = await openDbusNotifier(other.env, line => log.push(line))
  quick.onClick(id => clicked.push(id))
  await quick.show(notice())
  await expect.poll(() => clicked).toEqual(['low-credit'])
})

test('a service that counts anew closes and clicks nothing of Berth’s by an old number', async () => {
  const other = await startSession({})
  onTestFinished(() => other.end())
  const address = other.env['DBUS_SESSION_BUS_ADDRESS'] ?? ''
  const clicked: string[] = []
  const first = await startNotificationService(address)
  const notifier = await openDbusNotifier(other.env, line => log.push(line))
  notifier.onClick(id => clicked.push(id))
  await notifier.show(notice({ id: 'old' }))
  first.end()

  const second = await startNotificationService(address)
  onTestFinished(second.end)
  const theirs = await openDbusNotifier(other.env, line => log.push(line))
  await theirs.show(notice({ title: 'Mail' }))
  second.click(0)
  await notifier.close('old')
  // Heard after the click, so that this was heard before.
  await notifier.show(notice({ id: 'new' }))
  second.click(1)
  await expect.poll(() => clicked).toContain('new')
  expect(clicked).toEqual(['new'])
  expect(second.closed).toEqual([])
})
