import { expect, test } from 'vitest'
import type { Call } from '#cli/call.ts'
import { stopProject } from '#cli/project-runs.ts'
import type { State } from '#shared/state.ts'
import { accountView, instanceView, projectRunView } from '../views.ts'

const there = { instance: 4711, project: 'p1', since: 0, until: 1200, action: 'destroy' } as const

/** A call on a project named `sums`, whose machine 4711 waits, and what it did. `endWaiting` ends the machine there and then. */
function calling(given: Partial<Call> = {}, runs = [projectRunView()]) {
  const account = accountView(
    { runs: Object.fromEntries(runs.map(run => [run.id, run])), waiting: { 4711: there } },
    instanceView({ label: 'sums' }),
  )
  const state = {
    accounts: { [account.id]: account },
    projects: { p1: { id: 'p1', name: 'sums', folder: '/x' } },
  }
  const sent: string[] = []
  let out = ''
  const connection = {
    state: async () => state,
    change: async () => undefined,
    async command(name: string, args: { instance?: number; run?: string }) {
      sent.push(`${name} ${args.instance ?? args.run}`)
      if (name === 'endWaiting') Object.assign(account, { waiting: {}, instances: {} })
      if (name === 'cancelRun') Object.assign(account.runs[args.run ?? ''] ?? {}, { step: 'cancelled' })
    },
  }
  const write = (text: string) => {
    out += text
  }
  const call = {
    connection,
    write,
    say: () => undefined,
    yes: true,
    json: false,
    ...given,
  } as unknown as Call
  const stop = (isInstance: boolean) => stopProject(call, state as unknown as State, 'sums', isInstance)
  return { stop, sent, printed: () => out }
}

test.each([true, false])(
  'ends a project’s machine that waits, rather than stop it, also by its label: %s',
  async isLabel => {
    const { stop, sent, printed } = calling()
    expect(await stop(isLabel)).toBe(true)
    expect(sent).toEqual(['endWaiting 4711'])
    expect(printed()).toBe('Ended its waiting machine of sums\n')
  },
)

test('ends it beside a run, and lists it in JSON', async () => {
  const going = projectRunView({ step: 'running' })
  const { stop, sent, printed } = calling({ json: true }, [going])
  expect(await stop(true)).toBe(true)
  expect(sent).toEqual([`cancelRun ${going.id}`, 'endWaiting 4711'])
  expect(JSON.parse(printed())).toEqual({ project: 'p1', sweeps: [], jobs: [going.id], waiting: [4711] })
})

test('asks first where an instance has the name, too', async () => {
  const { stop, sent } = calling({ yes: false })
  await expect(stop(true)).rejects.toMatchObject({
    problem: {
      code: 'needs_yes',
      advice: expect.stringContaining('To stop only the instance sums, use its id'),
    },
  })
  expect(sent).toEqual([])
})
