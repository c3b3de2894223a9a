import { fileURLToPath } from 'node:url'
import { app, clipboard, session } from 'electron'
import project from '../package.json' with { type: 'json' }
import { startBerth } from './core/berth.ts'
import { demoFor } from './local/demo-market.ts'
import { Endings } from './local/endings.ts'
import { failToStart } from './local/failure.ts'
import { ownArguments, readFlags } from './local/flags.ts'
import { berthHome } from './local/home.ts'
import { openMachine } from './local/machine.ts'
import { openHome } from './local/open-home.ts'
import { PageFiles } from './local/page-server/page-files.ts'
import { usedPorts } from './local/page-server/used-ports.ts'
import { systemFileDialogs } from './shell/file-dialogs.ts'
import { hardenPages, hardenSession, silenceChromium } from './shell/hardening.ts'
import { endInOrder, keepChromiumIn, lookOnWake, showOnGoTo } from './shell/life.ts'
import { openNotifier } from './shell/notifications.ts'
import { joinWindow } from './shell/page-channel.ts'
import { declarePageScheme, servePage } from './shell/page-protocol.ts'
import { showTray } from './shell/tray/tray.ts'
import { trayActions } from './shell/tray/tray-actions.ts'
import { hasTrayHost } from './shell/tray/tray-host.ts'
import { MainWindow } from './shell/window/main-window.ts'
import { findTerminals } from './ssh/system-terminal.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Berth under Electron. */
async function start(home: string, endings: Endings): Promise<void> {
  const flags = readFlags(ownArguments(process.argv.slice(1)))
  const { files, log } = await openHome(home, endings)
  const notifier = await openNotifier(log.line)
  const machine = await openMachine(files, notifier, endings)
  const [demo, tray, terminals] = await Promise.all([
    demoFor(
      flags,
      files,
      endings,
      log.line,
      async () => (await import('../simulator/simulator.ts')).startSimulator,
    ),
    hasTrayHost(process.platform, process.env),
    findTerminals(machine.programs, machine.platform),
  ])
  const berth = await startBerth({
    log: log.line,
    machine: { ...machine, fileDialogs: systemFileDialogs },
    app: { version: project.version, shell: 'electron', tray, terminals },
    ...(demo && { demo }),
    reservedPorts: await usedPorts(files),
  })
  endings.add(() => berth.close())

  await app.whenReady()
  hardenSession(session.defaultSession)
  hardenPages(machine.opener, log.line)
  servePage(new PageFiles(at('../renderer')))
  const window = new MainWindow({
    preload: at('../preload/preload.cjs'),
    hides: () => tray,
    onOpen: opened => joinWindow(berth, opened),
    onClosed: () => tray || app.quit(),
  })
  const openWindow = () => window.show()
  const copy = (text: string) => clipboard.writeText(text)
  const act = trayActions({ berth, notifier, openWindow, quit: () => app.quit(), copy })
  if (tray) endings.add(showTray(berth, act))
  app.on('before-quit', () => window.release())
  app.on('second-instance', openWindow)
  app.on('activate', openWindow)
  showOnGoTo(berth, openWindow)
  lookOnWake(berth)
  openWindow()
}

const home = berthHome(process.env, process.platform)
const endings = new Endings(2_500)
silenceChromium()
declarePageScheme()
keepChromiumIn(home)
endInOrder(endings)
// Not awaited here: Electron is ready only once this module has run to its end.
if (app.requestSingleInstanceLock()) start(home, endings).catch(failToStart)
else app.exit(0)
