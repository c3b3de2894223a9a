import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

/** The exit code and signal of a process that ends while a native call is under way. */
async function endsWith(call: string): Promise<unknown> {
  const script = `
    import { Shutdown } from '#machine/start/shutdown.ts'
    const shutdown = new Shutdown(1000)
    const underWay = new Set()
    shutdown.addNativeCalls(underWay)
    const call = ${call}
    underWay.add(call)
    call.then(() => underWay.delete(call))
    await shutdown.exit(() => process.exit(0))`
  const words = ['--import', 'tsx', '--input-type=module', '-e', script]
  return once(spawn(process.execPath, words, { stdio: 'inherit' }), 'exit')
}

test.concurrent('a native call that returns lets the process end in order', async () => {
  expect(await endsWith('new Promise(resolve => setImmediate(resolve))')).toEqual([0, null])
})

test.concurrent('a native call that never returns does not hold the end', async () => {
  expect(await endsWith('new Promise(() => undefined)')).toEqual([null, 'SIGKILL'])
})
