import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startUnderDouble } from '../../electron/start-under-double.ts'

test('a released app is sandboxed, without developer tools, and loosens nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-released-'))
  await mkdir(join(folder, 'resources'))
  const berth = await startUnderDouble({
    ...process.env,
    BERTH_HOME: join(folder, 'home'),
    TMPDIR: folder,
    BERTH_DOUBLE_RESOURCES: join(folder, 'resources'),
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  })
  try {
    await expect.poll(() => berth.ask('windows'), { timeout: 45_000 }).toMatchObject([{ visible: true }])
    const [window] = await berth.ask('windows')
    expect(window?.preferences).toMatchObject({ sandbox: true, devTools: false, webviewTag: false })
    const loose = ['allowRunningInsecureContent', 'experimentalFeatures', 'enableBlinkFeatures', 'plugins']
    for (const preference of loose) expect(window?.preferences).not.toHaveProperty(preference)
    const { switches } = await berth.ask('told')
    expect(switches).toContain('enable-sandbox')
    expect(switches.filter(name => /no-sandbox|disable-web-security|remote-debugging/.test(name))).toEqual([])
  } finally {
    berth.kill()
    await berth.ended
    await rm(folder, { recursive: true, force: true, maxRetries: 20 })
  }
})
