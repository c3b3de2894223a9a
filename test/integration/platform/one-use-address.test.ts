import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { oneUseAddress } from '#browser/one-use-address.ts'
import { systemOpener } from '#platform/opener.ts'
import { systemPrograms } from '#platform/programs.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { lacks, type Need, root } from '#test/needs.ts'

const target = 'http://127.0.0.1:20001/lab?token=s3cret#part'
const nobody = 65_534
const linux: Need = { what: 'list of connections', there: process.platform === 'linux' }
let clock = new HandClock()
beforeEach(() => {
  clock = new HandClock()
})
// Closes the addresses that a test leaves open.
afterEach(() => clock.pass(60_000))

async function offered(): Promise<string> {
  const address = await oneUseAddress(target, clock)
  if (address === undefined) throw new Error('this system does not tell who holds a connection')
  return address
}

function ask(address: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]> }>(
    (resolve, reject) => {
      request(address, { method, headers }, answer => {
        answer.resume()
        resolve({ status: answer.statusCode, headers: answer.headers })
      })
        .on('error', reject)
        .end()
    },
  )
}

describe.skipIf(lacks(linux) !== '')(`an address for one use${lacks(linux)}`, () => {
  test('redirects once, leaves no cache or referrer, then closes', async () => {
    const address = await offered()
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}$/)
    expect(await ask(address)).toMatchObject({
      status: 303,
      headers: { location: target, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    })
    await expect(ask(address)).rejects.toThrow('ECONNREFUSED')
  })

  test('is not used up by wrong requests, and does not reveal its target to them', async () => {
    const address = await offered()
    const answers = [
      await ask(new URL('/', address).href),
      await ask(`${address}x`),
      await ask(address, { host: 'evil.example' }),
      await ask(address, {}, 'HEAD'),
      await ask(address, {}, 'POST'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 403, 405, 405])
    expect(JSON.stringify(answers)).not.toContain('s3cret')
    expect((await ask(address)).status).toBe(303)
  })

  test('redirects despite cookies of other pages', async () => {
    const cookie = Array.from({ length: 200 }, (_, n) => `c${n}=${'x'.repeat(4090)}`).join('; ')
    expect(await ask(await offered(), { cookie })).toMatchObject({ status: 303 })
  })

  test('closes after a minute', async () => {
    const address = await offered()
    await clock.pass(60_000)
    await expect(ask(address)).rejects.toThrow('ECONNREFUSED')
  })

  test('is undefined where the system does not list the owners of connections', async () => {
    expect(await oneUseAddress(target, clock, async () => '')).toBeUndefined()
  })

  test('rejects a connection of another user', async () => {
    const real = () => readFile('/proc/net/tcp', 'utf8')
    let asked = 0
    // The first list is the real one; in all others each connection is another user's.
    const list = async () => {
      const text = await real()
      return asked++ === 0 ? text : text.replaceAll(/( 01 \S+ \S+ \S+ +)\d+/g, '$1 4711')
    }
    const address = await oneUseAddress(target, clock, list)
    expect(await ask(address ?? '')).toMatchObject({ status: 403 })
  })

  test.skipIf(lacks(root) !== '')(
    `refuses another user who read the command line, and still leads its own${lacks(root)}`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'berth-desk-'))
      try {
        // Stands in for the desktop's opener and records its command line.
        const opener = join(folder, 'xdg-open')
        await writeFile(
          opener,
          `#!/bin/sh\necho "$*" > '${folder}/line.part' && mv '${folder}/line.part' '${folder}/line'\n`,
        )
        await chmod(opener, 0o755)
        const programs = systemPrograms({ PATH: `${folder}:/usr/bin:/bin` }, 'linux')
        const leadOnce = (address: string) => oneUseAddress(address, clock)
        await systemOpener(programs, 'linux', { files: new MemoryFiles(), clock, leadOnce }).openPrivately(
          target,
        )
        const line = () => readFile(join(folder, 'line'), 'utf8').catch(() => '')
        await expect.poll(line).toContain('http')
        const address = (await line()).trim()
        expect(address).not.toContain('s3cret')

        const script = `require('http').get('${address}', a => console.log(a.statusCode, a.headers.location))`
        const other = await promisify(execFile)(process.execPath, ['-e', script], {
          uid: nobody,
          gid: nobody,
          cwd: '/',
        })
        expect(other.stdout).toBe('403 undefined\n')
        expect(await ask(address)).toMatchObject({ status: 303, headers: { location: target } })
      } finally {
        await rm(folder, { recursive: true, maxRetries: 20 })
      }
    },
  )
})
