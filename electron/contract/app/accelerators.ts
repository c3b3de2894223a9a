/** The keys that work anywhere in Berth, as Electron writes them: the menus show them, and the page and its palette. */
export const accelerators = {
  palette: 'CmdOrCtrl+K',
  instances: 'CmdOrCtrl+1',
  offers: 'CmdOrCtrl+2',
  templates: 'CmdOrCtrl+3',
  transfers: 'CmdOrCtrl+4',
  activity: 'CmdOrCtrl+5',
  spending: 'CmdOrCtrl+6',
  hosting: 'CmdOrCtrl+7',
  account: 'CmdOrCtrl+8',
  settings: 'CmdOrCtrl+,',
} as const
export type AcceleratorName = keyof typeof accelerators

type Platform = 'linux' | 'darwin' | 'win32'

/** As people read it: `⌘ K` on a Mac, `Ctrl K` elsewhere. */
export function acceleratorWords(name: AcceleratorName, platform: Platform): string {
  const mac = platform === 'darwin'
  return accelerators[name]
    .split('+')
    .map(part => (part === 'CmdOrCtrl' ? (mac ? '⌘' : 'Ctrl') : part))
    .join(' ')
}

/** The parts of a key event that tell which accelerator it is. */
export interface Pressed {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  shiftKey: boolean
  altKey: boolean
}

/** Which accelerator was pressed, if any. Ctrl counts on a Mac too, where a shell in the terminal does not want it. */
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
