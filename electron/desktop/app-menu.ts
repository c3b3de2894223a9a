import type { MenuItemConstructorOptions } from 'electron'
import type { CommandName } from '#contract/commands.ts'
import type { AcceleratorName, Shortcuts } from '#shared/accelerators.ts'
import type { Place } from '#shared/state.ts'

/** What one of Berth's own menu entries does. */
export type MenuAction =
  | { kind: 'go'; place: Place }
  /** `what` completes "Could not …" on failure. */
  | { kind: 'command'; name: CommandName; args: unknown; what: string }

export interface AppMenuOptions {
  platform: NodeJS.Platform
  /** Packaged apps have no developer tools. */
  packaged: boolean
  /** The keys that are shown. */
  shortcuts: Shortcuts
  act: (action: MenuAction) => void
}

type Item = MenuItemConstructorOptions
const line: Item = { type: 'separator' }

/** The application menu: each platform's usual roles, and Berth's own screens. */
export function appMenu({ platform, packaged, shortcuts, act }: AppMenuOptions): Item[] {
  const mac = platform === 'darwin'
  const own = (label: string, action: MenuAction, key?: AcceleratorName): Item => ({
    label,
    // The page handles these keys itself, and leaves the terminal those that a shell needs.
    ...(key && shortcuts[key] !== '' && { accelerator: shortcuts[key], registerAccelerator: false }),
    click: () => act(action),
  })
  const to = (label: string, place: Place, key?: AcceleratorName) => own(label, { kind: 'go', place }, key)
  const settings = to(mac ? 'Settings…' : 'Settings', { screen: 'settings' }, 'settings')
  const connect = to('Connect an account…', { screen: 'here', ask: 'connect' })

  return [
    ...(mac
      ? [
          menu('Berth', [
            { role: 'about' },
            line,
            settings,
            line,
            { role: 'services' },
            line,
            { role: 'hide' },
            { role: 'hideOthers' },
            { role: 'unhide' },
            line,
            { role: 'quit' },
          ]),
        ]
      : []),
    menu('File', [
      connect,
      ...(mac ? [] : [settings]),
      line,
      { role: 'close' },
      ...(mac ? [] : [line, { role: 'quit', label: 'Quit Berth', accelerator: 'Ctrl+Q' } satisfies Item]),
    ]),
    menu('Edit', [
      { role: 'undo' },
      { role: 'redo' },
      line,
      { role: 'cut' },
      { role: 'copy' },
      { role: 'paste' },
      { role: 'delete' },
      { role: 'selectAll' },
    ]),
    menu('View', [
      to('Commands…', { screen: 'here', ask: 'palette' }, 'palette'),
      own('Refresh', {
        kind: 'command',
        name: 'refresh',
        args: {},
        what: 'refresh the account',
      }),
      line,
      { role: 'resetZoom' },
      { role: 'zoomIn' },
      { role: 'zoomOut' },
      line,
      { role: 'togglefullscreen' },
      ...(packaged ? [] : [line, { role: 'toggleDevTools' } satisfies Item]),
    ]),
    menu('Go', [
      to('Home', { screen: 'home' }, 'home'),
      to('Instances', { screen: 'instances' }, 'instances'),
      to('Offers', { screen: 'offers' }, 'offers'),
      to('Projects', { screen: 'projects' }, 'projects'),
      to('Templates', { screen: 'templates' }, 'templates'),
      to('Transfers', { screen: 'transfers' }, 'transfers'),
      to('Activity', { screen: 'activity' }, 'activity'),
      to('Spending', { screen: 'spending' }, 'spending'),
      to('Hosting', { screen: 'hosting' }, 'hosting'),
      to('Account', { screen: 'account' }),
    ]),
    mac ? { role: 'windowMenu' } : menu('Window', [{ role: 'minimize' }, { role: 'togglefullscreen' }]),
    {
      ...menu('Help', [
        to('Keyboard shortcuts', { screen: 'here', ask: 'shortcuts' }),
        ...(mac ? [] : [line, { role: 'about' } satisfies Item]),
      ]),
      role: 'help',
    },
  ]
}

function menu(label: string, submenu: Item[]): Item {
  return { label, submenu }
}
