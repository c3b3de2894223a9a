import type { GroupView } from '#contract/automation/group.ts'
import type { AccountContext } from '../account-context.ts'
import type { Run } from '../runs/model.ts'
import { type Collection, openCollection } from '../storage/collection.ts'
import { Group, groupCost, groupDeadline, groupLimits, groupMost, groupRate } from './model.ts'

/** The sweeps of an account as stored, which the stored runs need, too. `runs`: all runs of the account. */
export function openStoredGroups(
  context: AccountContext,
  runs: () => readonly Run[],
): Promise<Collection<Group, string>> {
  return openCollection(context, {
    name: 'groups',
    schema: Group,
    key: ({ id }) => id,
    missing: { code: 'no_such_group', message: 'That sweep is no longer on the list.' },
    view: all => ({
      groups: Object.fromEntries(
        all.map(group => [
          group.id,
          groupView(
            group,
            runs().filter(run => run.group?.id === group.id),
            context.now(),
          ),
        ]),
      ),
    }),
  })
}

function groupView(group: Group, own: readonly Run[], now: number): GroupView {
  const { project, since, machines, tried: _tried, ...shown } = group
  const { most, seconds } = groupLimits(group)
  const at = Math.max(since.at, ...Object.values(machines).map(machine => machine.at))
  const isLimited = shown.step === 'going' && (most !== undefined || seconds !== undefined)
  return {
    ...shown,
    project: project.id,
    cost: { micros: groupCost(group, own, at), at, perHour: groupRate(group) },
    most: groupMost(group),
    deadline: isLimited ? groupDeadline(group, own, now) : undefined,
  }
}
