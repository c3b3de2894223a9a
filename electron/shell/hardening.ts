import { app, type Session, type WebContents } from 'electron'
import type { Opener } from '../ports/opener.ts'
import { isPage } from './page-address.ts'
import { noNetwork, webRtcPolicy } from './page-network.ts'

/** Puts every page's process into the sandbox, whatever its window says. Before Electron is ready. */
export function sandboxPages(): void {
  app.enableSandbox()
}

/** Whether the sandbox holds: whoever starts Berth can switch it off, and an AppImage does where the system has none. */
export function isSandboxed(): boolean {
  return !app.commandLine.hasSwitch('no-sandbox')
}

/** What is said of a Berth without it. */
export const noSandbox = {
  id: 'no-sandbox',
  title: 'Berth runs without its sandbox',
  body: 'This system does not let Berth’s page run in one, so the page is less shut off from your files. The deb and rpm packages set it up; for an AppImage, allow unprivileged user namespaces.',
}

/** Turns off what Chromium would do over the network of its own accord. Before Electron is ready. */
export function silenceChromium(): void {
  const switches = [
    'disable-background-networking',
    'disable-component-update',
    'disable-domain-reliability',
    'disable-sync',
    'no-pings',
  ]
  for (const name of switches) app.commandLine.appendSwitch(name)
}

/**
 * Every page there will ever be may do nothing but be Berth's: no other place, no guest, no permission, and no window but
 * what `openDetails` opens.
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
    // A link in the page: the browser's, when it is a web address, and nobody's otherwise.
    if (!openDetails(url)) opener.openLink(url).catch(() => refuse('a window', url))
    return { action: 'deny' }
  })
}

/** Denies every permission but the clipboard's, keeps Chromium's own services off, and gives the page no network. */
export async function hardenSession(session: Session): Promise<void> {
  session.setPermissionRequestHandler((_contents, permission, answer, details) => {
    answer(isAllowed(permission, details.requestingUrl))
  })
  session.setPermissionCheckHandler((_contents, permission, origin) => isAllowed(permission, origin))
  session.setDevicePermissionHandler(() => false)
  session.setSpellCheckerEnabled(false)
  await session.setProxy(noNetwork)
}

/** The terminal copies and pastes; nothing else is asked of the machine. */
function isAllowed(permission: string, origin: string): boolean {
  return isPage(origin) && (permission === 'clipboard-sanitized-write' || permission === 'clipboard-read')
}
