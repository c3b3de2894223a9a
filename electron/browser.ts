import { fileURLToPath } from 'node:url'
import project from '../package.json' with { type: 'json' }
import { startBerth } from './core/berth.ts'
import { hasAccounts, openDemo } from './local/demo-market.ts'
import { Endings, endOnSignals } from './local/endings.ts'
import { failToStart } from './local/failure.ts'
import { openFiles } from './local/files.ts'
import { readFlags } from './local/flags.ts'
import { berthHome } from './local/home.ts'
import { lockFolder } from './local/lock.ts'
import { openLog } from './local/log.ts'
import { openMachine } from './local/machine.ts'
import { openDbusNotifier } from './local/notifier/dbus-notifier.ts'
import { openPage } from './local/page-server/open-page.ts'
import { PageFiles } from './local/page-server/page-files.ts'
import { openPageServer } from './local/page-server/page-server.ts'
import { portsToTry } from './local/page-server/port-choice.ts'
import { rememberPort, usedPorts } from './local/page-server/used-ports.ts'
import { findTerminals } from './ssh/system-terminal.ts'

/** Berth without Electron: the page in the user's browser, on loopback. */
async function start(endings: Endings): Promise<void> {
  const flags = readFlags(process.argv.slice(2))
  const files = await openFiles(berthHome(process.env, process.platform))
  endings.add(await lockFolder(files.path('lock'), 3_000))
  const log = await openLog(files.path('logs/berth.log'))
  endings.add(log.close)

  const page = new PageFiles(fileURLToPath(new URL('../renderer', import.meta.url)))
  const server = await openPageServer(page, portsToTry(flags.port, await usedPorts(files)))
  endings.add(server.close)
  await rememberPort(files, server.port)

  const demoWanted = flags.demo || !(await hasAccounts(files))
  const [machine, demo] = await Promise.all([
    openDbusNotifier(process.env, log.line).then(notifier => openMachine(files, notifier)),
    demoWanted ? startDemo(flags.speed, log.line) : undefined,
  ])
  if (demo) endings.add(demo.close)

  const terminals = await findTerminals(machine.programs, machine.platform)
  const berth = await startBerth({
    machine,
    app: { version: project.version, shell: 'browser', terminals },
    ...(demo && { demo: demo.demo }),
  })
  endings.add(() => berth.close())
  server.serve(berth)

  process.stdout.write(`Berth is ready at ${server.address}\n`)
  if (flags.open) {
    const opened = openPage(files, machine.programs, machine.platform, server.address)
    opened.then(endings.add.bind(endings), error => log.line(`the page was not opened: ${String(error)}`))
  }
}

async function startDemo(speed: number, log: (line: string) => void) {
  const { startSimulator } = await import('../simulator/simulator.ts')
  const market = await startSimulator({ speed, offers: 5_000, controlPlane: false })
  return openDemo(market, speed, log)
}

const endings = new Endings(2_500)
endOnSignals(endings)
await start(endings).catch(async (error: unknown) => {
  await endings.end()
  failToStart(error)
})
