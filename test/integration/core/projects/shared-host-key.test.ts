import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject } from './place.ts'

describe.skipIf(noSshd)(`machines whose image has the host key${noSshd}`, () => {
  test('run one command on four nodes', async () => {
    // All are on one computer, so each has an address of its own by name only.
    const { under, sshds, runProject } = await openProject(
      {
        'berth.yaml':
          'machine: { gpu: RTX 4090 }\nnodes: 4\nengine: none\nrun: echo "node $NODE_RANK" > out.txt\nresults: out.txt\n',
      },
      undefined,
      // On a busy computer four logins take a while, and no other offer fits four alike.
      { seed: 7, offers: 500, speed: 30 },
      4,
      server => [`SetEnv PATH=/tmp/berth-test-ip-${process.pid}/${server}:/usr/local/bin:/usr/bin:/bin`],
    )
    sshds.forEach((_, server) => {
      const bin = `/tmp/berth-test-ip-${process.pid}/${server}`
      mkdirSync(bin, { recursive: true })
      writeFileSync(join(bin, 'ip'), `#!/bin/sh\necho "2: eth0    inet 10.0.1.${server + 10}/24"\n`, {
        mode: 0o755,
      })
    })
    const id = await runProject()
    await under.until(() => ['done', 'failed'].includes(jobOf(under, id)?.step ?? ''), 120_000)
    const run = jobOf(under, id)
    expect(run?.problem).toBeUndefined()
    expect([run, ...(run?.nodes ?? [])].map(node => node?.step)).toEqual(['done', 'done', 'done', 'done'])
  })

  test('are refused once the key of the same instance has changed, and the run fails at once with that', async () => {
    const { under, sshd, runProject } = await openProject({
      'berth.yaml': 'setup: until [ -e ../../go ]; do sleep 0.1; done\nrun: echo done\n',
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.outputs.includes('setup') === true)
    await sshd.changeHostKey()
    sshd.dropConnections()
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(jobOf(under, id)?.problem?.code).toBe('host_key_changed')
  })
})
