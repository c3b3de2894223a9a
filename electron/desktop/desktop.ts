import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { app, type BrowserWindow, clipboard, dialog, globalShortcut, Menu } from 'electron'
import type { FirstState } from '../core/first-state.ts'
import type { RunningBerth } from '../core/running.ts'
import { watchNetwork } from '../platform/network-watch.ts'
import type { Clock, Files, Opener } from '../platform/platform.ts'
import { portalVersion } from '../platform/session-bus.ts'
import { deferred, sleep } from '../platform/tasks.ts'
import type { Shutdown } from '../start/shutdown.ts'
import { appMenu } from './app-menu.ts'
import { askFirst } from './ask-first.ts'
import { hearFolderDrops } from './folder-drop.ts'
import { followGlobalShortcut, hasGlobalShortcuts } from './global-shortcut.ts'
import { hardenPages } from './hardening.ts'
import type { AppShutdown } from './lifecycle/app-shutdown.ts'
import { askToQuit } from './lifecycle/ask-to-quit.ts'
import { startsHidden } from './lifecycle/autostart.ts'
import { type DeepLinks, introduce } from './lifecycle/deep-links.ts'
import { heedSleep, showOnGoTo } from './lifecycle/lifecycle.ts'
import { recoverPage } from './lifecycle/page-recovery.ts'
import { notifyOnce } from './notifications.ts'
import { joinWindow } from './page-channel.ts'
import { followTray } from './tray/follow-tray.ts'
import { showTray } from './tray/tray.ts'
import { trayActions } from './tray/tray-actions.ts'
import type { TrayHost } from './tray/tray-host.ts'
import { createDetailsWindows } from './window/details-windows.ts'
import { MainWindow } from './window/main-window.ts'
import { offerContextMenu, storedTheme } from './window/page-window.ts'
import { openStoredPlaces } from './window/placing.ts'

export interface DesktopOptions {
  files: Files
  clock: Clock
  opener: Opener
  shutdown: Shutdown
  appShutdown: AppShutdown
  deepLinks: DeepLinks
  log: (line: string) => void
  /** Whether the command line asks to start without the window. */
  hidden: boolean
  /** Absolute paths of the built preload and of the folder with the images. */
  preload: string
  pictures: string
}

/** Milliseconds that the page has to draw its first State. */
const firstStateWait = 300

export interface Desktop {
  /** Whether Berth has a window from the start. */
  readonly isOpened: boolean
  /** Resolves once the window's page has drawn this State, or after a moment. */
  showFirst(first: FirstState): Promise<void>
  /**
   * Shows a Berth that now runs: gives it the window, tray and menus, registers it with the desktop, and gives the
   * function that shows the window.
   */
  show(berth: RunningBerth, trayHost: TrayHost): Promise<() => void>
}

/**
 * Opens the window, whose page shows its frame until it gets a State, unless Berth may start without it. Requires that
 * Electron is ready.
 */
