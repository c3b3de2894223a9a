/** The keys that work on every screen, in Electron's notation: for menus, page and palette. */
export const accelerators = {
  palette: 'CmdOrCtrl+K',
  home: 'CmdOrCtrl+1',
  instances: 'CmdOrCtrl+2',
  offers: 'CmdOrCtrl+3',
  projects: 'CmdOrCtrl+4',
  templates: 'CmdOrCtrl+5',
  transfers: 'CmdOrCtrl+6',
  activity: 'CmdOrCtrl+7',
  spending: 'CmdOrCtrl+8',
  hosting: 'CmdOrCtrl+9',
  settings: 'CmdOrCtrl+,',
} as const
export type AcceleratorName = keyof typeof accelerators

/** Toggles whether an open instance's details fill the screen. */
export const maximiseKeys = 'CmdOrCtrl+Shift+M'

type Platform = 'linux' | 'darwin' | 'win32'

/** A shortcut's text: `⌘ K` on a Mac, `Ctrl K` elsewhere. */
export function acceleratorWords(name: AcceleratorName, platform: Platform): string {
  return keysWords(accelerators[name], platform)
}

/** The same for any keys. */
export function keysWords(keys: string, platform: Platform): string {
  const mac = platform === 'darwin'
  return keys
    .split('+')
    .map(part => (part === 'CmdOrCtrl' ? (mac ? '⌘' : 'Ctrl') : part))
    .join(' ')
}

/** The parts of a key event that identify an accelerator. */
export interface Pressed {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  shiftKey: boolean
  altKey: boolean
}

/** The accelerator that was pressed, if any. Ctrl counts on a Mac too, unless a shell in the terminal needs it. */
export function acceleratorOf({
  key,
  ctrlKey,
  metaKey,
  shiftKey,
  altKey,
}: Pressed): AcceleratorName | undefined {
  if (altKey || shiftKey || !(ctrlKey || metaKey)) return undefined
  const written = `CmdOrCtrl+${key.toUpperCase()}`
  const found = Object.entries(accelerators).find(([, accelerator]) => accelerator === written)
  return found?.[0] as AcceleratorName | undefined
}

/** Whether `maximiseKeys` were pressed. */
export function isMaximise({ key, ctrlKey, metaKey, shiftKey, altKey }: Pressed): boolean {
  return (ctrlKey || metaKey) && shiftKey && !altKey && key.toUpperCase() === 'M'
}
