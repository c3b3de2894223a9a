import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Service } from '../berth/browser.ts'
import { Berth } from '../berth/electron.ts'
import { rentRunning } from '../e2e/account-steps.ts'
import { startSession } from '../integration/machine/session-bus.ts'
import { startDisplay } from '../integration/machine/x-display.ts'
import { iconsOfDesktop } from './panel.ts'
import { user } from './program.ts'
import { startXfce } from './xfce.ts'

/**
 * Takes a picture of a whole XFCE desktop with Berth's window, the tray's menu and a notification with its buttons, into
 * that PNG. Needs Debian's imagemagick, and gnome-themes-extra for the dark one.
 */
export async function takeDesktop(sim: Service, theme: string, file: string): Promise<void> {
  const display = await startDisplay()
  const session = await startSession({ DISPLAY: display.name }, user)
  const bus = session.env['DBUS_SESSION_BUS_ADDRESS'] ?? ''
  const { icons, end } = iconsOfDesktop(bus)
  try {
    const xfce = await startXfce(session)
    await xfce.chooseTheme(theme)
    await xfce.set('xsettings', '/Net/IconThemeName', '-t', 'string', '-s', 'Adwaita')
    const notifications = (path: string, ...values: string[]) => xfce.set('xfce4-notifyd', path, ...values)
    await notifications('/notify-location', '-t', 'uint', '-s', '3')
    await notifications('/theme', '-t', 'string', '-s', 'Default')
    await notifications('/initial-opacity', '-t', 'double', '-s', '1')
    xfce.startPanel()
    const env = { ...session.env, BERTH_HOME: join(session.home, 'berth'), TMPDIR: session.home }
    const berth = await Berth.start({ env, flags: [] })
    try {
      await berth.command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
      const instance = await rentRunning(sim, { price: 0.2, label: 'night-train' })
      const page = await berth.page()
      await page.getByRole('link', { name: 'Instances' }).click()
      await page.getByText('night-train').first().waitFor()
      await berth.closeToTray()
      await sim.control('POST', '/sim/outbid', { instance_id: instance })
      while (!(await xfce.run('xdotool', 'search', '--onlyvisible', '--class', 'notifyd'))) await pause(200)
      await icons.click()
      await berth.shown()
      // The icon, at the end of the panel on top.
      await xfce.run('xdotool', 'mousemove', '1258', '14', 'click', '3')
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
