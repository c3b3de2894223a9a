import { fileURLToPath } from 'node:url'
import { app, Menu, session } from 'electron'
import project from '../package.json' with { type: 'json' }
import { BuiltFiles } from './browser/page-files.ts'
import type { FirstState } from './core/first-state.ts'
import { openDesktop } from './desktop/desktop.ts'
import { systemFileDialogs } from './desktop/file-dialogs.ts'
import { hardenSession, isSandboxed, noSandbox, sandboxPages, silenceChromium } from './desktop/hardening.ts'
import { endInOrder } from './desktop/lifecycle/app-shutdown.ts'
import { systemAutostart } from './desktop/lifecycle/autostart.ts'
import { bearName, hearDeepLinks, systemLinks } from './desktop/lifecycle/deep-links.ts'
import { endOnErrors, failVisibly } from './desktop/lifecycle/failed-start.ts'
import { drawWithoutGpu, keepChromiumIn } from './desktop/lifecycle/lifecycle.ts'
import { notifyOnce, openNotifier } from './desktop/notifications.ts'
import { declarePageScheme, servePage } from './desktop/page-protocol.ts'
import { systemProxy } from './desktop/system-proxy.ts'
import { systemUpdater } from './desktop/system-updater.ts'
import { openTrayHost } from './desktop/tray/tray-host.ts'
import { systemClock, systemRandom } from './platform/clock-and-random.ts'
import { userCommandFile } from './platform/command-file.ts'
import { proxies } from './service/http/proxy.ts'
import { openCommandSocket } from './start/command-socket.ts'
import { demoFor } from './start/demo-market.ts'
import { cliArguments, ownArguments, readFlags } from './start/flags.ts'
import { startHeartbeat } from './start/heartbeat/heartbeat.ts'
import { berthHome } from './start/home.ts'
import { serveMetrics } from './start/metrics.ts'
import { describeRuntime, openHome } from './start/open-home.ts'
import { Shutdown } from './start/shutdown.ts'
import { openPlatform, openPrograms } from './start/system.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const loadSimulator = async () => (await import('../simulator/simulator.ts')).startSimulator

/** Starts Berth under Electron. */
async function start(home: string): Promise<void> {
  const flags = readFlags(ownArguments(process.argv.slice(1)))
  const { files, log } = await openHome(home, shutdown)
  await app.whenReady()
  await hardenSession(session.defaultSession)
  proxies.find = systemProxy
  servePage(new BuiltFiles(at('../renderer')))
  const { opener, os } = openPrograms(files)
  const built = { preload: at('../preload/preload.cjs'), pictures: at('../icons') }
  const parts = { files, clock: systemClock, opener, log: log.line, shutdown, appShutdown, deepLinks }
  const desktop = await openDesktop({ ...parts, hidden: flags.hidden, ...built })
  const about = {
    version: project.version,
    shell: 'electron',
    runtime: describeRuntime(isSandboxed()),
  } as const
  let first: FirstState | undefined
  if (desktop.isOpened && !flags.demo) {
    const { readFirstState } = await import('./core/first-state.ts')
    first = await readFirstState(files, systemClock, { ...about, platform: os })
    // Loading the core holds this process for a tenth of a second, in which the page would get neither files nor State.
    if (first) await desktop.showFirst(first)
  }
  // While the page draws in its own process; the core isn't loaded by a second instance, which only passes its link on.
  const opened = Promise.all([
    openPlatform(files, shutdown),
    // A package's files are in an archive that the desktop can't read, but it installs the icon.
    openNotifier(log.line, app.isPackaged ? 'berth' : at('../icons/app.png')),
    openTrayHost(process.platform, process.env, systemClock),
    systemAutostart(),
    systemUpdater(log),
    demoFor(flags, files, shutdown, log.line, loadSimulator),
  ])
  const [{ startBerth }, [platform, notifier, trayHost, autostart, updater, demo]] = await Promise.all([
    import('./core/berth.ts'),
    opened,
  ])
  shutdown.add(trayHost.close)
  const berth = await startBerth({
    log,
    platform: {
      ...platform,
      notifier,
      fileDialogs: systemFileDialogs(),
      autostart,
      links: systemLinks,
      commandFile: userCommandFile({
        platform: process.platform,
        env: process.env,
        home: platform.home,
        command: [...itself(), '--cli'],
      }),
      updater,
      quit: () => app.quit(),
    },
    app: { ...about, tray: trayHost.present() },
    demo,
    first,
  })
  shutdown.add(() => berth.close())

  if (!isSandboxed()) {
    log.line('the sandbox is off (--no-sandbox)')
    void notifyOnce(berth, files, noSandbox)
  }
  startHeartbeat(berth, shutdown, {
    files,
    watcher: new URL('./watcher.js', import.meta.url),
    program: itself()[0],
    args: process.argv.slice(1),
  })
  const openPage = await desktop.show(berth, trayHost)
  shutdown.add(
    await openCommandSocket({
      home,
      berth,
      random: systemRandom,
      log: log.line,
      openPage,
      quit: appShutdown.end,
    }),
  )
  shutdown.add(serveMetrics(berth, log.line))
}

/**
 * Runs the command `berth`. Awaiting it here keeps Electron from starting: no window, no Chromium profile, and no lock.
 */
async function runCommand(args: readonly string[]): Promise<never> {
  const { runCli } = await import('./cli/run-cli.ts')
  const [program, ...own] = itself()
  return process.exit(await runCli(args, { program, args: [...own, '--hidden'] }))
}

/** The command that starts this program again. An AppImage runs from a temporary folder, so it is the image. */
function itself(): [program: string, ...args: string[]] {
  const own = app.isPackaged ? [] : [app.getAppPath()]
  return [process.env['APPIMAGE'] || process.execPath, ...own]
}

const command = cliArguments(process.argv.slice(1))
if (command !== undefined) await runCommand(command)

const home = berthHome(process.env, process.platform)
const shutdown = new Shutdown(4_500)
sandboxPages()
silenceChromium()
drawWithoutGpu()
declarePageScheme()
bearName()
// Until Berth has its menu, Electron would build a default one.
Menu.setApplicationMenu(null)
let unusable: unknown
try {
  keepChromiumIn(home)
} catch (error) {
  unusable = error
}
const appShutdown = endInOrder(shutdown)
endOnErrors(shutdown)
const deepLinks = hearDeepLinks(process.argv)
// Not awaited: Electron becomes ready only after this module has ended.
if (unusable !== undefined) void failVisibly(unusable, shutdown)
else if (app.requestSingleInstanceLock()) start(home).catch(error => failVisibly(error, shutdown))
else app.exit(0)
