import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'
import { processes } from '#build/process-tree.ts'

/** Runs `npm test` with the files `*.fixture.ts` beside this one in place of the tests. */
function runFixtures(env: Record<string, string>): Promise<{ code: unknown; output: string }> {
  const runner = ['--import', 'tsx', 'build/test.ts']
  const given = { ...process.env, BERTH_TEST_FIXTURES: '1', CI: '', ...env }
  return new Promise(resolve => {
    execFile(process.execPath, runner, { env: given }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    )
  })
}

test.concurrent('a file that says nothing is killed with all it started, named and counted as failed', async () => {
  const { code, output } = await runFixtures({ BERTH_TEST_SILENCE: '20' })
  expect(output).toMatch(/Killed, since it said nothing for 20 seconds: \S*run-blocked\.fixture\.ts\n/)
  expect(output).toMatch(/Failed, since it did not end by itself: \S*run-blocked\.fixture\.ts\n/)
  expect(output).toMatch(/\n1 passed, 1 failed, 1 skipped\n/)
  expect(output).toMatch(/\n1 skipped: no time machine\n/)
  expect(code).toBe(1)
  const child = Number(/left behind: (\d+)\./.exec(output)?.[1])
  expect(child).toBeGreaterThan(0)
  expect(processes().find(({ pid }) => pid === child)).toBeUndefined()
})

test.concurrent('after its bound a run ends and has failed, whatever hangs', async () => {
  const { code, output } = await runFixtures({ BERTH_TEST_SILENCE: '600', BERTH_TEST_MINUTES: '0.4' })
  expect(output).toContain('The tests did not end within 0.4 minutes')
  expect(output).toMatch(/\n\d passed, 1 failed, \d skipped\n/)
  expect(code).toBe(1)
})
