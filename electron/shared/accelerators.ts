/** The keys that can be changed, as they are first, in Electron's notation: for menus, page and palette. Empty for none. */
export const defaultShortcuts = {
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
  /** Toggles whether an open instance's details fill the screen. */
  maximise: 'CmdOrCtrl+Shift+M',
  /** Shows Berth from any program. */
  show: '',
} as const
export type ShortcutName = keyof typeof defaultShortcuts
export type Shortcuts = Readonly<Record<ShortcutName, string>>
/** Those of the page that lead to a screen or open the palette. */
export type AcceleratorName = Exclude<ShortcutName, 'maximise' | 'show'>

/** What each does, in the order of Settings. */
export const shortcutWords: Readonly<Record<ShortcutName, string>> = {
  show: 'Show Berth from any program',
  palette: 'Every command',
  home: 'Home',
  instances: 'Instances',
  offers: 'Offers',
  projects: 'Projects',
  templates: 'Templates',
  transfers: 'Transfers',
  activity: 'Activity',
  spending: 'Spending',
  hosting: 'Hosting',
  settings: 'Settings',
  maximise: 'Maximise open details',
}

/** Keys with Ctrl or Alt, or a function key: letters alone are for rows, and for typing. */
export const keysPattern =
  /^(?:|(?:CmdOrCtrl\+(?:Alt\+)?|Alt\+)(?:Shift\+)?(?:[A-Z0-9,./;'[\]\\`-]|Space|F\d{1,2})|F\d{1,2})$/

/** Keys that systems, forms or terminals need. */
const reserved: ReadonlySet<string> = new Set([
  ...[...'ACVXZYQWFR0-'].map(key => `CmdOrCtrl+${key}`),
  ...[...'CVXZFTI'].map(key => `CmdOrCtrl+Shift+${key}`),
  'F5',
  'CmdOrCtrl+F5',
  'F11',
  'Alt+F4',
  'Alt+Space',
])

/** Why keys can't be used for it: reserved, or those of another; undefined if they can. */
export function shortcutConflict(
  shortcuts: Shortcuts,
  name: ShortcutName,
  platform: Platform,
): string | undefined {
  const keys = shortcuts[name]
  if (keys === '') return undefined
  if (reserved.has(keys)) return `${keysWords(keys, platform)} already has its own use.`
  const other = shortcutNames.find(one => one !== name && shortcuts[one] === keys)
  return other && `${keysWords(keys, platform)} already belongs to “${shortcutWords[other]}”.`
}

/** All of them, in the order in which one that was pressed is looked for. */
export const shortcutNames = Object.keys(defaultShortcuts) as ShortcutName[]

type Platform = 'linux' | 'darwin' | 'win32'

/** Keys as people write them: `⌘ K` on a Mac, `Ctrl K` elsewhere. */
export function keysWords(keys: string, platform: Platform): string {
  const mac = platform === 'darwin'
  return keys
    .split('+')
    .map(part => (part === 'CmdOrCtrl' ? (mac ? '⌘' : 'Ctrl') : part))
    .join(' ')
}

/** The parts of a key event that identify a shortcut; `code` is the key's place on the keyboard. */
export interface Pressed {
  key: string
  code?: string
  ctrlKey: boolean
  metaKey: boolean
  shiftKey: boolean
  altKey: boolean
}

/** The keys that were pressed, in the notation of settings; undefined where they can't be a shortcut. Ctrl counts on a Mac too. */
export function keysOf({ key, code, ctrlKey, metaKey, shiftKey, altKey }: Pressed): string | undefined {
  const keys = [
    ...(ctrlKey || metaKey ? ['CmdOrCtrl'] : []),
    ...(altKey ? ['Alt'] : []),
    ...(shiftKey ? ['Shift'] : []),
    keyName(key, code),
  ].join('+')
  return keys !== '' && keysPattern.test(keys) ? keys : undefined
}

/** A Latin letter as typed; else, as in other scripts or with Alt and Shift, the key at its place. */
function keyName(key: string, code = ''): string {
  if (/^[a-z]$/i.test(key)) return key.toUpperCase()
  const at = /^(?:Key|Digit)([A-Z0-9])$/.exec(code)?.[1]
  return at ?? (key === ' ' ? 'Space' : key)
}

/** The Latin letter of a key in lower case: as typed, or of another script's letter the one at its place; else the key. */
export function letterOf({ key, code }: Pick<Pressed, 'key' | 'code'>): string {
  return (/^\p{L}$/u.test(key) ? keyName(key, code) : key).toLowerCase()
}

/** The shortcut of the page that was pressed, if any; of two with the same keys the first. */
export function shortcutOf(
  pressed: Pressed,
  shortcuts: Shortcuts,
): Exclude<ShortcutName, 'show'> | undefined {
  const keys = keysOf(pressed)
  const found = keys === undefined ? undefined : shortcutNames.find(name => shortcuts[name] === keys)
  return found === 'show' ? undefined : found
}
