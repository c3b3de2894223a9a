import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestSession } from '../integration/platform/session-bus.ts'

/** XFCE's window manager, settings, notification service and panel, in a session with a screen. */
export interface Xfce {
  /** Runs a program in the session; gives its output. */
  run(program: string, ...args: string[]): Promise<string>
  /** Sets a property of a channel of XFCE's settings: an `int`, a `uint` or a `string`. */
  set(channel: string, path: string, ...values: string[]): Promise<void>
  chooseTheme(name: string): Promise<void>
  startPanel(): ChildProcess
}

/**
 * Starts all but the panel, which it sets up with a list of windows on the left and a tray on the right. `theme` is one
 * of GTK's, for the window manager and notifications, too.
 */
export async function startXfce(session: TestSession, theme = 'Adwaita'): Promise<Xfce> {
  session.env['XDG_CURRENT_DESKTOP'] = 'XFCE'
  session.start(inLibraries('xfconf/xfconfd'), [])

  async function set(channel: string, path: string, ...values: string[]): Promise<void> {
    const args = ['-c', channel, '--create', '-p', path, ...values]
    // Again until the settings answer.
    while ((await session.run('xfconf-query', args)).code !== 0) await pause(100)
  }
  const chooseTheme = (name: string) => set('xsettings', '/Net/ThemeName', '-t', 'string', '-s', name)
  await chooseTheme(theme)
  session.start('xfsettingsd', ['--no-daemon'])
  // The others ask it for the theme as they start.
  while (!(await session.run('xdotool', ['search', '--class', 'xfsettingsd'])).output) await pause(100)
  session.start('xfwm4', ['--compositor=off'])
  session.start(inLibraries('notifyd/xfce4-notifyd'), [])
  const panel = (path: string, ...values: string[]) => set('xfce4-panel', path, ...values)
  const integer = (value: string) => ['-t', 'int', '-s', value]
  await panel('/panels', ...integer('1'), '-a')
  await panel('/panels/panel-1/position', '-t', 'string', '-s', 'p=6;x=0;y=0')
  await panel('/panels/panel-1/length', '-t', 'uint', '-s', '100')
  await panel('/panels/panel-1/position-locked', '-t', 'bool', '-s', 'true')
  await panel('/panels/panel-1/plugin-ids', ...['1', '2', '3'].flatMap(integer), '-a')
  await panel('/plugins/plugin-1', '-t', 'string', '-s', 'tasklist')
  await panel('/plugins/plugin-2', '-t', 'string', '-s', 'separator')
  await panel('/plugins/plugin-2/expand', '-t', 'bool', '-s', 'true')
  await panel('/plugins/plugin-2/style', '-t', 'uint', '-s', '0')
  await panel('/plugins/plugin-3', '-t', 'string', '-s', 'systray')
  return {
    run: async (program, ...args) => (await session.run(program, args)).output,
    set,
    chooseTheme,
    startPanel: () => session.start('xfce4-panel', ['--disable-wm-check']),
  }
}

/** A program that Debian keeps outside of PATH. */
function inLibraries(path: string): string {
  const folders = readdirSync('/usr/lib').map(name => `/usr/lib/${name}/xfce4/${path}`)
  return folders.find(existsSync) ?? path
}
