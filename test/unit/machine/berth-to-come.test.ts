import { expect, test } from 'vitest'
import type { RunningBerth } from '#core/running.ts'
import { berthToCome } from '#machine/start/shutdown.ts'
import { deferred } from '#machine/tasks.ts'

/** A Berth that arrives when the test says so, and what has reached it. */
function starting() {
  const there = deferred<Pick<RunningBerth, 'connectPage' | 'sshArguments' | 'registerProject'>>()
  const reached: unknown[] = []
  const running: Pick<RunningBerth, 'connectPage' | 'sshArguments' | 'registerProject'> = {
    connectPage(send) {
      send({ kind: 'answer', call: 1, answer: 'here' })
      return {
        receive: message => void reached.push(message),
        drained: () => void reached.push('drained'),
        isBusy: () => false,
        close: () => void reached.push('closed'),
      }
    },
    sshArguments: async ({ instance }) => ['ssh', String(instance)],
    registerProject: async folder => folder,
  }
  return {
    berth: berthToCome(there.promise),
    reached,
    arrive: () => there.resolve(running),
    fail: there.reject,
  }
}

test('messages of a page from before Berth has started arrive later, in order', async () => {
  const { berth, reached, arrive } = starting()
  const sent: unknown[] = []
  const link = berth.connectPage(message => sent.push(message) > 0)
  link.receive({ kind: 'sync' })
  link.receive({ kind: 'command' })
  link.drained()
  link.close()
  await Promise.resolve()
  expect({ reached, sent }).toEqual({ reached: [], sent: [] })
  arrive()
  expect(await berth.sshArguments({ instance: 7 })).toEqual(['ssh', '7'])
  expect(reached).toEqual([{ kind: 'sync' }, { kind: 'command' }, 'drained', 'closed'])
  expect(sent).toEqual([{ kind: 'answer', call: 1, answer: 'here' }])
})

test('a failed start rejects pending calls, and a waiting page does no harm', async () => {
  const { berth, reached, fail } = starting()
  const link = berth.connectPage(() => true)
  link.receive({ kind: 'sync' })
  const asked = berth.registerProject('/home/you/project')
  fail(new Error('the disk is full'))
  await expect(asked).rejects.toThrow('the disk is full')
  link.close()
  await new Promise(resolve => setImmediate(resolve))
  expect(reached).toEqual([])
})
