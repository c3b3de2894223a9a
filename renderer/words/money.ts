import { type Micros, micros } from '../../electron/contract/spending/money.ts'
import type { TrafficPrices } from '../../electron/contract/spending/traffic.ts'

const whole = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const fine = new Intl.NumberFormat('en-US', { minimumFractionDigits: 3, maximumFractionDigits: 3 })

function written(micros: Micros, format: Intl.NumberFormat): string {
  const figure = format.format(Math.abs(micros) / 1_000_000)
  return `${micros < 0 && /[1-9]/.test(figure) ? '−' : ''}$${figure}`
}

/** A sum: "$48.20". */
export function money(micros: Micros): string {
  return written(micros, whole)
}

/** A small sum, to a tenth of a cent: "$0.003", "under $0.001". */
export function fineMoney(micros: Micros): string {
  if (micros > 0 && micros < 1000) return 'under $0.001'
  return micros < 1000 || micros >= 1_000_000 ? money(micros) : written(micros, fine)
}

/**
 * A price per hour: "$2.140/h", "$0.006/h". Always to a tenth of a cent, in tables and sentences alike, so that the
 * same price reads the same wherever it stands: bids and disks differ by tenths of cents, and hours add up.
 */
export function rate(micros: Micros): string {
  return `${written(micros, fine)}/h`
}

/** What a GB costs each way: "$0.010/GB down, $0.020/GB up"; undefined where the service does not tell. */
export function trafficWords({ downCost, upCost }: TrafficPrices): string | undefined {
  if (downCost === 0 && upCost === 0) return 'free'
  const ways = [
    [downCost, 'down'],
    [upCost, 'up'],
  ] as const
  const words = ways.flatMap(([cost, way]) => (cost === undefined ? [] : [`${perGb(cost)}/GB ${way}`]))
  return words.length === 0 ? undefined : words.join(', ')
}

/** The same for a narrow place, down before up: "$0.010 / $0.020". */
export function trafficBriefly({ downCost, upCost }: TrafficPrices): string | undefined {
  if (downCost === undefined && upCost === undefined) return undefined
  if (downCost === 0 && upCost === 0) return 'free'
  const figure = (cost: number | undefined) => (cost === undefined ? '–' : perGb(cost))
  return downCost === upCost ? figure(downCost) : `${figure(downCost)} / ${figure(upCost)}`
}

/** Tenths of cents, and finer only where that would say nothing. */
function perGb(dollars: number): string {
  return dollars > 0 && dollars < 0.0005 ? `$${dollars.toPrecision(1)}` : written(micros(dollars), fine)
}
