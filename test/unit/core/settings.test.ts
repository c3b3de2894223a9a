import * as v from 'valibot'
import { expect, test } from 'vitest'
import { openSettings, readSettings } from '#core/settings.ts'
import { ChangeableSettings, defaultSettings } from '#shared/settings.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'

test('one bad value does not lose the others, even within a group', () => {
  const read = readSettings({
    theme: 'dark',
    pollInterval: 'often',
    alerts: { outbid: false, ready: 'maybe' },
    terminal: { fontSize: 4, program: 'kitty' },
    sshKey: null,
  })
  expect(read).toEqual({
    ...defaultSettings,
    theme: 'dark',
    alerts: { ...defaultSettings.alerts, outbid: false },
    terminal: { ...defaultSettings.terminal, program: 'kitty' },
  })
})

test.each([[null], ['text'], [[]], [7]])('a group that is %j falls back to its defaults', group => {
  expect(readSettings({ alerts: group, terminal: group })).toEqual(defaultSettings)
})

test.each([
  ['mono; color: red'],
  ['x} * { display: none'],
  ['url(http://a.example/)'],
  ['a\\22 b'],
  ['a/*'],
  ['a\nb'],
  ['<b>'],
  ['x'.repeat(201)],
])('a terminal font that is not plain names is refused: %j', fontFamily => {
  expect(
    v.safeParse(ChangeableSettings, { terminal: { ...defaultSettings.terminal, fontFamily } }).success,
  ).toBe(false)
  expect(readSettings({ terminal: { fontFamily } }).terminal.fontFamily).toBe('')
})

test('unknown fields in the file are kept', async () => {
  const files = new MemoryFiles()
  files.texts.set('settings.json', '{"fromTheFuture":{"a":1},"theme":"dark"}')
  const settings = await openSettings(files, new HandClock(), () => undefined)
  expect((await settings.change({ pollInterval: 20 })).theme).toBe('dark')
  expect(JSON.parse(files.texts.get('settings.json') ?? '')).toEqual({
    fromTheFuture: { a: 1 },
    theme: 'dark',
    pollInterval: 20,
  })
})

test('a change that cannot be written is refused and has no effect', async () => {
  const files = new MemoryFiles()
  const settings = await openSettings(files, new HandClock(), () => undefined)
  files.refusing = 'ENOSPC'
  await expect(settings.change({ theme: 'dark' })).rejects.toThrow()
  expect(settings.get().theme).toBe('system')
})

test('two concurrent changes within a group are both kept', async () => {
  const settings = await openSettings(new MemoryFiles(), new HandClock(), () => undefined)
  const asked = [{ from: '23:00' }, { to: '01:00' }].map(quietHours =>
    settings.change(v.parse(ChangeableSettings, { quietHours })),
  )
  await Promise.all(asked)
  expect(settings.get().quietHours).toEqual({ ...defaultSettings.quietHours, from: '23:00', to: '01:00' })
})

test('the page can’t change the terminal program', async () => {
  const files = new MemoryFiles()
  await files.write('settings.json', JSON.stringify({ terminal: { command: ['my-term', '-e', '{ssh}'] } }))
  const settings = await openSettings(files, new HandClock(), () => undefined)
  expect(settings.get().terminal.command).toEqual(['my-term', '-e', '{ssh}'])
  const asked = v.parse(ChangeableSettings, {
    terminal: { ...settings.get().terminal, fontSize: 20, command: ['evil'] },
  })
  const after = await settings.change(asked)
  expect(after.terminal).toMatchObject({ fontSize: 20, command: ['my-term', '-e', '{ssh}'] })
})
