import { csv, dollars } from '#shared/format/csv.ts'
import type { MoneyDay, MoneySample, SpenderName } from '#shared/spending/history.ts'

/** One row a day: spent and topped up in dollars, the final credit, and whether sums are estimated, and as charged. */
export function daysCsv(days: readonly MoneyDay[]): string {
  const rows = days.map(({ day, spent, toppedUp, credit, estimated, charged }) => [
    day,
    dollars(spent),
    dollars(toppedUp),
    credit === undefined ? '' : dollars(credit),
    estimated ? 'yes' : '',
    charged ? 'yes' : '',
  ])
  return csv([['day', 'spent_usd', 'topped_up_usd', 'credit_usd', 'estimated', 'as_charged'], ...rows])
}

/** One row for each instance on each day; the rest of a day has a row without one. */
export function instancesCsv(
  days: readonly MoneyDay[],
  names: Readonly<Record<string, SpenderName>>,
): string {
  const rows = days.flatMap(({ day, instances, spent }) => {
    const shares = Object.entries(instances)
    const rest = spent - shares.reduce((sum, [, share]) => sum + share, 0)
    return [
      ...shares.map(([id, share]) => {
        const { label = '', gpu = '', project = '' } = names[id] ?? {}
        return [day, id, label, gpu, dollars(share), project]
      }),
      ...(rest === 0 ? [] : [[day, '', 'not of one instance', '', dollars(rest), '']]),
    ]
  })
  return csv([['day', 'instance', 'label', 'gpu', 'spent_usd', 'project'], ...rows])
}

/** One row for each GPU model on each day; the rest of a day has a row without one. */
export function modelsCsv(days: readonly MoneyDay[]): string {
  const rows = days.flatMap(({ day, models, spent }) => {
    const shares = Object.entries(models)
    const rest = spent - shares.reduce((sum, [, share]) => sum + share, 0)
    return [
      ...shares.map(([model, share]) => [day, model || 'unknown GPU', dollars(share)]),
      ...(rest === 0 ? [] : [[day, 'not of one GPU', dollars(rest)]]),
    ]
  })
  return csv([['day', 'gpu', 'spent_usd'], ...rows])
}

/** One row a sample. */
export function samplesCsv(samples: readonly MoneySample[]): string {
  const rows = samples.map(({ at, spent, credit }) => [
    new Date(at * 1000).toISOString(),
    dollars(spent),
    credit === undefined ? '' : dollars(credit),
  ])
  return csv([['until', 'spent_usd', 'credit_usd'], ...rows])
}
