import { fileURLToPath } from 'node:url'
import project from '../package.json' with { type: 'json' }
import { BuiltFiles } from './browser/page-files.ts'
import { openPage, openPageServer } from './browser/page-server.ts'
import type { RunningBerth } from './core/running.ts'
import { systemClock, systemRandom } from './platform/clock-and-random.ts'
import { userCommandFile } from './platform/command-file.ts'
import { openDbusNotifier } from './platform/dbus-notifier.ts'
import { watchNetwork } from './platform/network-watch.ts'
import { openCommandSocket } from './start/command-socket.ts'
import { demoFor } from './start/demo-market.ts'
import { failToStart, readFlags } from './start/flags.ts'
import { startHeartbeat } from './start/heartbeat/heartbeat.ts'
import { berthHome } from './start/home.ts'
import { serveMetrics } from './start/metrics.ts'
import { unsupportedNode } from './start/node-support.ts'
import { describeRuntime, keepHeapSmall, openHome } from './start/open-home.ts'
import { berthToCome, endOnSignals, Shutdown } from './start/shutdown.ts'
import { openPlatform, openPrograms } from './start/system.ts'

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
  const { opener } = openPrograms(files)
  const open = () => {
    openPage(server, opener, systemClock, say).catch(error =>
      log.line(`the page was not opened: ${String(error)}`),
    )
  }
  const loadSimulator = async () => (await import('../simulator/simulator.ts')).startSimulator
  const demo = await demoFor(flags, files, shutdown, log.line, loadSimulator)

  async function startBehindPage(): Promise<RunningBerth> {
    const [{ startBerth }, platform, notifier] = await Promise.all([
      import('./core/berth.ts'),
      openPlatform(files, shutdown),
      openDbusNotifier(process.env, log.line, icon),
    ])
    const berth = await startBerth({
      log,
      platform: {
        ...platform,
        notifier,
        browserDownloads: server.downloads,
        // Once the page has its answer.
        quit: () => void setImmediate(() => shutdown.exit()),
        commandFile: userCommandFile({
          platform: process.platform,
          env: process.env,
          home: platform.home,
          command: [process.execPath, fileURLToPath(new URL('./cli.js', import.meta.url))],
        }),
      },
      app: { version: project.version, shell: 'browser', runtime: describeRuntime() },
      demo,
    })
    shutdown.add(() => berth.close())
    shutdown.add(watchNetwork(platform.clock, berth.pollNow))
    if (flags.link !== undefined) berth.follow(flags.link)
    shutdown.add(serveMetrics(berth, log.line))
    startHeartbeat(berth, shutdown, {
      files,
      watcher: new URL('./watcher.js', import.meta.url),
      program: process.execPath,
      args: [...process.execArgv, ...process.argv.slice(1)],
    })
    return berth
  }
  const starting = startBehindPage()
  // It is awaited below; one that fails before that would end the process without a word.
  starting.catch(() => undefined)
  // A shutdown during the start waits for it, so that everything it has begun is ended.
  shutdown.add(() => starting)
  const berth = berthToCome(starting)
  server.serve(berth)
  const quit = () => shutdown.exit()
  const socket = { home, berth, random: systemRandom, log: log.line, openPage: open, quit }
  shutdown.add(await openCommandSocket(socket))
  say(`Berth is ready at ${server.address}`)
  const old = unsupportedNode(process.versions.node, Date.now())
  if (old) say(`${old.message} ${old.advice}`)
  if (flags.open) open()
  await starting
}

const shutdown = new Shutdown(4_500)
endOnSignals(shutdown)
await start(shutdown).catch(async (error: unknown) => {
  await shutdown.end()
  failToStart(error)
})
