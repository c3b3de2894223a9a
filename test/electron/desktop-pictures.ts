import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Service } from '../berth/browser.ts'
import { Berth } from '../berth/electron.ts'
import { rentRunning } from '../e2e/account-steps.ts'
import { startSession } from '../integration/platform/session-bus.ts'
import { startDisplay } from '../integration/platform/x-display.ts'
import { iconsOfDesktop } from './panel.ts'
import { user } from './program.ts'
import { startXfce } from './xfce.ts'

/**
 * Takes a picture of a whole XFCE desktop with Berth's window, the tray's menu and a notification with its buttons, into
 * that PNG. Needs Debian's imagemagick.
 */
export async function takeDesktop(sim: Service, look: 'light' | 'dark', file: string): Promise<void> {
  const { theme, ground } = looks[look]
  const display = await startDisplay('1440x900')
  const session = await startSession({ DISPLAY: display.name }, user)
  const bus = session.env['DBUS_SESSION_BUS_ADDRESS'] ?? ''
  const { icons, end } = iconsOfDesktop(bus)
  try {
    writeTheme(session.home)
    const xfce = await startXfce(session, theme)
    await xfce.set('xsettings', '/Net/IconThemeName', '-t', 'string', '-s', 'Adwaita')
    const notifications = (path: string, ...values: string[]) => xfce.set('xfce4-notifyd', path, ...values)
    await notifications('/notify-location', '-t', 'uint', '-s', '3')
    await notifications('/theme', '-t', 'string', '-s', 'Default')
    await notifications('/initial-opacity', '-t', 'double', '-s', '1')
    await xfce.run('display', '-window', 'root', '-size', '1440x900', `xc:${ground}`)
    xfce.startPanel()
    const notificationShown = () => xfce.run('xdotool', 'search', '--onlyvisible', '--class', 'notifyd')
    const env = { ...session.env, BERTH_HOME: join(session.home, 'berth'), TMPDIR: session.home }
    const berth = await Berth.start({ env, flags: [] })
    try {
      await berth.command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
      const instance = await rentRunning(sim, { price: 0.2, label: 'night-train' })
      const page = await berth.page()
      await page.getByRole('link', { name: 'Instances' }).click()
      await page.getByText('night-train').first().waitFor()
      for (const [label, hours] of [
        ['comfy', 3],
        ['eval', 8],
      ] as const)
        await limit(sim, berth, label, hours)
      await berth.closeToTray()
      // Those of the account's first poll and the hint that Berth stays in the tray: a click closes each.
      while (!(await notificationShown())) await pause(200)
      for (let shown = await notificationShown(); shown; shown = await notificationShown())
        await xfce.run('xdotool', 'mousemove', '--window', shown.split('\n')[0] ?? '', '8', '8', 'click', '1')
      await sim.control('POST', '/sim/outbid', { instance_id: instance })
      while (!(await notificationShown())) await pause(200)
      await icons.click()
      await berth.shown()
      const window = ['search', '--onlyvisible', '--name', ' – Berth$']
      await xfce.run('xdotool', ...window, 'windowsize', '900', '690', 'windowmove', '20', '52')
      // The icon, at the end of the panel on top.
      await xfce.run('xdotool', 'mousemove', '1420', '14', 'click', '3')
      await pause(2000)
      execFileSync('import', ['-display', display.name, '-window', 'root', file], { env: session.env })
    } finally {
      await berth.stop()
    }
  } finally {
    end()
    await session.end()
    await display.end()
  }
}

/** Lets a limit stop the instance of that name after so many hours. */
async function limit(sim: Service, berth: Berth, label: string, hours: number): Promise<void> {
  const { instances } = await sim.api<{ instances: { id: number; label: string }[] }>(
    'GET',
    '/api/v0/instances/',
  )
  const instance = instances.find(one => one.label === label)?.id
  const when = { kind: 'duration', seconds: hours * 3600 }
  await berth.command('setLimit', { instance, when, action: 'stop', warning: 900, missed: 'act' })
}

/** GTK has the dark theme in it; by its name it is found only in a folder of themes. */
function writeTheme(home: string): void {
  const folder = join(home, '.themes/Adwaita-dark/gtk-3.0')
  mkdirSync(folder, { recursive: true })
  const css = 'resource:///org/gtk/libgtk/theme/Adwaita/gtk-contained-dark.css'
  writeFileSync(join(folder, 'gtk.css'), `@import url("${css}");\n`)
}

/** GTK's theme, and the colour behind the windows. */
const looks = {
  light: { theme: 'Adwaita', ground: '#a9c3bd' },
  dark: { theme: 'Adwaita-dark', ground: '#20322f' },
}
