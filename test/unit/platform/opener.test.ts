import { expect, test } from 'vitest'
import { systemOpener } from '#platform/opener.ts'
import { BerthError } from '#shared/problem.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles, testPrograms } from '#test/berth/machine.ts'

const here = { files: new MemoryFiles(), clock: new HandClock(), leadOnce: async () => undefined }

test.each([
  ['linux', 'xdg-open', ['/bin/xdg-open']],
  ['darwin', 'open', ['/bin/open']],
  ['win32', 'rundll32', ['/bin/rundll32', 'url.dll,FileProtocolHandler']],
] as const)('on %s a link goes to %s as one argument', async (platform, name, begin) => {
  const { programs, launched } = testPrograms(name)
  await systemOpener(programs, platform, here).openLink('https://example.com/a?b=1&c=$(id)')
  expect(launched).toEqual([[...begin, 'https://example.com/a?b=1&c=$(id)']])
})

test.each([
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,x',
  'ssh://host',
  '--help',
  'smb://host/share',
  'https://user:pass@example.com/',
  'not an address',
  '',
])('%j is not opened', async url => {
  const { programs, launched } = testPrograms('xdg-open')
  await expect(systemOpener(programs, 'linux', here).openLink(url)).rejects.toThrow(BerthError)
  expect(launched).toEqual([])
})

test('without a program for links the error is no_browser', async () => {
  const { programs } = testPrograms()
  const opening = systemOpener(programs, 'linux', here).openLink('https://example.com/')
  await expect(opening).rejects.toMatchObject({ problem: { code: 'no_browser' } })
})

test('an address with a secret is opened through a one-time address', async () => {
  const { programs, launched } = testPrograms('xdg-open')
  const led: string[] = []
  const leadOnce = async (address: string) => {
    led.push(address)
    return 'http://127.0.0.1:40000/once'
  }
  const files = new MemoryFiles()
  const opener = systemOpener(programs, 'linux', { files, clock: new HandClock(), leadOnce })
  await opener.openPrivately('http://127.0.0.1:20001/?token=s3cret')
  expect(launched).toEqual([['/bin/xdg-open', 'http://127.0.0.1:40000/once']])
  expect(led).toEqual(['http://127.0.0.1:20001/?token=s3cret'])
  expect(files.texts.size).toBe(0)
})

test('without a one-time address the secret is in a file that is deleted after a minute', async () => {
  const { programs, launched } = testPrograms('xdg-open')
  const files = new MemoryFiles()
  const clock = new HandClock()
  await systemOpener(programs, 'linux', { ...here, files, clock }).openPrivately(
    'http://127.0.0.1:20001/?token=s3cret&a="b"',
  )
  expect(launched).toEqual([['/bin/xdg-open', '/memory/open-link-1.html']])
  const page = files.texts.get('open-link-1.html')
  expect(page).toContain('content="0; url=http://127.0.0.1:20001/?token=s3cret&#38;a=%22b%22"')
  expect(JSON.stringify(launched)).not.toContain('s3cret')
  await clock.pass(60_000)
  expect(files.texts.size).toBe(0)
})
