import { answerProblem } from '#renderer/bridge/page.svelte.ts'
import { stateWords } from '#renderer/bridge/stateWords.ts'
import { canGetIn, isContractOver, knownSpent } from '#shared/derived.ts'
import { csv, dollars } from '#shared/format/csv.ts'
import { rate } from '#shared/format/money.ts'
import { instanceName } from '#shared/format/name.ts'
import type { InstanceNote, InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { BerthError } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import { withoutEnd } from '#shared/text.ts'

/** An action on all of the selection that asks once. */
export type BulkAction = 'stop' | 'start' | 'destroy'

/** Which of these an action concerns, and that it isn't under way for; `now` in epoch seconds of the account's time. */
export function concerned(
  action: BulkAction,
  instances: readonly InstanceView[],
  now: number,
  { undoable, endings }: Partial<Pick<AccountView, 'undoable' | 'endings'>> = {},
): InstanceView[] {
  return instances.filter(instance => {
    const { id } = instance
    const ending = endings?.[id]?.action
    if (undoable?.[id]?.action === action || ending === action || ending === 'destroy') return false
    if (action === 'destroy') return instance.state !== 'destroying'
    const halted = hasTrait(instance.state, 'halted')
    if (action === 'stop') return !halted && instance.state !== 'destroying'
    return halted && !isContractOver(instance, now)
  })
}

/** An action's change of the cost, in micro-dollars per hour: saved when stopped or destroyed, added when started. */
export function costChange(action: BulkAction, instances: readonly InstanceView[]): number {
  return instances.reduce((sum, { costPerHour, diskPricePerHour = 0, pricePerHour = 0 }) => {
    if (action === 'destroy') return sum + costPerHour
    if (action === 'stop') return sum + Math.max(0, costPerHour - diskPricePerHour)
    return sum + Math.max(0, pricePerHour - costPerHour)
  }, 0)
}

/** The effect on costs, in one sentence; empty without any. */
export function selectionCostWords(action: BulkAction, instances: readonly InstanceView[]): string {
  const change = costChange(action, instances)
  if (change === 0) return ''
  return action === 'start' ? `Costs ${rate(change)} more.` : `Saves ${rate(change)}.`
}

/** The label with another prefix: the text before its first `/` is replaced, and without a label the number is kept. */
export function prefixed({ id, label }: Pick<InstanceView, 'id' | 'label'>, prefix: string): string {
  const name = label ? label.slice(label.indexOf('/') + 1) : String(id)
  return prefix === '' ? name : `${withoutEnd(prefix, '/')}/${name}`
}

/** Those that a command can run on now. */
export function reachable(instances: readonly InstanceView[]): InstanceView[] {
  return instances.filter(instance => instance.state === 'running' && canGetIn(instance))
}

/** One line for each instance. `now` in epoch seconds of the account's time. */
export function selectionCsv(
  instances: readonly InstanceView[],
  notes: Readonly<Record<string, InstanceNote>>,
  now: number,
): string {
  const heads = ['id', 'label', 'state', 'gpu', 'gpus', 'price_usd_per_hour', 'spent_usd', 'started', 'image']
  const rows = instances.map(instance => {
    const spent = knownSpent(instance, now)
    return [
      instance.id,
      instance.label ?? '',
      stateWords(instance.state, instance.actualStatus).word,
      instance.gpu?.name ?? '',
      instance.gpu?.count ?? '',
      instance.pricePerHour === undefined ? '' : dollars(instance.pricePerHour),
      spent === undefined ? '' : dollars(Math.round(spent)),
      instance.startedAt === undefined ? '' : new Date(instance.startedAt * 1000).toISOString(),
      instance.image ?? '',
      notes[instance.id]?.tags.join(' ') ?? '',
      notes[instance.id]?.note ?? '',
    ]
  })
  return csv([[...heads, 'tags', 'note'], ...rows])
}

/** Does it for all instances at once; throws `not_done`, naming those that failed and why the first did. */
export async function onEach(
  instances: readonly InstanceView[],
  act: (instance: InstanceView) => Promise<unknown>,
): Promise<void> {
  const failures = await Promise.all(
    instances.map(instance => act(instance).then(() => undefined, answerProblem)),
  )
  const failed = instances
    .filter((_, at) => failures[at] !== undefined)
    .map(instance => instanceName(instance))
  const why = failures.find(failure => failure !== undefined)?.message
  if (failed.length > 0)
    throw new BerthError({
      code: 'not_done',
      message: `This did not work for ${failed.length} of ${instances.length}: ${failed.join(', ')}.`,
      advice: why,
    })
}
