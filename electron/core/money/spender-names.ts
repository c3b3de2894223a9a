import * as v from 'valibot'
import { isProjectRun } from '#contract/automation/run.ts'
import type { MoneyDay, SpenderName } from '#contract/spending/history.ts'
import type { AccountPoll } from '../account-context.ts'

export const StoredNames: v.GenericSchema<Record<string, SpenderName>> = v.record(
  v.string(),
  v.object({
    gpu: v.optional(v.string()),
    label: v.optional(v.string()),
    project: v.optional(v.string()),
  }),
)

/** Characters of a label that are stored. */
const longestLabel = 80

/** Adds the names of the present instances; those of gone instances stay. */
export function namedSpenders(
  names: Readonly<Record<string, SpenderName>>,
  account: AccountPoll['account'],
): Record<string, SpenderName> {
  const named = { ...names }
  const projects = projectsByInstance(account)
  for (const { id, gpu, label: inFull } of Object.values(account.instances)) {
    const before = names[id]
    const label = inFull?.slice(0, longestLabel)
    const project = projects.get(id) ?? before?.project
    if (before && before.gpu === gpu?.name && before.label === label && before.project === project) continue
    named[id] = { gpu: gpu?.name, label, project }
  }
  return named
}

/** The project that each machine was rented for, including machines that could not be entered. */
function projectsByInstance({
  runs,
  rentals,
}: Pick<AccountPoll['account'], 'runs' | 'rentals'>): ReadonlyMap<number, string> {
  return new Map(
    Object.values(runs)
      .filter(isProjectRun)
      .flatMap(({ name, instance, rental = '' }) =>
        [instance, ...(rentals[rental]?.tries ?? []).map(tried => tried.instance)].flatMap(id =>
          id === undefined ? [] : [[id, name] as const],
        ),
      ),
  )
}

/** The names that some stored day refers to. */
export function neededNames(
  names: Readonly<Record<string, SpenderName>>,
  days: readonly MoneyDay[],
): Record<string, SpenderName> {
  const needed = new Set(days.flatMap(({ instances }) => Object.keys(instances)))
  return Object.fromEntries(Object.entries(names).filter(([id]) => needed.has(id)))
}
