import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

function start(...flags: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'simulator/main.ts', ...flags])
  const out = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => {
    out.stdout += chunk
  })
  child.stderr.on('data', chunk => {
    out.stderr += chunk
  })
  return { child, out }
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

test('the simulator prints one JSON line, answers at its address, and stops on SIGTERM', async () => {
  const { child, out } = start('--port', '0', '--seed', '3', '--offers', '20', '--calm', '--no-limits')
  try {
    await expect.poll(() => out.stdout).toMatch(/\n$/)
    const line = JSON.parse(out.stdout) as { base_url: string; api_key: string; user_id: number }
    expect(Object.keys(line)).toEqual(['base_url', 'api_key', 'user_id'])
    expect(line.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const headers = { authorization: `Bearer ${line.api_key}` }
    const user = await fetch(`${line.base_url}/api/v0/users/current/`, { headers })
    expect(await user.json()).toMatchObject({ id: line.user_id })
    child.kill('SIGTERM')
    expect(await ended(child)).toBe(0)
    expect(out.stdout.trim().split('\n')).toHaveLength(1)
  } finally {
    child.kill('SIGKILL')
  }
})

test('a bad flag is named on stderr, with exit code 2', async () => {
  const { child, out } = start('--deployment', 'public,list=v9')
  expect(await ended(child)).toBe(2)
  expect(out.stderr).toContain('--deployment')
  expect(out.stdout).toBe('')
})
