import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'

/** For `run-ends.test.ts`, which has the runner run it: it ends only if it is killed. */
test('something passes before', () => {
  expect(1).toBe(1)
})

test('a thread blocks for ever, beside a process that it started', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' })
  console.log(`left behind: ${child.pid}.`)
  // Until the line has reached vitest.
  await pause(2000)
  for (;;);
})

test('this one never begins', () => {
  expect(1).toBe(2)
})
