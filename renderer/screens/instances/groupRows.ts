import { isProjectRun } from '#shared/automation/run.ts'
import type { InstanceGrouping } from '#shared/settings.ts'
import type { AccountView } from '#shared/state.ts'
import { needsYou, type Row } from './rows.ts'

/** Rows below one heading. */
export interface RowGroup {
  name: string
  rows: Row[]
}

/** Groups of fewer are put together under `Others`. */
const leastAlike = 2
const others = 'Others'

/**
 * The rows in groups, those with a row that needs the user first, then by name, rows without a group at the end; one
 * group without a name where they are not grouped. Rows keep their order.
 */
export function groupRows(
  rows: readonly Row[],
  by: InstanceGrouping,
  account: Pick<AccountView, 'runs' | 'notes'>,
): RowGroup[] {
  if (by === 'none') return [{ name: '', rows: [...rows] }]
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const name = nameOf(row, by, account)
    groups.set(name, [...(groups.get(name) ?? []), row])
  }
  if (by === 'name') {
    const alone = [...groups].filter(([name, members]) => name !== others && members.length < leastAlike)
    const rest = new Set([...(groups.get(others) ?? []), ...alone.flatMap(([, members]) => members)])
    for (const [name] of alone) groups.delete(name)
    if (rest.size > 0)
      groups.set(
        others,
        rows.filter(row => rest.has(row)),
      )
  }
  const rank = ({ name, rows }: RowGroup) => (rows.some(needsYou) ? 0 : name === others ? 2 : 1)
  return [...groups]
    .map(([name, members]) => ({ name, rows: members }))
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
}

function nameOf(
  { instance, rental }: Row,
  by: InstanceGrouping,
  { runs, notes }: Pick<AccountView, 'runs' | 'notes'>,
): string {
  if (by === 'tag') return notes[instance?.id ?? '']?.tags[0] ?? others
  if (by === 'name') return prefixOf(instance?.label ?? rental?.label ?? '') || others
  const run = Object.values(runs).find(
    one =>
      isProjectRun(one) &&
      ((instance !== undefined && one.instance === instance.id) ||
        (rental !== undefined && one.rental === rental.id)),
  )
  return run?.name ?? others
}

/** The text before the first `/`, before the number at the end, or before the first dash: `sweep` of `sweep-3`. */
export function prefixOf(label: string): string {
  const slash = label.indexOf('/')
  if (slash > 0) return label.slice(0, slash)
  const numbered = /^(.*?\p{L})[-_ .]*\d+$/u.exec(label)?.[1]
  return numbered ?? label.split(/[-_ ]/)[0] ?? ''
}
