import { expect, test } from 'vitest'
import { startsAtLogin } from '#machine/autostart.ts'

test.each([
  ['win32', true, true, true],
  ['win32', true, false, false],
  ['win32', false, true, false],
  ['darwin', true, false, true],
  ['darwin', false, false, false],
] as const)(
  'what Windows’ Task Manager switched off is off (%s, %s, %s)',
  (platform, openAtLogin, will, on) => {
    expect(startsAtLogin({ openAtLogin, executableWillLaunchAtLogin: will }, platform)).toBe(on)
  },
)
