/** The tray's pictures: what there is, and what the files are called. The build draws them all; the shell picks. */

/** What the icon tells at a glance. */
export const trayStates = ['calm', 'working', 'attention', 'offline'] as const
export type TrayState = (typeof trayStates)[number]

/** `light` is for dark taskbars and `dark` for light ones; macOS colours a `template` itself. */
export const trayTones = ['light', 'dark', 'template'] as const
export type TrayTone = (typeof trayTones)[number]

/** Points, and pixels to a point. */
export interface TrayImageSize {
  size: 16 | 22 | 24 | 32
  scale: 1 | 2
}

export const trayImages: readonly TrayImageSize[] = ([16, 22, 24, 32] as const).flatMap(size =>
  ([1, 2] as const).map(scale => ({ size, scale })),
)

/** Electron finds the picture for a scale by the end of its name. */
export function trayImageName(image: TrayImageSize & { state: TrayState; tone: TrayTone }): string {
  const { state, tone, size, scale } = image
  return `tray-${state}-${tone}-${size}${scale === 1 ? '' : `@${scale}x`}.png`
}
