import { describe, expect, test } from 'vitest'
import { isProjectRun } from '#shared/automation/run.ts'
import { openProject } from '#test/integration/core/projects/place.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'

/** An image without settings of its own. */
const plain = () => []

describe.skipIf(noSshd)(`machines whose image has the host key${noSshd}`, () => {
  test('take all twelve runs of a sweep at once, and each says that its key is shared', async () => {
    const { under, runProject } = await openProject(
      {
        'berth.yaml':
          'runs: 12\nat_once: 12\nrun: echo "$BERTH_RUN" > out.txt; until [ -e ../../go ]; do sleep 0.1; done\nresults: out.txt\n',
      },
      undefined,
      {},
      14,
      plain,
    )
    const id = await runProject()
    const runs = () => Object.values(under.account().runs).filter(isProjectRun)
    await under.until(() => runs().filter(run => run.outputs.includes('command')).length === 12, 120_000)
    const instances = runs().map(run => String(run.instance))
    expect(new Set(instances).size).toBe(12)
    expect(Object.keys(under.account().sharedHostKeys ?? {})).toEqual(expect.arrayContaining(instances))
    const told = Object.values(under.berth.state().activity).filter(({ text }) =>
      text.includes('the same host key'),
    )
    expect(told).toHaveLength(Object.keys(under.account().sharedHostKeys ?? {}).length - 1)
    await under.run('stopSweep', { sweep: id })
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })
})
