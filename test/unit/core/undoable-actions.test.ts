import { expect, test } from 'vitest'
import type { AccountContext } from '#core/account-context.ts'
import { openUndoableActions } from '#core/undoable-actions.ts'
import { ServiceError } from '#service/service-error.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { account, accountContext, freshAnswer, noting } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { instanceView } from '#test/unit/views.ts'

const box = instanceView({ id: 7, label: 'box', gpu: { name: 'RTX 4090', count: 1 } })

/** Starts of Berth on one disk, with one instance on a service that records its requests. */
function world(instance: InstanceView = box) {
  const files = new MemoryFiles()
  const asked: string[] = []
  let answer: () => Promise<void> = async () => undefined
  const ask = (what: string) => async (id: number) => {
    asked.push(`${what} ${id}`)
    await answer()
    return { queued: false }
  }
  const client = {
    instances: { stop: ask('stop'), start: ask('start'), reboot: ask('reboot') },
  } as unknown as ReturnType<AccountContext['client']>

  async function start(onDisk: MemoryFiles = files) {
    const clock = new HandClock()
    const { said, activity } = noting()
    const context = accountContext({ clock, files: onDisk, client: () => client, activity })
    context.store.change(draft => {
      const view = draft.accounts[account]
      if (view) view.instances = { [instance.id]: instance }
    })
    const actions = await openUndoableActions(context)
    actions.resume?.()
    return {
      actions,
      clock,
      said,
      shown: () => context.store.get().accounts[account]?.undoable,
      poll: async (instances: Record<string, InstanceView> = { [instance.id]: instance }) => {
        actions.onPoll(freshAnswer(context, instances))
        await flushPromises()
      },
    }
  }
  return {
    files,
    asked,
    start,
    answers: (next: () => Promise<void>) => {
      answer = next
    },
  }
}

const lost = new ServiceError({ code: 'timeout', message: '', status: 0, advice: '', ambiguous: true })

/** A copy of the disk, for a start after a kill. */
function copyOf(files: MemoryFiles): MemoryFiles {
  const copy = new MemoryFiles()
  for (const [name, text] of files.texts) copy.texts.set(name, text)
  return copy
}

test('a stop is on disk and in State at once, and is sent after five seconds', async () => {
  const { files, asked, start } = world()
  const { actions, clock, shown, said } = await start()
  const sent = actions.sendSoon(box, 'stop')
  await flushPromises()
  expect(files.texts.get(`accounts/${account}/undoable-actions.json`)).toContain('"stop"')
  expect(shown()).toEqual({ 7: { action: 'stop', sendAt: clock.now() + 5000 } })
  await clock.pass(4999)
  expect(asked).toEqual([])
  await clock.pass(1)
  await sent
  expect(asked).toEqual(['stop 7'])
  expect(shown()).toEqual({})
  expect(said).toEqual([])
})

test('a stop that waited while this computer slept is sent on waking, and said to be late', async () => {
  const { asked, start } = world()
  const { actions, clock, said } = await start()
  void actions.sendSoon(box, 'stop')
  await flushPromises()
  clock.wall += 36_000_000
  await clock.pass(5000)
  expect(asked).toEqual(['stop 7'])
  expect(said).toEqual(['Your stop of box #7 comes 10 h late'])
})

test('an undone action is never sent, and cannot be undone twice', async () => {
  const { asked, start } = world()
  const { actions, clock, shown } = await start()
  const sent = actions.sendSoon(box, 'stop')
  await clock.pass(4999)
  await actions.undo(7)
  await sent
  await clock.pass(60_000)
  expect(asked).toEqual([])
  expect(shown()).toEqual({})
  await expect(actions.undo(7)).rejects.toMatchObject({ problem: { code: 'not_undone' } })
  await expect((await start()).poll()).resolves.toBeUndefined()
  expect(asked).toEqual([])
})

test('pending actions are sent when Berth ends, even if the service does not answer', async () => {
  const { asked, start, answers } = world()
  const first = await start()
  void first.actions.sendSoon(box, 'stop')
  await flushPromises()
  await first.actions.sendAll()
  expect(asked).toEqual(['stop 7'])

  answers(() => new Promise(() => undefined))
  void first.actions.sendSoon(box, 'reboot')
  await flushPromises()
  const ended = first.actions.sendAll()
  await first.clock.pass(5000)
  await ended
  expect(asked).toEqual(['stop 7', 'reboot 7'])
})

