import { expect, test } from 'vitest'
import { BerthError } from '../../../electron/contract/problem.ts'
import { systemOpener } from '../../../electron/local/opener.ts'
import type { Programs } from '../../../electron/ports/programs.ts'

function recordingPrograms(there: readonly string[]) {
  const launched: (readonly string[])[] = []
  const programs: Programs = {
    find: async name => (there.includes(name) ? `/bin/${name}` : undefined),
    launch: async (program, args) => {
      launched.push([program, ...args])
    },
  }
  return { programs, launched }
}

test.each([
  ['linux', 'xdg-open', ['/bin/xdg-open']],
  ['darwin', 'open', ['/bin/open']],
  ['win32', 'rundll32', ['/bin/rundll32', 'url.dll,FileProtocolHandler']],
] as const)('on %s a link goes to %s as one argument', async (platform, name, begin) => {
  const { programs, launched } = recordingPrograms([name])
  await systemOpener(programs, platform).openLink('https://example.com/a?b=1&c=$(id)')
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
  const { programs, launched } = recordingPrograms(['xdg-open'])
  await expect(systemOpener(programs, 'linux').openLink(url)).rejects.toThrow(BerthError)
  expect(launched).toEqual([])
})

test('where nothing opens pages, that is said', async () => {
  const { programs } = recordingPrograms([])
  const opening = systemOpener(programs, 'linux').openLink('https://example.com/')
  await expect(opening).rejects.toMatchObject({ problem: { code: 'no_browser' } })
})
