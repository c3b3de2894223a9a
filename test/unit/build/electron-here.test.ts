import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { electronVersion, fetchElectron } from '#build/electron/here.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

let folder: string
beforeEach(() => {
  folder = temporaryFolder()
})

/** Runs an installer with that source; gives why it failed and what it printed. */
async function fetchBy(source: string): Promise<{ why: string; told: string }> {
  const script = join(folder, 'install.cjs')
  await writeFile(script, source)
  let told = ''
  const why = await fetchElectron(script, words => {
    told += words
  })
  return { why, told }
}

test('shows the output of Electron’s installer when it fails', async () => {
  const { why, told } = await fetchBy(
    "console.error('getaddrinfo ENOTFOUND github.com'); process.exitCode = 1",
  )
  expect(why).toBe('its installer ended with 1')
  expect(told).toContain('getaddrinfo ENOTFOUND github.com')
})

test('the output of a successful installer is not shown', async () => {
  expect(await fetchBy("console.log('fetched')")).toEqual({ why: 'its installer ended with 0', told: '' })
})

test.skipIf(process.platform === 'win32')('one line says why a program isn’t Electron’s', async () => {
  const program = join(folder, 'electron')
  const failure = () => {
    try {
      return electronVersion(program)
    } catch (error) {
      return error instanceof Error ? error.message : error
    }
  }
  expect(failure()).toBe(`${program} does not start: spawnSync ${program} ENOENT`)
  await writeFile(program, '#!/bin/sh\necho no library >&2\necho more >&2\nexit 127\n', { mode: 0o755 })
  expect(failure()).toBe(`${program} does not start: no library`)
  await writeFile(program, '#!/bin/sh\nexit 3\n')
  expect(failure()).toBe(`${program} does not start: it ends with 3`)
})
