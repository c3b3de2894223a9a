import type { ITheme } from '@xterm/xterm'

/** The sixteen colours of a terminal, for the light and the dark background. */
const light = {
  black: '#1c1d1f',
  red: '#b3261e',
  green: '#0b6e4f',
  yellow: '#8a5a00',
  blue: '#1f5fb4',
  magenta: '#8a3a9c',
  cyan: '#0b6a7a',
  white: '#d3d2ce',
  brightBlack: '#696c74',
  brightRed: '#c8372e',
  brightGreen: '#0f8460',
  brightYellow: '#a06a00',
  brightBlue: '#2b70cc',
  brightMagenta: '#a04bb3',
  brightCyan: '#0d7f92',
  brightWhite: '#8b8d92',
}
const dark = {
  black: '#3b3e44',
  red: '#f0857d',
  green: '#3ecf9a',
  yellow: '#e7b450',
  blue: '#7db4f5',
  magenta: '#d99be6',
  cyan: '#62cbdc',
  white: '#d3d2ce',
  brightBlack: '#8d919a',
  brightRed: '#f7a59f',
  brightGreen: '#70e0b6',
  brightYellow: '#f2cb7f',
  brightBlue: '#a3cbf8',
  brightMagenta: '#e6bdf0',
  brightCyan: '#90dde9',
  brightWhite: '#ffffff',
}

/** The terminal's colours for the present theme: background and accent come from the page's tokens. */
export function terminalTheme(page: HTMLElement): ITheme {
  const probe = document.createElement('span')
  page.append(probe)
  const resolved = (token: string) => {
    probe.style.color = `var(${token})`
    return getComputedStyle(probe).color
  }
  const background = resolved('--panel')
  const theme = {
    background,
    foreground: resolved('--text'),
    cursor: resolved('--accent'),
    cursorAccent: background,
    selectionBackground: resolved('--line-strong'),
    ...(isDark(background) ? dark : light),
  }
  probe.remove()
  return theme
}

function isDark(colour: string): boolean {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+(\.\d+)?/g) ?? []).map(Number)
  return red + green + blue < 384
}