export async function openDesktop(options: DesktopOptions): Promise<Desktop> {
  const { shutdown, clock } = options
  let shown: { berth: RunningBerth; trayHost: TrayHost } | undefined
  const running = deferred<RunningBerth>()
  /** What pages connect to. */
  const taking = deferred<Pick<RunningBerth, 'connectPage'>>()
  const [places, theme] = await Promise.all([
    openStoredPlaces(options.files, clock),
    storedTheme(options.files),
  ])
  shutdown.add(places.flush)
  const icon = join(options.pictures, 'app.png')
  const busy = new WeakMap<BrowserWindow, () => boolean>()
  const pages = {
    preload: options.preload,
    icon,
    places,
    clock,
    theme: () => shown?.berth.state().settings.theme ?? theme,
    onOpen: (opened: BrowserWindow) => {
      busy.set(opened, joinWindow(taking.promise, opened))
      hearFolderDrops(running.promise, opened)
      recoverPage(opened, running.promise, clock)
      askToLeave(opened, options.appShutdown.closesWindows)
      offerContextMenu(opened.webContents)
    },
  }
  hardenPages(options.opener, createDetailsWindows(pages), options.log)
  const window: MainWindow = new MainWindow({
    ...pages,
    isBusy: hidden => busy.get(hidden)?.() === true || shown?.berth.state().app.unsaved === true,
    onRest: () => shown?.berth.forgetGoTo(),
    // Also while Berth starts: without a tray the window then comes back.
    hides: () =>
      shown === undefined || (shown.trayHost.present() && shown.berth.state().settings.closeToTray),
    closes: options.appShutdown.closesWindows,
    onHidden: () => void (shown && notifyOnce(shown.berth, options.files, stillInTray)),
    quit: () => app.quit(),
  })
  const isOpened = !startsHidden(options.hidden, 'tray')
  if (isOpened) window.show()

  async function showFirst(first: FirstState): Promise<void> {
    taking.resolve(first)
    await Promise.race([first.drawn, sleep(clock, firstStateWait)])
  }

  async function showBerth(berth: RunningBerth, trayHost: TrayHost): Promise<() => void> {
    shown = { berth, trayHost }
    running.resolve(berth)
    taking.resolve(berth)
    // The State goes to the page first, which draws it while the tray's menu is made.
    await new Promise(resolve => setImmediate(resolve))
    const show = () => window.show()
    const copy = async (text: string) => {
      try {
        // A promise since Electron 44.
        await clipboard.writeText(text)
      } catch (error) {
        options.log(`nothing was copied: ${String(error)}`)
      }
    }
    const quit = () => app.quit()
    const act = trayActions({ berth, openWindow: show, quit, ask: askFirst, copy, now: clock.now })
    followTray({
      berth,
      files: options.files,
      clock,
      shutdown,
      host: trayHost,
      showIcon: () => showTray({ berth, pictures: options.pictures, act, open: near => window.show(near) }),
      showWindow: show,
      keepInReach: () => window.keepInReach(),
      hidden: isOpened || startsHidden(options.hidden, berth.state().settings.startAtLogin),
    })
    const { platform } = process
    const showMenu = () => {
      const { shortcuts } = berth.state().settings
      Menu.setApplicationMenu(
        Menu.buildFromTemplate(appMenu({ platform, packaged: app.isPackaged, shortcuts, act })),
      )
    }
    showMenu()
    shutdown.add(
      berth.onChange((after, before) => {
        if (!isDeepStrictEqual(after.settings.shortcuts, before.settings.shortcuts)) showMenu()
      }),
    )
    const readPortal = () => portalVersion(process.env, 'GlobalShortcuts')
    const isPossible = () => hasGlobalShortcuts(platform, process.env, readPortal)
    shutdown.add(followGlobalShortcut({ berth, keys: globalShortcut, isPossible, show }))
    options.appShutdown.askFirst(() =>
      askToQuit({ state: berth.state, tray: trayHost.present(), hideWindow: () => window.hide() }),
    )
    void introduce(icon, options.log)
    showOnGoTo(berth, show)
    heedSleep(berth)
    shutdown.add(watchNetwork(clock, berth.pollNow))
    const notice = (id: string) => void berth.dispatch('answerNotice', { id })
    options.deepLinks.answer({ show, follow: berth.follow, notice })
    return show
  }

  return { isOpened, showFirst, show: showBerth }
}

const stillInTray = {
  id: 'in-tray',
  title: 'Berth stays in the tray',
  body: 'It keeps monitoring your instances. To end it, choose Quit Berth in the icon’s menu.',
}

/**
 * Asks before a window closes whose page would lose something: of itself Electron asks nobody, and the window just stays.
 * `closes`: whether it must close, since the cause of Berth's end waits for it.
 */
function askToLeave(window: BrowserWindow, closes: () => boolean): void {
  let asking = false
  window.webContents.on('will-prevent-unload', event => {
    if (closes()) event.preventDefault()
    else if (!asking) void ask()
  })

  async function ask(): Promise<void> {
    asking = true
    const { response } = await dialog.showMessageBox(window, {
      type: 'question',
      title: 'Berth',
      message: 'Close this window?',
      detail: 'It has unsaved changes, or an upload is in progress.',
      buttons: ['Close', 'Cancel'],
      defaultId: 1,
      cancelId: 1,
      noLink: true,
    })
    asking = false
    if (response === 0 && !window.isDestroyed()) window.destroy()
  }
}
