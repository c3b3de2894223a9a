import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isGoing } from '#shared/automation/run.ts'
import { openProject } from '#test/integration/core/projects/place.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'

/** Programs that GNU's and Debian's images have, in a folder of their own without those named. */
function programs(without: readonly string[]): string {
  const folder = scratch()
  for (const name of ['bash', 'sh', ...usual].filter(each => !without.includes(each)))
    for (const place of ['/usr/bin', '/bin', '/usr/sbin'])
      if (existsSync(join(place, name)) && !existsSync(join(folder, name)))
        symlinkSync(join(place, name), join(folder, name))
  return folder
}

const usual =
  'awk base64 cat chmod cksum comm cp cut date dd df du echo env expr false find grep gzip head id ip kill ln ls mkdir mkfifo mktemp mv nohup nvidia-smi od ps pwd readlink realpath rm sed seq setsid sha256sum sleep sort stat stty tail tar tee test timeout touch tr true tty uname wc which xargs'.split(
    ' ',
  )

/** The same from BusyBox. */
function busybox(): string {
  const folder = scratch()
  for (const name of [...usual, 'sh']) symlinkSync('/bin/busybox', join(folder, name))
  symlinkSync('/bin/bash', join(folder, 'bash'))
  return folder
}

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'berth-image-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Lines of an image's sshd, and what is in its home. */
interface Image {
  /** The problem with which its runs fail at once. */
  problem?: string
  lines?: () => readonly string[]
  home?: Readonly<Record<string, string>>
}

const images: Readonly<Record<string, Image>> = {
  'a strict umask': { home: { '.bashrc': 'umask 077\n', '.profile': 'umask 077\n' } },
  'a tmux of its own that ends what is unattached': {
    home: {
      '.tmux.conf':
        'set -g destroy-unattached on\nset -g exit-unattached on\nset -g default-command "sleep 1"\n',
    },
  },
  'a PATH of its own': { lines: () => [`SetEnv PATH=${programs([])}`] },
  'no tmux, setsid or sha256sum': { lines: () => [`SetEnv PATH=${programs(['setsid', 'sha256sum'])}`] },
  'no tar': { problem: 'no_tar', lines: () => [`SetEnv PATH=${programs(['tar'])}`] },
  'BusyBox alone': { lines: () => [`SetEnv PATH=${busybox()}`] },
  'a .bashrc that prints and fails': { home: { '.bashrc': 'echo "Welcome to the image"; false\n' } },
}

describe.skipIf(noSshd)(`a project runs on an image with${noSshd}`, () => {
  test.each(Object.entries(images))('%s', async (_, image) => {
    const { under, sshd, folder, runProject } = await openProject(
      {
        'berth.yaml':
          'setup: echo ready > prepared.txt\nenv: { WHO: "it\'s me" }\nrun: cat prepared.txt in/data.txt; echo "$WHO" > out/who.txt\nresults: out\n',
        'in/data.txt': 'sent\n',
        'out/.keep': '',
      },
      undefined,
      {},
      1,
      () => image.lines?.() ?? [],
    )
    for (const [path, text] of Object.entries(image.home ?? {})) writeFileSync(join(sshd.home, path), text)
    const id = await runProject()
    const run = () => under.account().runs[id]
    await under.until(() => run() !== undefined && !isGoing(run() ?? { step: 'waiting' }), 100_000)
    const { step, problem } = run() ?? {}
    expect({ step, problem: problem?.code }).toEqual({
      step: image.problem === undefined ? 'done' : 'failed',
      problem: image.problem,
    })
    if (image.problem !== undefined) return
    expect(readFileSync(join(folder, 'out/who.txt'), 'utf8')).toBe("it's me\n")
  })
})
