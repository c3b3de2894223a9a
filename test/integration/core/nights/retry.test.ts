import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject } from '../projects/place.ts'

describe.skipIf(noSshd)(`a project’s command that fails${noSshd}`, () => {
  test('is tried again on its machine with its files and environment, and says what it waits for', async () => {
    const { under, folder, runProject } = await openProject({
      'berth.yaml': `env: { STEPS: 7 }
retry: { times: 2, on: [137] }
run: |
  mkdir -p out; echo "$STEPS steps" >> out/log
  [ $(wc -l < out/log) -gt 1 ] || exit 137
results: out
stop: { hours: 2 }
`,
    })
    const id = await runProject()
    const job = () => jobOf(under, id)
    await under.until(() => job()?.waiting?.for === 'retry')
    expect(job()).toMatchObject({
      step: 'running',
      waiting: {
        problem: { message: 'The command ended with exit code 137 (killed, often out of memory).' },
      },
      retried: { times: 1, before: 0, code: 137 },
    })
    await under.until(() => job()?.step === 'done')
    expect(readFileSync(join(folder, 'out/log'), 'utf8')).toBe('7 steps\n7 steps\n')
    expect(job()).toMatchObject({ code: 0, retried: { times: 1 }, waiting: undefined })
  })

  test('is tried again on another machine with its files, where its file says so', async () => {
    const { world, under, folder, runProject } = await openProject(
      {
        'berth.yaml': `machine: { price: 5 }
retry: { times: 2, on: [9], elsewhere: true }
run: |
  mkdir -p out; echo step >> out/log
  [ $(wc -l < out/log) -gt 1 ] || exit 9
results: out
stop: { hours: 2 }
`,
      },
      undefined,
      {},
      2,
    )
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'done')
    expect(readFileSync(join(folder, 'out/log'), 'utf8')).toBe('step\nstep\n')
    expect(jobOf(under, id)).toMatchObject({ code: 0, moves: 1, retried: { times: 1, before: 1, code: 9 } })
    await under.until(() => Object.keys(under.account().instances).length === 0)
    expect(world.sim.controls.ledger().instances).toHaveLength(2)
  })

  test('with an exit code that isn’t named fails at once, and a kill is called so', async () => {
    const { under, runProject } = await openProject({
      'berth.yaml': 'run: exit 137\nretry: { times: 3, on: timeout }\n',
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(jobOf(under, id)?.problem).toMatchObject({
      code: 'command_failed',
      message: 'The command ended with exit code 137 (killed, often out of memory).',
    })
    const said = Object.values(under.berth.state().activity).map(({ text }) => text)
    expect(said).toContain('digits was killed')
  })
})
