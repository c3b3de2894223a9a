import { type Micros, micros } from '../spending/money.ts'
import type { TrafficPrices } from '../spending/traffic.ts'
import { numberFormatter } from './size.ts'

const cents = numberFormatter({ minimumFractionDigits: 2, maximumFractionDigits: 2 })
const tenthsOfCents = numberFormatter({ minimumFractionDigits: 3, maximumFractionDigits: 3 })

function dollars(micros: Micros, format: (value: number) => string): string {
  const figure = format(Math.abs(micros) / 1_000_000)
  return `${micros < 0 && /[1-9]/.test(figure) ? '−' : ''}$${figure}`
}

/** A sum: "$48.20", "−$7.43"; one that would be no cent as finely as `fineMoney`: only nothing is "$0.00". */
export function money(micros: Micros): string {
  return micros > 0 && micros < 5000 ? fineMoney(micros) : dollars(micros, cents)
}

/** The most that something costs, rounded up to a cent: "$0.64". */
export function moneyUp(micros: Micros): string {
  return money(Math.ceil(micros / 10_000) * 10_000)
}

/** A sum, below a dollar to a tenth of a cent: "$0.003", "under $0.001". */
export function fineMoney(micros: Micros): string {
  if (micros > 0 && micros < 1000) return 'under $0.001'
  return dollars(micros, micros < 1000 || micros >= 1_000_000 ? cents : tenthsOfCents)
}

/** A sum for a column: "<$0.001" in place of "under $0.001". */
export function briefMoney(micros: Micros): string {
  return money(micros).replace('under ', '<')
}

/**
 * A price per hour: "$2.140/h", "$0.006/h". Always to a tenth of a cent, so that the same price reads the same in
 * tables and sentences: bids and disks differ by tenths of cents, and hours add up.
 */
export function rate(micros: Micros): string {
  return `${dollars(micros, tenthsOfCents)}/h`
}

/** The prices of traffic: "$0.010/GB down, $0.020/GB up"; undefined if the service does not say. */
export function trafficWords({ downCost, upCost }: TrafficPrices): string | undefined {
  if (downCost === 0 && upCost === 0) return 'free'
  const ways = [
    [downCost, 'down'],
    [upCost, 'up'],
  ] as const
  const words = ways.flatMap(([cost, way]) =>
    cost === undefined ? [] : [cost === 0 ? `free ${way}` : `${unitPrice(cost)}/GB ${way}`],
  )
  return words.length === 0 ? undefined : words.join(', ')
}

/** The same for narrow places, down before up: "$0.010 / $0.020". */
export function trafficBriefly({ downCost, upCost }: TrafficPrices): string | undefined {
  if (downCost === undefined && upCost === undefined) return undefined
  if (downCost === 0 && upCost === 0) return 'free'
  const figure = (cost: number | undefined) =>
    cost === undefined ? '–' : cost === 0 ? 'free' : unitPrice(cost)
  return downCost === upCost ? figure(downCost) : `${figure(downCost)} / ${figure(upCost)}`
}

/** The price of a unit such as a GB, from dollars: "$0.010", with more digits only where that would be zero. */
export function unitPrice(cost: number): string {
  return cost > 0 && cost < 0.0005 ? `$${cost.toPrecision(1)}` : dollars(micros(cost), tenthsOfCents)
}
