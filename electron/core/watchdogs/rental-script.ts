import { fixedMoment, type Limit } from '#shared/automation/limit.ts'
import { type RentRequest, startScriptTooLong, watchdogFrom } from '#shared/market/rent-request.ts'
import { type Micros, micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'
import { earlyStartScript, watchdogStartScript, withWatchdogFirst } from '#ssh/watchdog/start-script.ts'
import { limitOfRental } from '../limits/changes.ts'
import { tickOf, watchdogRequest } from './step.ts'

/**
 * The request with a watchdog in its start script, which works before anyone connects, and after every start. Without
 * one where nothing asks for it, where a template brings its own script, where another program than a shell runs that, or
 * where it would be longer than the service takes: then Berth installs it over SSH. A short one, which knows the time
 * alone, takes its place until then. `now`: epoch seconds of the account's time. `limits`: those agreed, with what is left
 * of a cost; `price`: micro-dollars per hour, from which their moments follow.
 */
export async function withWatchdogScript(
  request: RentRequest,
  account: Pick<AccountView, 'baseUrl' | 'capabilities'> | undefined,
  now: number,
  { limits: agreed, price }: { limits: readonly Limit[]; price?: Micros },
): Promise<RentRequest> {
  const { onstart } = request
  const limits = agreed.map(limit => limitOfRental(limit, { id: '', instance: 0 }, now))
  const nextRequest = watchdogRequest(limits, false, now, limit =>
    limit.when.kind !== 'cost'
      ? fixedMoment(limit)
      : price && Math.floor(now + (micros(limit.when.dollars) / price) * 3600),
  )
  if (!nextRequest || !account || watchdogFrom(request, account.capabilities) !== 'start') return request
  const { at } = nextRequest
  const [url, tick] = [account.baseUrl, tickOf(nextRequest)]
  const scripts = [
    () => watchdogStartScript(nextRequest, url, tick),
    () =>
      at === undefined ? undefined : earlyStartScript({ ...nextRequest, at }, url, tick, Math.round(now)),
  ]
  for (const lines of scripts) {
    const longer = withWatchdogFirst(onstart ?? '', (await lines()) ?? '')
    if (startScriptTooLong(longer, account.capabilities) === undefined) return { ...request, onstart: longer }
  }
  return request
}
