import type { TrayImageSize, TrayTone } from '../../local/tray-images.ts'

/** How the desktop draws its tray. */
export interface TrayDesktop {
  platform: NodeJS.Platform
  /** `XDG_CURRENT_DESKTOP`: names with colons between them. */
  desktop?: string
  /** Whether the system's bars are dark, if the system says. */
  dark: boolean
}

/** The image's tone for the bar. GNOME's bar is dark in every theme. */
export function trayTone({ platform, desktop = '', dark }: TrayDesktop): TrayTone {
  if (platform === 'darwin') return 'template'
  const darkBar = platform === 'linux' && /\b(GNOME|Unity|Pantheon)\b/i.test(desktop)
  return dark || darkBar ? 'light' : 'dark'
}

/** Points. KDE's panel has 22, other Linux panels 24. */
export function traySize({ platform, desktop = '' }: TrayDesktop): TrayImageSize['size'] {
  if (platform !== 'linux') return 16
  return /\bKDE\b/i.test(desktop) ? 22 : 24
}
