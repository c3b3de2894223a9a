import { app, type Session, type WebContents } from 'electron'
import type { Opener } from '../platform/platform.ts'
import { isPage, noNetwork, webRtcPolicy } from './page-origin.ts'

/** Sandboxes the process of every page, whatever its window's options. Call before Electron is ready. */
export function sandboxPages(): void {
  app.enableSandbox()
}

/**
 * Whether the sandbox is whole: the user can switch it off, and an AppImage does so where the system has none. Then
 * `sandboxPages` brings back only the filter of system calls, and takes the switch from Chromium's list.
 */
export function isSandboxed(): boolean {
  return !process.argv.includes('--no-sandbox')
}

/** The notice without the sandbox. */
export const noSandbox = {
  id: 'no-sandbox',
  title: 'Berth runs without its sandbox',
  body:
    'This system doesn’t allow it, so Berth’s page is less isolated from your files. The deb and rpm packages set it up. ' +
    'For an AppImage, allow unprivileged user namespaces.',
}

/** Turns off Chromium's own background traffic, and its portal for shortcuts on. Call before Electron is ready. */
export function silenceChromium(): void {
  const switches = [
    'disable-background-networking',
    'disable-component-update',
    'disable-domain-reliability',
    'disable-sync',
    'no-pings',
  ]
  for (const name of switches) app.commandLine.appendSwitch(name)
  // On Wayland the only way to keys of the whole session; without the portal it changes nothing.
  app.commandLine.appendSwitch('enable-features', 'GlobalShortcutsPortal')
}

/**
 * Restricts all pages, also later ones: no other address, no webview, no permission, and no window but those that
 * `openDetails` opens.
 */
export function hardenPages(
  opener: Opener,
  openDetails: (address: string) => boolean,
  log: (line: string) => void,
): void {
  app.on('web-contents-created', (_event, contents) => harden(contents, opener, openDetails, log))
}

function harden(
  contents: WebContents,
  opener: Opener,
  openDetails: (address: string) => boolean,
  log: (line: string) => void,
): void {
  const refuse = (what: string, address: string) => log(`refused: ${what} to ${address.slice(0, 200)}`)
  contents.setWebRTCIPHandlingPolicy(webRtcPolicy)

  contents.on('will-navigate', event => {
    if (isPage(event.url)) return
    event.preventDefault()
    refuse('navigation', event.url)
  })
  contents.on('will-redirect', event => {
    if (isPage(event.url)) return
    event.preventDefault()
    refuse('redirection', event.url)
  })
  contents.on('will-frame-navigate', event => {
    if (event.isMainFrame) return
    event.preventDefault()
    refuse('a frame', event.url)
  })
  contents.on('will-attach-webview', event => {
    event.preventDefault()
    refuse('a webview', '')
  })
  contents.setWindowOpenHandler(({ url }) => {
    // A link in the page: web addresses open in the browser, others nowhere.
    if (!openDetails(url)) opener.openLink(url).catch(() => refuse('a window', url))
    return { action: 'deny' }
  })
}

/** Denies all permissions but the clipboard's, disables Chromium's spell checker, and gives the page no network. */
export async function hardenSession(session: Session): Promise<void> {
  session.setPermissionRequestHandler((_contents, permission, answer, details) => {
    answer(isAllowed(permission, details.requestingUrl))
  })
  session.setPermissionCheckHandler((_contents, permission, origin) => isAllowed(permission, origin))
  session.setDevicePermissionHandler(() => false)
  session.setSpellCheckerEnabled(false)
  await session.setProxy(noNetwork)
}

/** Only the terminal's copy and paste need a permission. */
function isAllowed(permission: string, origin: string): boolean {
  return isPage(origin) && (permission === 'clipboard-sanitized-write' || permission === 'clipboard-read')
}
