import type { MenuItemConstructorOptions } from 'electron'
import { expect, test } from 'vitest'
import { appMenu, type MenuAction } from '#desktop/app-menu.ts'
import { defaultShortcuts } from '#shared/accelerators.ts'

function flat(items: readonly MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return items.flatMap(item => [item, ...(Array.isArray(item.submenu) ? flat(item.submenu) : [])])
}

const menuOf = (
  platform: NodeJS.Platform,
  packaged = true,
  act: (action: MenuAction) => void = () => undefined,
) => flat(appMenu({ platform, packaged, shortcuts: defaultShortcuts, act }))
const roles = (platform: NodeJS.Platform, packaged = true) =>
  menuOf(platform, packaged).flatMap(({ role }) => role ?? [])

test('each platform has the menu roles expected there', () => {
  const both = ['quit', 'close', 'copy', 'paste', 'selectAll', 'about']
  const mac = ['services', 'hide', 'hideOthers', 'unhide', 'windowMenu', 'zoomIn', 'togglefullscreen', 'help']
  expect(roles('darwin')).toEqual(expect.arrayContaining([...both, ...mac]))
  expect(roles('linux')).toEqual(expect.arrayContaining(both))
  expect(roles('linux')).not.toContain('services')
  expect(menuOf('darwin')[0]?.label).toBe('Berth')
})

test('a release has no developer tools or reload', () => {
  expect(roles('linux')).not.toContain('toggleDevTools')
  expect(roles('linux', false)).toContain('toggleDevTools')
  for (const role of ['reload', 'forceReload']) expect(roles('linux', false)).not.toContain(role)
})

test('every accelerator of the page is shown in the menu but not registered there', () => {
  const { maximise: _, show: __, ...ofPage } = defaultShortcuts
  const shown = menuOf('linux').filter(({ registerAccelerator }) => registerAccelerator === false)
  expect(shown.map(({ accelerator }) => accelerator).sort()).toEqual(Object.values(ofPage).sort())
})

test('Settings, Keyboard shortcuts and Refresh work', () => {
  const done: MenuAction[] = []
  const click = (label: string) =>
    menuOf('linux', true, action => done.push(action))
      .find(item => item.label === label)
      ?.click?.({} as never, undefined, {} as never)
  click('Settings')
  click('Keyboard shortcuts')
  click('Refresh')
  expect(done).toMatchObject([
    { kind: 'go', place: { screen: 'settings' } },
    { kind: 'go', place: { screen: 'here', ask: 'shortcuts' } },
    { kind: 'command', name: 'refresh' },
  ])
})
