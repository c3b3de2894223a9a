import { describe, expect, test } from 'vitest'
import { failsAfter, pauseAfter } from '#core/runs/decide.ts'
import { projectRun } from './stored-run.ts'

const { project } = projectRun()

describe('a project’s run whose move has failed', () => {
  const sending = {
    run: { step: 'sending', project },
    move: 'send',
    isOnline: true,
    same: 1,
    clock: 200,
  } as const

  test('retries after growing pauses, and fails after the last try', () => {
    const pauses = Array.from({ length: 8 }, (_, fails) =>
      pauseAfter({ code: 'sync_failed' }, { ...sending, fails }),
    )
    expect(pauses).toEqual([1000, 2000, 5000, 15_000, 60_000, 60_000, 60_000, undefined])
  })

  test('fails once the machine itself gives the same answer three times', () => {
    const pause = (code: string, same: number) => pauseAfter({ code }, { ...sending, fails: 2, same })
    expect([pause('not_prepared', 2), pause('not_prepared', 3)]).toEqual([5000, undefined])
    expect(pause('ssh_closed', 3)).toBe(5000)
    expect(pause('shell_replaced', 2)).toBeGreaterThan(0)
    expect(pause('shell_replaced', 3)).toBeUndefined()
  })

  test.each(['unauthorized', 'forbidden', 'tfa_needed'])(
    'fails at once where the service refuses its key to rent, as %s',
    code => {
      const renting = { ...sending, run: { step: 'waiting', project }, move: 'rent', fails: 0 } as const
      expect(pauseAfter({ code }, renting)).toBeUndefined()
      expect(pauseAfter({ code }, { ...renting, isOnline: false })).toBe(1000)
      expect(
        pauseAfter({ code }, { ...sending, run: { step: 'ending', project }, move: 'end', fails: 0 }),
      ).toBe(1000)
    },
  )

  test('waits ten minutes for results that change, and keeps its machine then', () => {
    const pause = (clock: number) =>
      pauseAfter(
        { code: 'results_changing' },
        {
          ...sending,
          move: 'fetch',
          run: { step: 'fetching', project, changingSince: 1000 },
          fails: 50,
          clock,
        },
      )
    expect([pause(1000), pause(1599), pause(1600)]).toEqual([15_000, 15_000, undefined])
  })

  test('waits half an hour for an unreachable machine', () => {
    let waited = 0
    for (let fails = 0; ; fails++) {
      const pause = pauseAfter({ code: 'ssh_unreachable' }, { ...sending, fails })
      if (pause === undefined) break
      waited += pause
    }
    expect(Math.round(waited / 60_000)).toBe(30)
  })

  test('fails at once with a question that only the user can answer, and soon while its program runs', () => {
    for (const code of [
      'host_key_changed',
      'host_key_known_elsewhere',
      'key_locked',
      'known_hosts_damaged',
    ]) {
      expect(pauseAfter({ code }, { ...sending, fails: 0 })).toBeUndefined()
      const running = (same: number) =>
        pauseAfter(
          { code },
          {
            ...sending,
            move: 'program',
            run: { step: 'running', project, begun: true },
            fails: same - 1,
            same,
          },
        )
      expect([1, 2, 3, 4].map(running)).toEqual([1000, 2000, 5000, undefined])
    }
  })

  test('fails at once when no retry can help', () => {
    expect(pauseAfter({ code: 'disk_full' }, { ...sending, fails: 0 })).toBeUndefined()
  })

  test('keeps retrying while there is no network', () => {
    let fails = 0
    for (let tries = 0; tries < 500; tries++) {
      expect(pauseAfter({ code: 'ssh_closed' }, { ...sending, fails, isOnline: false })).toBeDefined()
      fails = failsAfter(fails, false)
    }
    // Once it is back, some further tries are left.
    for (const code of ['ssh_closed', 'offline'])
      expect(pauseAfter({ code }, { ...sending, fails: failsAfter(fails, true) })).toBe(60_000)
  })

  test('never ends a command that may run, nor one whose folder cannot be reached', () => {
    const command = {
      ...sending,
      run: { step: 'running', begun: true },
      move: 'program',
      same: 99,
      fails: 99,
    } as const
    expect(pauseAfter({ code: 'shell_replaced' }, command)).toBe(60_000)
    expect(pauseAfter({ code: 'disk_full' }, command)).toBe(60_000)
    expect(pauseAfter({ code: 'disk_full' }, { ...command, run: { step: 'running' } })).toBeUndefined()
    const fetching = { ...command, run: { step: 'fetching' }, move: 'fetch' } as const
    expect(pauseAfter({ code: 'ssh_closed' }, fetching)).toBe(60_000)
    expect(pauseAfter({ code: 'results_missing' }, fetching)).toBeUndefined()
  })

  test('retries the stop of its instance without limit', () => {
    const halting = {
      run: { step: 'ending', project, problem: { code: 'setup_failed', message: 'It ended.' } },
      move: 'end',
      isOnline: true,
      same: 500,
      clock: 200,
    } as const
    expect(pauseAfter({ code: 'unreachable' }, { ...halting, fails: 500 })).toBe(60_000)
  })
})