test('a stop that can still be undone is sent before the computer sleeps, a start is not', async () => {
  const { asked, start } = world()
  const { actions } = await start()
  void actions.sendSoon(box, 'start')
  await flushPromises()
  actions.sendStops()
  await flushPromises()
  expect(asked).toEqual([])
  await actions.undo(7)
  void actions.sendSoon(box, 'stop')
  await flushPromises()
  actions.sendStops()
  await flushPromises()
  expect(asked).toEqual(['stop 7'])
})

test('after a kill at any step a pending stop is sent, an answered or undone one is not', async () => {
  const { files, asked, start, answers } = world()
  const { actions, clock } = await start()
  const disks: Record<string, MemoryFiles> = {}
  void actions.sendSoon(box, 'stop')
  await flushPromises()
  disks['asked for'] = copyOf(files)
  let answered: () => void = () => undefined
  answers(() => new Promise(resolve => (answered = resolve)))
  await clock.pass(5000)
  disks['sent, and not answered'] = copyOf(files)
  answered()
  await flushPromises()
  disks['answered'] = copyOf(files)
  void actions.sendSoon(box, 'stop')
  await flushPromises()
  await actions.undo(7)
  disks['undone'] = copyOf(files)
  answers(async () => undefined)

  for (const [step, again] of [
    ['asked for', ['stop 7']],
    ['sent, and not answered', ['stop 7']],
    ['answered', []],
    ['undone', []],
  ] as const) {
    asked.length = 0
    const next = await start(disks[step])
    expect(asked, step).toEqual([])
    await next.poll()
    await next.poll()
    expect(asked, step).toEqual(again)
    expect(next.shown(), step).toEqual({})
  }
})

test('after a kill a stop is retried until answered, unless it is stopped or gone', async () => {
  const { files, asked, start, answers } = world()
  void (await start()).actions.sendSoon(box, 'stop')
  await flushPromises()
  const disk = copyOf(files)

  answers(() => {
    throw lost
  })
  const later = await start(copyOf(disk))
  await later.poll()
  await later.poll()
  expect(asked).toEqual(['stop 7', 'stop 7'])
  answers(async () => undefined)
  await later.poll()
  await later.poll()
  expect(asked).toHaveLength(3)

  asked.length = 0
  const stopped = { ...box, state: 'stopped' } as const
  const rested = await world(stopped).start(copyOf(disk))
  await rested.poll()
  expect(rested.shown()).toEqual({})
  expect(rested.said).toEqual(['Stopped box #7'])
  const gone = await start(copyOf(disk))
  await gone.poll({})
  expect(gone.shown()).toEqual({})
  expect(asked).toEqual([])
})

test('after a kill a pending start is dropped, and Activity says so', async () => {
  const { files, asked, start } = world()
  void (await start()).actions.sendSoon(box, 'start')
  await flushPromises()
  const next = await start(copyOf(files))
  await next.poll()
  expect(asked).toEqual([])
  expect(next.said).toEqual(['Not started: box #7'])
})

test('a stop that cannot be stored is sent at once', async () => {
  const { files, asked, start } = world()
  const { actions } = await start()
  files.refusing = 'ENOSPC'
  await actions.sendSoon(box, 'stop')
  expect(asked).toEqual(['stop 7'])
})

test('a refused action is reported, in Activity too, and not retried', async () => {
  const { asked, start, answers } = world()
  const { actions, clock, said, poll } = await start()
  answers(() => {
    throw new ServiceError({ code: 'bad_request', message: 'It is locked.', status: 400, advice: '' })
  })
  const sent = expect(actions.sendSoon(box, 'stop')).rejects.toMatchObject({ code: 'bad_request' })
  await clock.pass(5000)
  await sent
  await poll()
  expect(asked).toEqual(['stop 7'])
  expect(said).toEqual(['Not stopped: box #7'])
})

test('of an action whose answer was lost, nothing is claimed', async () => {
  const { start, answers } = world()
  const { actions, clock, said } = await start()
  answers(() => {
    throw lost
  })
  const sent = expect(actions.sendSoon(box, 'start')).rejects.toMatchObject({ code: 'timeout' })
  await clock.pass(5000)
  await sent
  expect(said).toEqual(['May have been started: box #7'])
})

test('a second action is ignored while one waits, and a direct one replaces it', async () => {
  const { asked, start } = world()
  const { actions, clock } = await start()
  void actions.sendSoon(box, 'reboot')
  await clock.pass(2000)
  await actions.sendSoon(box, 'stop')
  await actions.send(box, 'stop')
  await clock.pass(60_000)
  expect(asked).toEqual(['stop 7'])
})
