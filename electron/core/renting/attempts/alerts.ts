import { money } from '#contract/format/money.ts'
import { shortInstanceName } from '#contract/format/name.ts'
import { counted } from '#contract/format/size.ts'
import type { AccountId } from '#contract/ids.ts'
import type { Alert } from '#core/notifications/alert.ts'
import { type AttemptSeries, spentOn } from './model.ts'

/** The alert for a series of attempts that ended by itself: that it is ready, or why it failed. */
export function attemptsAlert(account: AccountId, series: AttemptSeries): Alert {
  const { id, step, instance, attempts, limits, problem, request } = series
  const base = { id: `${account}/attempts/${id}`, kind: 'attempts' as const }
  const dropped = attempts.filter(({ drop }) => drop).length
  const cost =
    dropped === 0
      ? ''
      : ` ${counted(dropped, 'dropped attempt', 'dropped attempts')} cost ${money(spentOn(series))}.`
  if (step === 'ready' && instance !== undefined) {
    const { label } = request
    const name = shortInstanceName({ id: instance, label, gpu: { name: attempts.at(-1)?.offer.gpuName } })
    return {
      ...base,
      instance,
      state: 'running',
      good: true,
      title: `${name} is ready`,
      body: `${request.access === 'ssh' ? 'It runs, and SSH answers' : 'It runs'}: attempt ${attempts.length} of ${limits.attempts}.${cost}`,
      urgency: 'normal',
      actions: [{ id: 'terminal', label: 'Terminal' }],
      place: { screen: 'instances', instance, tab: 'terminal' },
    }
  }
  return {
    ...base,
    title:
      attempts.length === 0
        ? `Nothing could be rented: ${problem?.code === 'prices_unknown' ? 'the service reports no prices' : 'no offer was within reach'}`
        : `Nothing could be rented after ${attempts.length} ${attempts.length === 1 ? 'attempt' : 'attempts'}`,
    body: `${problem?.message ?? ''}${cost}`.trim(),
    urgency: 'critical',
    actions: [{ id: 'show', label: 'Show' }],
    place: { screen: 'instances' },
  }
}
