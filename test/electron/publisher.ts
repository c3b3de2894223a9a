import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { listen } from '#test/loopback.ts'

/** An update server on loopback. */
export interface Publisher {
  /** The content of `app-update.yml`. */
  config: string
  /** The requests received. */
  asked: { path: string; headers: NodeJS.Dict<string | string[]> }[]
  /** Offers that program as a version, with its SHA-512 or a given digest. */
  offer(version: string, program: Buffer, digest?: string): void
  close(): void
}

export async function startPublisher(): Promise<Publisher> {
  const asked: Publisher['asked'] = []
  const files = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://localhost').pathname
    asked.push({ path, headers: request.headers })
    const file = files.get(path)
    response.writeHead(file ? 200 : 404, { 'content-length': file?.length ?? 0 }).end(file)
  })
  const port = await listen(server)
  return {
    config: `provider: generic\nurl: http://127.0.0.1:${port}\nupdaterCacheDirName: berth-updater\n`,
    asked,
    offer(version, program, digest = createHash('sha512').update(program).digest('base64')) {
      const name = `Berth-${version}.AppImage`
      files.set(`/${name}`, program)
      const yml = `version: ${version}\npath: ${name}\nsha512: ${digest}\nfiles:\n  - url: ${name}\n    sha512: ${digest}\n    size: ${program.length}\nreleaseDate: '2026-01-01T00:00:00.000Z'\n`
      files.set('/latest-linux.yml', Buffer.from(yml))
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
