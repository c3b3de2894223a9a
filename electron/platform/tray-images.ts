/** The tray's images and their file names. The build draws all of them; the shell picks one. */

/** The states that the icon shows. */
export const trayStates = ['calm', 'working', 'attention', 'offline'] as const
export type TrayState = (typeof trayStates)[number]

/** `light` is for dark taskbars and `dark` for light ones; macOS colours a `template` itself. */
export const trayTones = ['light', 'dark', 'template'] as const
export type TrayTone = (typeof trayTones)[number]

/** Points, and pixels per point. */
export interface TrayImageSize {
  size: 16 | 22 | 24
  scale: number
}

/** Windows also has half scales: its 16 points are 16, 24, 32 or 64 pixels. */
export const trayImages: readonly TrayImageSize[] = [
  { size: 16, scale: 1 },
  { size: 16, scale: 1.5 },
  { size: 16, scale: 2 },
  { size: 16, scale: 4 },
  { size: 22, scale: 1 },
  { size: 22, scale: 2 },
  { size: 24, scale: 1 },
  { size: 24, scale: 2 },
]

/** The file's name, by whose end Electron finds the image for a scale. */
export function trayImageName(image: TrayImageSize & { state: TrayState; tone: TrayTone }): string {
  const { state, tone, size, scale } = image
  return `tray-${state}-${tone}-${size}${scale === 1 ? '' : `@${scale}x`}.png`
}
