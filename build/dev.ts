import { spawn } from 'node:child_process'
import { createServer as createSocket } from 'node:net'
import { createInterface } from 'node:readline'
import { createServer } from 'vite'
import { at } from './places.ts'

/** `npm run dev`: the page from Vite with hot reload; the main process from its sources, restarted when they change. */
async function dev(): Promise<void> {
  const port = await freePort()
  /** The address that Berth printed last: its host name changes with each restart. */
  let printed = new URL(`http://127.0.0.1:${port}`)
  const vite = await createServer({
    configFile: at('vite.renderer.config.ts'),
    server: {
      host: '127.0.0.1',
      proxy: {
        '/socket': {
          target: printed.origin,
          ws: true,
          configure(proxy) {
            proxy.on('proxyReqWs', request => {
              request.setHeader('host', printed.host)
              request.setHeader('origin', printed.origin)
            })
          },
        },
      },
    },
  })
  await vite.listen()
  const page = vite.resolvedUrls?.local[0] ?? ''

  const args = ['--watch', '--watch-preserve-output', '--import', 'tsx', at('electron/browser.ts')]
  const flags = ['--browser', '--no-open', ...process.argv.slice(2), '--port', String(port)]
  const berth = spawn(process.execPath, [...args, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface({ input: berth.stdout }).on('line', line => {
    const address = /^Berth is ready at (.*)$/.exec(line)?.[1]
    if (address !== undefined) printed = new URL(address)
    process.stdout.write(address === undefined ? `${line}\n` : `Berth is ready at ${page}${printed.hash}\n`)
  })
  berth.once('exit', code => process.exit(code ?? 1))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      berth.kill('SIGTERM')
      void vite.close().then(() => process.exit(0))
    })
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = createSocket()
    socket.once('error', reject)
    socket.listen(0, '127.0.0.1', () => {
      const address = socket.address()
      socket.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

await dev()
