import { fileURLToPath } from 'node:url'
import project from '../package.json' with { type: 'json' }
import type { RunningBerth } from './core/running.ts'
import { systemClock } from './local/clock.ts'
import { userCommandFile } from './local/command-file.ts'
import { openMachine, openPrograms } from './local/machine.ts'
import { watchNetwork } from './local/network-watch.ts'
import { openDbusNotifier } from './local/notifier/dbus-notifier.ts'
import { openPage } from './local/page-server/open-page.ts'
import { BuiltFiles } from './local/page-server/page-files.ts'
import { openPageServer } from './local/page-server/page-server.ts'
import { systemRandom } from './local/random.ts'
import { openCommandSocket } from './local/socket/command-socket.ts'
import { berthToCome } from './local/start/berth-to-come.ts'
import { demoFor } from './local/start/demo-market.ts'
import { failToStart } from './local/start/failure.ts'
import { readFlags } from './local/start/flags.ts'
import { berthHome } from './local/start/home.ts'
import { openHome } from './local/start/open-home.ts'
import { describeRuntime, keepHeapSmall } from './local/start/runtime.ts'
import { endOnSignals, Shutdown } from './local/start/shutdown.ts'
import { findTerminals } from './ssh/shell/system-terminal.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)

/**
 * Berth without Electron: the page in the user's browser, on loopback. The page's server starts first; the rest is
 * loaded while the browser fetches the page.
 */
async function start(shutdown: Shutdown): Promise<void> {
  keepHeapSmall()
  const flags = readFlags(process.argv.slice(2))
  const home = berthHome(process.env, process.platform)
  const { files, log } = await openHome(home, shutdown)
  const icon = fileURLToPath(new URL('../icons/app.png', import.meta.url))
  const page = new BuiltFiles(fileURLToPath(new URL('../renderer', import.meta.url)))
  const server = await openPageServer(page, flags.port)
  shutdown.add(server.close)
  const { opener, programs, platform } = openPrograms(files)
  const open = () => {
    openPage(server, opener, systemClock, say).catch(error =>
      log.line(`the page was not opened: ${String(error)}`),
    )
  }
  const loadSimulator = async () => (await import('../simulator/simulator.ts')).startSimulator
  const demo = await demoFor(flags, files, shutdown, log.line, loadSimulator)

  async function startBehindPage(): Promise<RunningBerth> {
    const [{ startBerth }, machine, notifier, terminals] = await Promise.all([
      import('./core/berth.ts'),
      openMachine(files, shutdown),
      openDbusNotifier(process.env, log.line, icon),
      findTerminals(programs, platform),
    ])
    const berth = await startBerth({
      log,
      machine: {
        ...machine,
        notifier,
        browserDownloads: server.downloads,
        commandFile: userCommandFile({
          platform: process.platform,
          env: process.env,
          home: machine.home,
          command: [process.execPath, fileURLToPath(new URL('./cli.js', import.meta.url))],
        }),
      },
      app: { version: project.version, shell: 'browser', runtime: describeRuntime(), terminals },
      demo,
    })
    shutdown.add(() => berth.close())
    shutdown.add(watchNetwork(machine.clock, berth.pollNow))
    if (flags.link !== undefined) berth.follow(flags.link)
    return berth
  }
  const starting = startBehindPage()
  // A shutdown during the start waits for it, so that everything it has begun is ended.
  shutdown.add(() => starting)
  const berth = berthToCome(starting)
  server.serve(berth)
  const quit = () => shutdown.exit()
  const socket = { home, berth, random: systemRandom, log: log.line, openPage: open, quit }
  shutdown.add(await openCommandSocket(socket))
  say(`Berth is ready at ${server.address}`)
  if (flags.open) open()
  await starting
}

const shutdown = new Shutdown(2_500)
endOnSignals(shutdown)
await start(shutdown).catch(async (error: unknown) => {
  await shutdown.end()
  failToStart(error)
})
